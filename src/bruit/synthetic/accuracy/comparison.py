"""Compares a synthetic table with the true one exactly, for the curator, without a privacy guarantee."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Literal

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.core.arguments import whole
from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger import WithoutPrivacy
from bruit.randomness import generator
from bruit.synthetic.planned_rows import PlannedRows
from bruit.synthetic.reading import TableRows
from bruit.synthetic.synthetic_table import MOST_CELLS, MOST_ORDER, SyntheticTable
from bruit.tables import Table
from bruit.tables.choice.limits import Limit
from bruit.tables.plan.operators import Plan


def compare(
    table: Table | Plan,
    made: SyntheticTable,
    *,
    budget: Literal[WithoutPrivacy.WITHOUT_PRIVACY],
    limit: Limit | None = None,
    order: int = 2,
    rng: np.random.Generator | None = None,
) -> polars.DataFrame:
    """How far a synthetic table is from the true one, for each combination of up to `order` columns.

    `total_variation` is half the sum of the differences of all shares, `largest` the largest of them, and `measured`
    says whether the columns were counted together. Nothing of this is private: it is asked for by name, with
    `budget=bruit.WITHOUT_PRIVACY`, and must not leave the curator.
    """
    whole(order, "order", most=MOST_ORDER)
    truth = _read_exactly(table, made, budget, limit, rng)
    return polars.DataFrame(
        list(_lines(truth, made, order)),
        schema=["columns", "order", "measured", "total_variation", "largest"],
        orient="row",
    )


def compare_cells(
    table: Table | Plan,
    made: SyntheticTable,
    *,
    budget: Literal[WithoutPrivacy.WITHOUT_PRIVACY],
    limit: Limit | None = None,
    rng: np.random.Generator | None = None,
) -> polars.DataFrame:
    """The share of each value (or range of values) of each column, in the true table and in the synthetic one.

    Exact and not private, as `compare` is: it must not leave the curator.
    """
    truth = _read_exactly(table, made, budget, limit, rng)
    parts = []
    for i, column in enumerate(made.columns):
        true, synthetic = (_shares(rows, (i,), [column.size]) for rows in (truth, made.rows))
        parts.append(
            polars.DataFrame({"column": column.name, "value": column.labels, "true": true, "synthetic": synthetic})
        )
    return polars.concat(parts)


def _read_exactly(
    table: Table | Plan,
    made: SyntheticTable,
    budget: WithoutPrivacy,
    limit: Limit | None,
    rng: np.random.Generator | None,
) -> NDArray[np.uint8]:
    """The cells of the true table's rows that count, without privacy."""
    if budget is not WithoutPrivacy.WITHOUT_PRIVACY:
        raise NotPrivate("a comparison reads the true table exactly: ask for it with budget=bruit.WITHOUT_PRIVACY")
    read = PlannedRows(table, made.columns, limit) if isinstance(table, Plan) else TableRows(table, made.columns)
    truth = read.read(generator(rng)).columns.T
    if not len(truth) or not len(made.rows):
        raise InvalidArgument("one of the two tables has no rows: there is nothing to compare")
    return truth


def _lines(truth: NDArray[np.uint8], made: SyntheticTable, order: int) -> Iterator[tuple[str, int, bool, float, float]]:
    sizes = [column.size for column in made.columns]
    measured = {frozenset(names) for names in made.measured}
    for number in range(1, order + 1):
        for places in combinations(range(len(sizes)), number):
            shape = [sizes[i] for i in places]
            if int(np.prod(shape)) > MOST_CELLS:
                continue
            apart = np.abs(_shares(truth, places, shape) - _shares(made.rows, places, shape))
            names = [made.columns[i].name for i in places]
            known = any(frozenset(names) <= each for each in measured)
            yield " and ".join(names), number, known, float(apart.sum() / 2), float(apart.max())


def _shares(rows: NDArray[np.uint8], places: tuple[int, ...], shape: list[int]) -> NDArray[np.float64]:
    cells = np.ravel_multi_index([rows[:, i] for i in places], shape)
    return np.bincount(cells, minlength=int(np.prod(shape))) / len(rows)
