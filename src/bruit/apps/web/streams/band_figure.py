"""Computes the SVG coordinates of lines with interval bands; the template only writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import polars

WIDTH, HEIGHT = 720, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 120, 12, 36
"""Room for the numbers of the axes and, at the right, for the name of each line."""

TICKS = 6
LEAST_GAP = 14
"""Pixels between the names of two lines."""


@dataclass(frozen=True)
class Tick:
    """A number on an axis and its position."""

    place: float
    text: str


@dataclass(frozen=True)
class Line:
    """A line and its band as SVG point lists; `band` is empty where there are no intervals."""

    label: str
    points: str
    band: str
    name_at: float


@dataclass(frozen=True)
class BandFigure:
    """The coordinates of a figure with lines over periods."""

    lines: tuple[Line, ...]
    across: tuple[Tick, ...]
    up: tuple[Tick, ...]
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    bottom: int = HEIGHT - BOTTOM


def band_figure(series: polars.DataFrame, labels: Sequence[str]) -> BandFigure:
    """The figure of a table with columns `period`, `label`, `value`, `low` and `high`, for some labels."""
    shown = series.filter(polars.col("label").is_in(list(labels)))
    numbers = [number for name in ("value", "low", "high") for number in shown[name].drop_nulls().to_list()]
    low, high = _wide(min(numbers, default=0.0), max(numbers, default=1.0))
    first, last = (shown["period"].min() or 1, shown["period"].max() or 1) if len(shown) else (1, 1)
    start, end = _wide(float(first), float(last))  # type: ignore[arg-type]

    def x(period: float) -> float:
        return LEFT + (period - start) / (end - start) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - TOP - BOTTOM)

    def points(rows: polars.DataFrame, name: str) -> list[str]:
        pairs = rows.drop_nulls(name).select("period", name).iter_rows()
        return [f"{x(period):.1f},{y(value):.1f}" for period, value in pairs]

    lines, taken = [], -float(HEIGHT)
    ends = {label: shown.filter(polars.col("label") == label).sort("period") for label in labels}
    for label, rows in sorted(ends.items(), key=lambda item: -_last(item[1])):
        taken = max(taken + LEAST_GAP, y(_last(rows)))
        band = [*points(rows, "high"), *reversed(points(rows, "low"))]
        lines.append(Line(label, " ".join(points(rows, "value")), " ".join(band), round(taken, 1)))
    ordered = tuple(sorted(lines, key=lambda line: list(labels).index(line.label)))
    across = tuple(Tick(round(x(t), 1), f"{t:g}") for t in _ticks(start, end) if t == int(t))
    return BandFigure(ordered, across, tuple(Tick(round(y(t), 1), f"{t:g}") for t in _ticks(low, high)))


def _last(rows: polars.DataFrame) -> float:
    return float(rows["value"][-1]) if len(rows) else 0.0


def _wide(low: float, high: float) -> tuple[float, float]:
    """A range wide enough that its ticks are different numbers."""
    least = max(1e-9 * max(abs(low), abs(high)), 1e-300)
    return (low, high) if high - low > least else (low - max(least, 0.5), high + max(least, 0.5))


def _ticks(low: float, high: float) -> list[float]:
    """About six round numbers in a range: 1, 2 or 5 times a power of ten apart."""
    rough = (high - low) / TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= rough)
    return [step * number for number in range(ceil(low / step), floor(high / step) + 1)]
