"""Figures of releases, curves and channels."""

from bruit.apps.plots.figures import Bars, Series, bars, curves, legend_above
from bruit.apps.plots.style import (
    COLOURS,
    available,
    label_plainly,
    notebook_style,
    save_figure,
    write_commas,
    write_number,
)

__all__ = [
    "COLOURS",
    "Bars",
    "Series",
    "available",
    "bars",
    "curves",
    "label_plainly",
    "legend_above",
    "notebook_style",
    "save_figure",
    "write_commas",
    "write_number",
]
