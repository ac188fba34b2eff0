"""Raises a clear error where scikit-learn is not installed; imported before everything else of this package."""

from bruit.errors import MissingExtra

try:
    import sklearn as sklearn
except ImportError as error:
    raise MissingExtra("bruit.learning", "learn") from error
