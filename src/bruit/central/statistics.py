"""The registry of statistics by name, with the arguments that each needs.

`bruit release` makes its flags from this list, `steward.FileStatistic` its checks and the code it prints. SQL, recipes
and the workbench ask measures of `central.questions` instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from bruit.central.counting import count
from bruit.central.grouping import group_by
from bruit.central.histograms import histogram
from bruit.central.moments import mean, sum, variance  # noqa: A004  central.sum is the statistic
from bruit.central.ranks.quantiles import quantiles
from bruit.core.registry import Registry
from bruit.core.release import Release


class Need(StrEnum):
    """The arguments of a statistic besides a table and a budget."""

    COLUMN = "column"
    """A column, of numbers or of categories."""

    NUMBERS = "numbers"
    """A column of numbers, with bounds and a grid."""

    GROUPS = "groups"
    """A column whose values are the groups."""

    PROBABILITIES = "probabilities"
    """Which quantiles."""

    SIZE = "size"
    """The public number of rows."""

    CONFIDENCE = "confidence"
    """The confidence of the interval."""


@dataclass(frozen=True)
class Statistic:
    """A named statistic: its public function, the arguments it needs, and those it may take."""

    name: str
    title: str
    release: Callable[..., Release[Any]]
    needs: frozenset[Need]
    takes: frozenset[Need]

    @property
    def divides(self) -> bool:
        """Whether the error depends on the number of rows."""
        return self.name in ("mean", "variance")

    @property
    def counts_rows(self) -> bool:
        """Whether the statistic counts rows rather than summarising a numeric column."""
        return Need.NUMBERS not in self.needs

    def measures(self, column: str | None) -> str:
        """The axis label of the statistic: rows, or the statistic of its column."""
        if Need.GROUPS in self.needs:
            return "rows" if column is None else f"sum of {column}"
        return "rows" if self.counts_rows else f"{self.name} of {column}"


STATISTICS: Registry[Statistic] = Registry("statistic")
"""Every statistic that can be asked by name, in the order of the form."""


def _register(
    name: str, title: str, release: Callable[..., Release[Any]], needs: set[Need], takes: set[Need] | None = None
) -> None:
    statistic = Statistic(name, title, release, frozenset(needs), frozenset(takes or ()))
    STATISTICS.register(name, statistic)


_register("count", "How many rows", count, set(), {Need.COLUMN, Need.CONFIDENCE})
_register("sum", "Sum of a column", sum, {Need.NUMBERS}, {Need.CONFIDENCE})
_register("mean", "Mean of a column", mean, {Need.NUMBERS}, {Need.SIZE, Need.CONFIDENCE})
_register("variance", "Variance of a column", variance, {Need.NUMBERS}, {Need.CONFIDENCE})
_register("histogram", "How many rows have each value", histogram, {Need.COLUMN}, {Need.CONFIDENCE})
_register("quantiles", "Quantiles of a column", quantiles, {Need.NUMBERS, Need.PROBABILITIES})
_register("group-by", "Counts or sums by group", group_by, {Need.GROUPS}, {Need.NUMBERS, Need.CONFIDENCE})
