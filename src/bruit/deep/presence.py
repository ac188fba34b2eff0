"""Whether torch is there: imported before everything else of this package."""

from bruit.errors import MissingExtra

try:
    import torch as torch
except ImportError as error:
    raise MissingExtra("bruit.deep", "deep") from error
