"""The common style of every figure, and how a figure is saved."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bruit.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.ticker import Locator

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
    "xtick.minor.pad": 5,  # with its shorter tick, a minor label stands in line with the major ones
    "ytick.minor.pad": 5,
}

Size = tuple[float, float]


@contextmanager
def save_figure(path: Path, *, size: Size = (7.0, 4.2), commas: bool = False) -> Iterator[Axes]:
    """Yields axes to draw on, then writes the figure to `path`; opens no window, changes no global state.

    With `commas` the decimals of its numbers follow a comma, as in French.
    """
    try:
        from matplotlib import rc_context
        from matplotlib.figure import Figure
    except ImportError as error:
        raise MissingExtra("a figure", "plot") from error
    with rc_context(STYLE):  # type: ignore[arg-type]
        figure = Figure(figsize=size, layout="constrained")
        axes = figure.add_subplot()
        yield axes
        if commas:
            write_commas(axes)
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path, metadata={"Software": None} if path.suffix == ".png" else None)


PLAIN = (1e-4, 1e6)
"""Between these a logarithmic axis is labelled with numbers as they are written, beyond with powers of ten."""


def label_plainly(axis: Axis) -> None:
    """Labels a logarithmic axis with 0.1, 1, 10 …; with 2 and 5 between them where it spans few decades."""
    from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

    low, high = sorted(axis.get_view_interval())
    plain = PLAIN[0] <= low and high <= PLAIN[1]
    written = FuncFormatter(lambda value, _: write_number(value) if plain else f"$10^{{{np.log10(value):.0f}}}$")
    axis.set_major_formatter(written)
    if plain and high < 100 * low:
        axis.set_minor_locator(LogLocator(subs=(2, 5)))
        axis.set_minor_formatter(written)
    else:
        axis.set_minor_formatter(NullFormatter())


def write_commas(axes: Axes) -> None:
    """Writes the numbers of both axes as French does, with a comma before the decimals."""
    from matplotlib.ticker import Formatter

    class Commas(Formatter):
        def __init__(self, plain: Formatter) -> None:
            self.plain = plain

        def set_locs(self, locs: list[float]) -> None:
            self.plain.set_locs(locs)

        def __call__(self, x: float, pos: int | None = None) -> str:
            return self.plain(x, pos).replace(".", ",")

    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(Commas(axis.get_major_formatter()))
        axis.set_minor_formatter(Commas(axis.get_minor_formatter()))


def whole_ticks() -> Locator:
    """Where ticks stand on an axis of whole numbers."""
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator("auto", integer=True, steps=[1, 2, 2.5, 5, 10])


def write_number(value: float) -> str:
    """A number as text, with thin spaces between its thousands."""
    return f"{value:,.10g}".replace(",", "\u2009") if abs(value) >= 10_000 else f"{value:.10g}"


def notebook_style(width: float, height: float) -> dict[str, Any]:
    """The settings with which a notebook's own figures look like all others: `plt.rcParams.update(…)`."""
    from cycler import cycler

    return {**STYLE, "axes.prop_cycle": cycler(color=COLOURS), "figure.figsize": (width, height), "figure.dpi": 100}


def available() -> bool:
    """Whether matplotlib is installed, so that figures can be drawn."""
    from importlib.util import find_spec

    return find_spec("matplotlib") is not None
