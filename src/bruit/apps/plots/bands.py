"""Line plots with interval bands, for numbers published over time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from bruit.apps.plots.figures import Series, legend_above
from bruit.apps.plots.style import COLOURS, save_figure


def plot_bands(path: Path, series: Sequence[Series], *, title: str, x: str, y: str) -> Path:
    """Saves a plot of one line per series, with a band from `low` to `high` where the series has them."""
    with save_figure(path) as axes:
        for number, one in enumerate(series):
            colour, places = COLOURS[number % len(COLOURS)], np.asarray(one.x, float)
            axes.plot(places, np.asarray(one.y, float), label=one.label, color=colour, linewidth=1.5)
            if one.low is not None and one.high is not None:
                ends = (np.asarray(one.low, float), np.asarray(one.high, float))
                axes.fill_between(places, *ends, color=colour, alpha=0.2, linewidth=0)
        axes.set(title=title, xlabel=x, ylabel=y)
        legend_above(axes)
    return path
