"""Figures of releases, curves and channels."""

from bruit.apps.plots.figures import Bars, Series, bars, curves
from bruit.apps.plots.style import available, saved

__all__ = ["Bars", "Series", "available", "bars", "curves", "saved"]
