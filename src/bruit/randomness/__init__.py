"""Gives a numpy Generator over a strong source, and samplers that are exact on integers."""

from bruit.randomness.source import generator, is_strong, words

__all__ = ["generator", "is_strong", "words"]
