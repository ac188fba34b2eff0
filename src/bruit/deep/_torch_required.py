"""Raises a clear error where torch is not installed; every other module of this package imports this one first."""

from bruit.errors import MissingExtra

try:
    import torch as torch
except ImportError as error:
    raise MissingExtra("bruit.deep", "deep") from error
