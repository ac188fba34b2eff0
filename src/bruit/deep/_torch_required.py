"""Raises a clear error where torch is not installed; imported before everything else of this package."""

from bruit.errors import MissingExtra

try:
    import torch as torch
except ImportError as error:
    raise MissingExtra("bruit.deep", "deep") from error
