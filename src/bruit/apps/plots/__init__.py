"""Figures of releases, curves and channels."""

from bruit.apps.plots.figures import Bars, Series, bars, curves
from bruit.apps.plots.style import available, save_figure

__all__ = ["Bars", "Series", "available", "bars", "curves", "save_figure"]
