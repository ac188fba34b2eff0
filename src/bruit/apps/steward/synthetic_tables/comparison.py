"""Comparison of a synthetic table with the true one, exact and for the curator only; it has no file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from typing import Final

import polars

from bruit.apps.steward.charts import MOST_BARS
from bruit.ledger import WITHOUT_PRIVACY
from bruit.synthetic import SyntheticTable, compare, compare_cells
from bruit.tables.choice.limits import Limit
from bruit.tables.plan.operators import Plan

WIDTH, ROW, TOP, LABELS, RIGHT = 420, 34, 46, 140, 62
LONGEST = 18
"""Letters of a label that a chart has room for."""

MOST_PAIRS: Final = 30
"""Pairs of columns that a comparison lists, the worst first."""


@dataclass(frozen=True)
class ComparedColumn:
    """The shares of one column's values in the true and in the synthetic table."""

    name: str
    labels: list[str]
    true: list[float]
    synthetic: list[float]
    total_variation: float

    @property
    def svg(self) -> str:
        """Two bars for each value, the true share above the synthetic one, as inline SVG."""
        shown = min(len(self.labels), MOST_BARS)
        height, largest = TOP + ROW * shown + 8, max([*self.true, *self.synthetic], default=0.0) or 1.0
        parts = [
            f'<text class="title" x="4" y="18">{escape(self.name)}</text>',
            '<rect class="true" x="4" y="27" width="12" height="12"/><text x="20" y="38">true table, exact</text>',
            '<rect class="bar" x="160" y="27" width="12" height="12"/><text x="176" y="38">synthetic</text>',
        ]
        for row in range(shown):
            parts += self._row(row, (WIDTH - LABELS - RIGHT) / largest)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" class="values" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" '
            f'height="{height}" role="img" aria-label="{escape(self.name)}: true and synthetic shares">'
            f"{''.join(parts)}</svg>"
        )

    def _row(self, row: int, scale: float) -> Iterator[str]:
        top, label = TOP + ROW * row, self.labels[row]
        short = label if len(label) <= LONGEST else f"{label[: LONGEST - 1]}…"
        yield f'<text x="{LABELS - 8}" y="{top + 17}" text-anchor="end">{escape(short)}</text>'
        for kind, share, down in (("true", self.true[row], 0), ("bar", self.synthetic[row], 13)):
            width = max(share * scale, 0.5)
            yield f'<rect class="{kind}" x="{LABELS}" y="{top + down}" width="{width:.1f}" height="11" rx="2"/>'
            yield f'<text x="{LABELS + width + 6:.1f}" y="{top + down + 10}">{100 * share:.1f} %</text>'


@dataclass(frozen=True)
class Comparison:
    """Exact, not private: every column beside its synthetic one, and the pairs of columns that differ most."""

    columns: list[ComparedColumn]
    pairs: polars.DataFrame
    """The columns of each pair, whether it was measured, and its total variation, the worst first."""

    mean_of_pairs: float | None


def compare_exactly(plan: Plan, made: SyntheticTable, limit: Limit | None) -> Comparison:
    """Reads the true table without privacy and compares it with a synthetic one."""
    cells = compare_cells(plan, made, budget=WITHOUT_PRIVACY, limit=limit)
    far = compare(plan, made, budget=WITHOUT_PRIVACY, limit=limit)
    singles = dict(far.filter(polars.col("order") == 1).select("columns", "total_variation").iter_rows())
    columns = []
    for column in made.columns:
        part = cells.filter(polars.col("column") == column.name)
        labels, true, synthetic = (part[name].to_list() for name in ("value", "true", "synthetic"))
        columns.append(ComparedColumn(column.name, labels, true, synthetic, singles[column.name]))
    pairs = far.filter(polars.col("order") == 2).sort("total_variation", descending=True)
    mean = pairs["total_variation"].mean()
    return Comparison(columns, pairs.head(MOST_PAIRS), None if mean is None else float(str(mean)))
