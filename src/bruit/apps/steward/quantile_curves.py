"""Quantiles drawn as what they are: the curve of the share of rows below each value, over the stated bounds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from html import escape
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bruit.apps.steward.answers import AnswerTable
from bruit.apps.steward.axes import tick_places, written

FEWEST: Final = 3
"""Quantiles that make a curve."""
MOST_CURVES: Final = 6
"""Groups whose curves are drawn; the files have them all."""
NO_INTERVALS: Final = "No intervals were asked for."
HEIGHT, TOP, BOTTOM, LEFT, RIGHT = 300, 34, 62, 56, 30
_NAMED: Final = re.compile(r"(?P<column>.+) (?P<share>0\.\d+)")
"""A value column that is a quantile, as recipes and the workbench name it."""


@dataclass(frozen=True)
class QuantileCurve:
    """The data of one curve: shares of rows, the values they lie below with their intervals, and the stated bounds."""

    title: str
    shares: NDArray[np.float64]
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    bounds: tuple[float, float] | None
    note: str

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        return HEIGHT

    def draw(self, width: int) -> str:
        """The inside of the SVG: axes, the curve, a dot for each quantile and a line for its interval."""
        ticks = tick_places(*(self.bounds or (float(self.low.min()), float(self.high.max()))))

        def across(value: float) -> float:
            inside = min(max(value, ticks[0]), ticks[-1])
            return round(LEFT + (inside - ticks[0]) / (ticks[-1] - ticks[0]) * (width - LEFT - RIGHT), 1)

        points = [(across(value), _up(share)) for value, share in zip(self.values, self.shares, strict=True)]
        return "".join(
            (
                f'<text class="title" x="4" y="18">{escape(self.title)}</text>',
                *(_vertical(across(tick), written(tick)) for tick in ticks),
                *(_horizontal(share, width) for share in (0.0, 0.25, 0.5, 0.75, 1.0)),
                self._reach(points, across(ticks[0]), across(ticks[-1])),
                _line("line", points),
                *(_interval(across(low), across(high), _up(share)) for low, high, share in self._intervals()),
                *(f'<circle class="dot" cx="{x}" cy="{y}" r="4"/>' for x, y in points),
                f'<text x="4" y="{HEIGHT - 6}">{escape(self.note)}</text>',
            )
        )

    def _intervals(self) -> list[tuple[float, float, float]]:
        rows = zip(self.low, self.high, self.shares, strict=True)
        return [(float(low), float(high), float(share)) for low, high, share in rows if high > low]

    def _reach(self, points: list[tuple[float, float]], first: float, last: float) -> str:
        """Dashes from the bounds to the outermost quantiles, between which the rest of the rows lies."""
        if self.bounds is None:
            return ""
        return _line("reach", [(first, _up(0.0)), points[0]]) + _line("reach", [points[-1], (last, _up(1.0))])


def curves_of(answer: AnswerTable) -> list[QuantileCurve]:
    """The curves of an answer: of a release of quantiles, or of columns that are quantiles of one column."""
    asked = answer.release.details.get("probabilities")
    if asked is not None and len(asked) == len(answer.frame) >= FEWEST:
        return [_curve_of_rows(answer, [float(Fraction(share)) for share in asked])]
    return [curve for column in quantile_columns(answer.values) for curve in _curves_of_columns(answer, column)]


def quantile_columns(names: Sequence[str]) -> dict[str, list[str]]:
    """The value columns that are quantiles, in order, by the column they are quantiles of."""
    found: dict[str, list[str]] = {}
    for name in names:
        matched = _NAMED.fullmatch(name)
        if matched is not None:
            found.setdefault(matched["column"], []).append(name)
    return {column: sorted(each, key=_share) for column, each in found.items() if len(each) >= FEWEST}


def _share(name: str) -> float:
    return float(name.rpartition(" ")[2])


def _curve_of_rows(answer: AnswerTable, shares: list[float]) -> QuantileCurve:
    (name,) = answer.values
    values = answer.frame[name].to_numpy().astype(np.float64)
    low, high = answer.ends(name) or (values, values)
    order = np.argsort(shares)
    about = answer.release.details.get("asked", {}).get("columns", [])
    domain = about[0]["domain"] if about else None
    bounds = (float(Fraction(domain["low"])), float(Fraction(domain["high"]))) if domain else None
    title = f"Share of rows below a value of {about[0]['name']}" if about else answer.title
    note = _note(answer, intervals=bool(np.any(high > low)))
    return QuantileCurve(title, np.array(shares)[order], values[order], low[order], high[order], bounds, note)


def _curves_of_columns(answer: AnswerTable, column: str) -> list[QuantileCurve]:
    names = quantile_columns(answer.values)[column]
    values = answer.frame.select(names).to_numpy().astype(np.float64)
    ends = [answer.ends(name) or (answer.frame[name].to_numpy(),) * 2 for name in names]
    low, high = (np.array([end[side] for end in ends], np.float64).T for side in (0, 1))
    note, shares = _note(answer, intervals=bool(np.any(high > low))), np.array([_share(name) for name in names])
    return [
        QuantileCurve(
            f"Share of rows below a value of {column}: {label}", shares, values[row], low[row], high[row], None, note
        )
        for row, label in enumerate(answer.labels[:MOST_CURVES])
        if np.isfinite(values[row]).all()
    ]


def _note(answer: AnswerTable, *, intervals: bool) -> str:
    said = f"Lines show intervals at {100 * (answer.confidence or 0):g} %." if intervals else NO_INTERVALS
    more = len(answer.frame) - MOST_CURVES
    return f"{said} {more} more groups are in the files." if more > 0 and len(answer.keys) and intervals else said


def _up(share: float) -> float:
    return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 1)


def _vertical(place: float, text: str) -> str:
    line = f'<line class="grid" x1="{place}" x2="{place}" y1="{TOP}" y2="{_up(0)}"/>'
    return f'{line}<text x="{place}" y="{_up(0) + 18}" text-anchor="middle">{text}</text>'


def _horizontal(share: float, width: int) -> str:
    line = f'<line class="grid" x1="{LEFT}" x2="{width - RIGHT}" y1="{_up(share)}" y2="{_up(share)}"/>'
    return f'{line}<text x="{LEFT - 8}" y="{_up(share) + 4}" text-anchor="end">{100 * share:.0f} %</text>'


def _line(kind: str, points: Sequence[tuple[float, float]]) -> str:
    return f'<polyline class="{kind}" points="{" ".join(f"{x},{y}" for x, y in points)}"/>'


def _interval(low: float, high: float, y: float) -> str:
    ends = "".join(f'<line class="end" x1="{x}" x2="{x}" y1="{y - 4}" y2="{y + 4}"/>' for x in (low, high))
    return f'<line class="end" x1="{low}" x2="{high}" y1="{y}" y2="{y}"/>{ends}'
