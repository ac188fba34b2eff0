"""Loaders of public data sets."""

from bruit.apps.data.census import adult
from bruit.apps.data.magazine import fair

__all__ = ["adult", "fair"]
