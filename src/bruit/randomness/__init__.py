"""Gives a numpy Generator over a strong source, and samplers that are exact on integers."""

__all__: list[str] = []
