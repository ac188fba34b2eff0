"""The common style of every figure, and how a figure is saved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from bruit.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
"""Colours that colour-blind readers can tell apart.   [Okabe & Ito 2008]"""

MARKERS = ("o", "s", "^", "D", "v", "P", "X")

STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": "#666666",
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlelocation": "left",
    "axes.titlesize": 12,
    "axes.titleweight": "bold",
    "figure.dpi": 120,
    "font.size": 10,
    "grid.alpha": 0.5,
    "grid.color": "#CCCCCC",
    "grid.linewidth": 0.6,
    "legend.frameon": False,
    "savefig.bbox": "tight",
}

Size = tuple[float, float]


@contextmanager
def save_figure(path: Path, *, size: Size = (7.0, 4.2)) -> Iterator[Axes]:
    """Yields axes to draw on, then writes the figure to `path`; opens no window, changes no global state."""
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("a figure", "plot") from error
    with rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=size, layout="constrained")
        yield figure.add_subplot()
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Software": None} if path.suffix == ".png" else None)


def available() -> bool:
    """Whether matplotlib is installed, so that figures can be drawn."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None
