"""Figures of releases, curves and channels."""

from bruit.apps.plots.figures import Bars, Series, bars, curves, legend_above
from bruit.apps.plots.style import available, save_figure

__all__ = ["Bars", "Series", "available", "bars", "curves", "legend_above", "save_figure"]
