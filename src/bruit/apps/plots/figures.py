"""Plots of curves with error bars and of bars with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.apps.plots.style import COLOURS, MARKERS, label_plainly, save_figure, whole_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

LEGEND_COLUMNS = 3
LEGEND_WIDTH, HANDLE_WIDTH = 80, 6
"""Characters that fit above the axes, and what the mark of a series and the space beside it take of them."""

Scale = Literal["linear", "log"]


@dataclass(frozen=True)
class Series:
    """Named points; `low` and `high` are the ends of an interval around each, where there is one.

    `dashed` draws a line without markers: a theory or a baseline beside what was measured; its interval is a band.
    Points that belong to no one curve, as those of several papers, are not `joined`.
    """

    label: str
    x: ArrayLike
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None
    dashed: bool = False
    joined: bool = True


@dataclass(frozen=True)
class Bars:
    """A named group of bars, one per category; `low` and `high` as in `Series`."""

    label: str
    y: ArrayLike
    low: ArrayLike | None = None
    high: ArrayLike | None = None


def curves(
    path: Path,
    series: Sequence[Series],
    *,
    title: str,
    x: str,
    y: str,
    x_scale: Scale = "linear",
    y_scale: Scale = "linear",
    commas: bool = False,
) -> Path:
    """Saves a plot of one curve per series, with error bars where a series has intervals."""
    with save_figure(path, commas=commas) as axes:
        for number, one in enumerate(series):
            _draw_curve(axes, number, one)
        axes.set(title=title, xlabel=x, ylabel=y, xscale=x_scale, yscale=y_scale)
        for axis, scale in ((axes.xaxis, x_scale), (axes.yaxis, y_scale)):
            if scale == "log":
                label_plainly(axis)
        if x_scale == "linear" and all(float(place).is_integer() for one in series for place in np.asarray(one.x)):
            axes.xaxis.set_major_locator(whole_ticks())
        legend_above(axes)
    return path


def _draw_curve(axes: Axes, number: int, one: Series) -> None:
    """Draws the series of that number with its colour, its mark and its interval."""
    x, y, colour = np.asarray(one.x, float), np.asarray(one.y, float), COLOURS[number % len(COLOURS)]
    look = {"marker": MARKERS[number % len(MARKERS)], "markersize": 5, "linestyle": "-" if one.joined else "none"}
    axes.errorbar(
        x,
        y,
        yerr=None if one.dashed else _reach(one),
        label=one.label,
        color=colour,
        capsize=3,
        linewidth=1.5,
        **({"linestyle": "--"} if one.dashed else look),
    )
    if one.dashed and one.low is not None and one.high is not None:
        axes.fill_between(x, np.asarray(one.low, float), np.asarray(one.high, float), color=colour, alpha=0.2)


def bars(
    path: Path, categories: Sequence[str], groups: Sequence[Bars], *, title: str, y: str, commas: bool = False
) -> Path:
    """Saves a plot of horizontal bars, one per category and group, with intervals where a group has them."""
    places = np.arange(len(categories))
    thickness = 0.8 / len(groups)
    with save_figure(path, size=(7.0, 1.2 + 0.2 * len(categories) * (0.5 + len(groups))), commas=commas) as axes:
        for number, group in enumerate(groups):
            axes.barh(
                places + (number - (len(groups) - 1) / 2) * thickness,
                np.asarray(group.y, float),
                thickness,
                xerr=_reach(group),
                label=group.label,
                color=COLOURS[number % len(COLOURS)],
                capsize=3,
                error_kw={"elinewidth": 1.2},
            )
        axes.set_yticks(places, list(categories))
        axes.invert_yaxis()
        axes.grid(visible=False, axis="y")
        axes.set(title=title, xlabel=y)
        legend_above(axes)
    return path


def _reach(one: Series | Bars) -> NDArray[np.float64] | None:
    """How far the interval reaches below and above each point."""
    if one.low is None or one.high is None:
        return None
    middle = np.asarray(one.y, float)
    return np.maximum([middle - np.asarray(one.low, float), np.asarray(one.high, float) - middle], 0.0)


def legend_above(axes: Axes, *, columns: int | None = None) -> None:
    """Names the series between the title and the axes, where nothing is hidden, if there are several.

    Without `columns` there are as many as fit the width of a figure with one plot.
    """
    labels = axes.get_legend_handles_labels()[1]
    if len(labels) > 1:
        columns = columns or _legend_columns(labels)
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=columns, borderaxespad=0.2, handlelength=1.5)
        axes.set_title(axes.get_title("left"), loc="left", pad=8 + 16 * -(-len(labels) // columns))


def _legend_columns(labels: Sequence[str]) -> int:
    """The most columns whose labels stand side by side within the width of the axes."""
    for columns in range(LEGEND_COLUMNS, 1, -1):
        parts = np.array_split([len(label) for label in labels], columns)
        if sum(HANDLE_WIDTH + int(part.max(initial=0)) for part in parts) <= LEGEND_WIDTH:
            return columns
    return 1
