"""Plans the private alternative: noisy histograms of a table's columns, with their cost and error."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bruit.anonymity.coded import encode_column, frame_of
from bruit.central import expected_error
from bruit.core.neighbours import Neighbours
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument

MOST_CELLS = 100
"""A column with more different values has no marginal worth printing cell by cell."""


@dataclass(frozen=True)
class Marginal:
    """The counts of one column released at `epsilon`: each is off by at most `error` with 95 % confidence.

    `relative` is that error as a share of the median count of the table's cells, which only the curator may see.
    """

    column: str
    cells: int
    epsilon: float
    error: float
    relative: float


def private_marginals(
    table: object, columns: Sequence[str], *, epsilon: Exact, neighbours: Neighbours
) -> tuple[Marginal, ...]:
    """Plans one noisy histogram for each column of at most a hundred values; together they cost `epsilon`.

    Nothing is spent and nothing is noised: the errors follow from public numbers. One person changes one cell of each
    histogram, so the histograms share epsilon equally.
    """
    every = [encode_column(series) for series in frame_of(table, columns).iter_columns()]
    shown = [column for column in every if 1 < column.size <= MOST_CELLS]
    if exactly(epsilon, "epsilon") <= 0:
        raise InvalidArgument(f"epsilon={epsilon} must be above 0")
    if not shown:
        return ()
    each = exactly(epsilon, "epsilon") / len(shown)
    error = expected_error("histogram", epsilon=each, neighbours=neighbours)
    plan = []
    for column in shown:
        median = float(np.median(np.bincount(column.codes, minlength=column.size)))
        plan.append(Marginal(column.name, column.size, float(each), error, error / max(median, 1.0)))
    return tuple(plan)
