"""Charts of answers with intervals, bars and curves of quantiles, as plain SVG without scripts or external files."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import chain
from math import isfinite
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bruit.apps.languages import FALLBACK, Language
from bruit.apps.steward.answers import UNNAMED, AnswerTable
from bruit.apps.steward.axes import tick_places, written
from bruit.apps.steward.quantile_curves import NO_INTERVALS, QuantileCurve, curves_of, quantile_columns

MOST_BARS = 60
"""Groups that a chart has room for; the files have them all."""

WIDTH, NARROW, ROW, TOP, BOTTOM, RIGHT = 720, 400, 26, 34, 40, 76
LETTER = 8.0
"""Width of a letter of a label, about."""

STYLE = (
    "svg.values{font:13px system-ui,sans-serif;color:#1a2027;background:#fff;--bar:#2a78b5;--line:#d3dae1;"
    "--end:#1a2027}"
    "@media(prefers-color-scheme:dark){svg.values{color:#e8edf2;background:#14181d;--bar:#3f8fc9;--line:#3a444e;"
    "--end:#e8edf2}}"
    "svg.values text{fill:currentColor}svg.values .bar{fill:var(--bar)}svg.values .grid{stroke:var(--line)}"
    "svg.values .end{stroke:var(--end);stroke-width:1.6}svg.values .title{font-weight:600}"
    "svg.values polyline{fill:none;stroke:var(--bar);stroke-width:2.5}svg.values .reach{stroke-dasharray:4 4}"
    "svg.values .dot{fill:var(--bar)}"
)
"""The look of a chart that stands alone in a file; on a page the page's own style sheet says it."""


@dataclass(frozen=True)
class Bars:
    """The data of one bar chart: labels, values and their intervals."""

    title: str
    labels: list[str]
    values: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    note: str
    language: Language = FALLBACK

    @property
    def height(self) -> int:
        """Pixels from top to bottom."""
        return TOP + ROW * len(self.labels) + BOTTOM

    def draw(self, width: int) -> str:
        """The inside of the SVG: axis, a bar for each value and a line for its interval."""
        return _draw_bars(self, width)


Chart: TypeAlias = Bars | QuantileCurve


def charts_of(answer: AnswerTable) -> list[Chart]:
    """The charts of an answer: quantiles as curves, and bars for each other value column."""
    curves, quantiles = curves_of(answer), set(chain(*quantile_columns(answer.values).values()))
    if curves and not quantiles:  # a release of quantiles alone
        return [*curves]
    return [*curves, *(bars for bars in bars_of(answer) if bars.title not in quantiles)]


def bars_of(answer: AnswerTable) -> list[Bars]:
    """One chart for each numeric value column of an answer."""
    found = []
    for name in answer.values:
        values = answer.frame[name].to_numpy().astype(np.float64)[:MOST_BARS]
        ends = answer.ends(name)
        low, high = (values, values) if ends is None else (end[:MOST_BARS] for end in ends)
        shown = answer.confidence is not None and ends is not None
        note = f"Lines show intervals at {100 * (answer.confidence or 0):g} %." if shown else NO_INTERVALS
        more = len(answer.frame) - MOST_BARS
        note += f" {more} more groups are in the files." if more > 0 else ""
        whole = answer.title.partition(" (")[0]
        title = whole[:1].upper() + whole[1:] if name == UNNAMED else name
        found.append(Bars(title, answer.labels[:MOST_BARS], values, low, high, note))
    return found


def svg_of(answer: AnswerTable) -> str:
    """All charts of an answer, one below the other, as one SVG file."""
    charts = charts_of(answer)
    heights = [chart.height for chart in charts]
    inner = []
    for chart, above in zip(charts, np.cumsum([0, *heights[:-1]]), strict=True):
        inner.append(f'<g transform="translate(0 {above})">{chart.draw(WIDTH)}</g>')
    return _framed(answer.title, sum(heights), f"<style>{STYLE}</style>{''.join(inner)}")


def svg_on_page(chart: Chart, *, width: int = WIDTH) -> str:
    """One chart as inline SVG, coloured by the page's style sheet."""
    return _framed(chart.title, chart.height, chart.draw(width), width)


def svg_for_any_width(chart: Chart) -> str:
    """One chart as inline SVG twice, of which the page's style sheet shows the wide one or, on a phone, the narrow."""
    return f'<div class="roomy">{svg_on_page(chart)}</div><div class="slim">{svg_on_page(chart, width=NARROW)}</div>'


def _framed(title: str, height: int, inner: str, width: int = WIDTH) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="values" viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" role="img" aria-label="{escape(title)}">{inner}</svg>'
    )


def _draw_bars(chart: Bars, width: int) -> str:
    left = min(max((len(label) for label in chart.labels), default=1) * LETTER + 16, width * 0.42)
    ticks = tick_places(min(0.0, *chart.low, *chart.values), max(0.0, *chart.high, *chart.values))
    first, span = ticks[0], (ticks[-1] - ticks[0]) or 1.0

    def place(value: float) -> float:
        return round(left + (value - first) / span * (width - left - RIGHT), 1)

    floor_line = chart.height - BOTTOM + 4
    parts = [f'<text class="title" x="4" y="18">{escape(chart.title)}</text>']
    for tick in ticks:
        parts.append(f'<line class="grid" x1="{place(tick)}" x2="{place(tick)}" y1="{TOP - 6}" y2="{floor_line}"/>')
        value = written(tick, chart.language)
        parts.append(f'<text x="{place(tick)}" y="{floor_line + 14}" text-anchor="middle">{value}</text>')
    parts += [_row(chart, row, place, left) for row in range(len(chart.labels))]
    parts.append(f'<text x="4" y="{chart.height - 6}">{escape(chart.note)}</text>')
    return "".join(parts)


def _row(chart: Bars, row: int, place: object, left: float) -> str:
    assert callable(place)
    value, low, high = float(chart.values[row]), float(chart.low[row]), float(chart.high[row])
    middle = TOP + ROW * row + ROW / 2
    most = int((left - 16) / LETTER)
    label = chart.labels[row] if len(chart.labels[row]) <= most else chart.labels[row][: most - 1] + "…"
    parts = [f'<text x="{left - 8:.1f}" y="{middle + 4}" text-anchor="end">{escape(label)}</text>']
    if not isfinite(value):
        return "".join(parts)
    start, end = sorted((place(0.0), place(value)))
    parts.append(
        f'<rect class="bar" x="{start}" y="{middle - 7}" width="{max(end - start, 0.5):.1f}" height="14" rx="2"/>'
    )
    if high > low:
        parts.append(f'<line class="end" x1="{place(low)}" x2="{place(high)}" y1="{middle}" y2="{middle}"/>')
        parts += [
            f'<line class="end" x1="{place(at)}" x2="{place(at)}" y1="{middle - 4}" y2="{middle + 4}"/>'
            for at in (low, high)
        ]
    parts.append(f'<text x="{max(end, place(high)) + 6:.1f}" y="{middle + 4}">{written(value, chart.language)}</text>')
    return "".join(parts)
