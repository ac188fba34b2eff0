"""A release drawn as dots with intervals: plain SVG, so that no drawing library is needed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from pathlib import Path

WIDTH, ROW, MARGIN, NAMES = 640, 26, 18, 190
"""Sizes in pixels: the figure, a row, the space around, and the room for names."""


@dataclass(frozen=True)
class IntervalFigure:
    """An SVG figure with one row per label: a dot at the value and a line from low to high."""

    labels: tuple[str, ...]
    values: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    caption: str

    @property
    def svg(self) -> str:
        """The figure as an SVG text."""
        height = ROW * len(self.labels) + 3 * MARGIN
        rows = "".join(self._row(place) for place in range(len(self.labels)))
        foot = f'<text x="{MARGIN}" y="{height - MARGIN // 2}" font-size="11" fill="#555">{escape(self.caption)}</text>'
        head = f'xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}"'
        return f'<svg {head} font-family="sans-serif" font-size="13" role="img">{rows}{foot}</svg>'

    def save(self, path: str | Path) -> Path:
        """Writes the figure and returns its path."""
        Path(path).write_text(self.svg, encoding="utf-8")
        return Path(path)

    def _repr_svg_(self) -> str:
        return self.svg

    def _row(self, place: int) -> str:
        y = MARGIN + ROW * place + ROW // 2
        left, dot, right = (self._x(ends[place]) for ends in (self.low, self.values, self.high))
        words = f"{self.labels[place]}: {self.values[place]:.4g}"
        return (
            f'<text x="{MARGIN}" y="{y + 4}">{escape(words)}</text>'
            f'<line x1="{left:.1f}" x2="{right:.1f}" y1="{y}" y2="{y}" stroke="#36c" stroke-width="2"/>'
            f'<circle cx="{dot:.1f}" cy="{y}" r="4" fill="#36c"/>'
        )

    def _x(self, value: float) -> float:
        """Where a value stands; what is infinite stands at the edge."""
        finite = [each for ends in (self.low, self.values, self.high) for each in ends if isfinite(each)] or [0.0]
        least, most = min(finite), max(finite)
        inside = min(max(value, least), most) if isfinite(value) or value in (float("inf"), -float("inf")) else least
        share = (inside - least) / (most - least) if most > least else 0.5
        return MARGIN + NAMES + share * (WIDTH - NAMES - 2 * MARGIN)


def interval_figure(
    labels: Sequence[str], values: Sequence[float], low: Sequence[float], high: Sequence[float], *, caption: str
) -> IntervalFigure:
    """Makes the figure of values and their intervals; give low = high = value where there is no interval."""
    middle, least, most = (tuple(map(float, each)) for each in (values, low, high))
    return IntervalFigure(tuple(map(str, labels)), middle, least, most, caption)
