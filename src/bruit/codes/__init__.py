"""Check digits and error-correcting codes that run over any channel."""

from bruit.codes.repetition import Repetition
from bruit.codes.word import Code, Decoded

__all__ = ["Code", "Decoded", "Repetition"]
