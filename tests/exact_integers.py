"""The exact integers of declared columns, as every statistic reads them: for tests that look before the noise."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit import tables
from bruit.tables.plan.reading import ExactIntegers, Part, Reader


def read(table: tables.Table, what: str, *values: tables.Column, by: Any = (), seed: int = 1) -> ExactIntegers:
    plan, expressions = tables.plan_for(table, (*by, *values))
    keys, rest = expressions[: len(by)], expressions[len(by) :]
    return Reader(plan, keys, (Part(what, *rest),), table.bounds).read(np.random.default_rng(seed))


def count(data: tables.Table | tables.Column, *, seed: int = 1) -> int:
    table, values = (data, ()) if isinstance(data, tables.Table) else (data.table, (data,))
    return int(read(table, "rows", *values, seed=seed).parts[0][0])


def total(column: tables.Column, *, seed: int = 1) -> int:
    return int(read(column.table, "sum", column, seed=seed).parts[0][0])


def histogram(*columns: tables.Column, seed: int = 1) -> NDArray[np.int64]:
    exact = read(columns[0].table, "rows", by=columns, seed=seed).parts[0]
    return exact.reshape([column.domain.size for column in columns])


def group_totals(by: tables.Column, values: tables.Column, *, seed: int = 1) -> NDArray[np.int64]:
    return read(by.table, "sum", values, by=(by,), seed=seed).parts[0]


def tally(column: tables.Column, *, seed: int = 1) -> dict[int, int]:
    counted = read(column.table, "tally", column, seed=seed).tallies[0]
    return dict(sorted(counted.select("value 0", "rows").iter_rows()))


def found_groups(column: tables.UndeclaredColumn, *, seed: int = 1) -> dict[str, int]:
    exact = read(column.table, "rows", by=(column,), seed=seed)
    assert exact.found is not None
    return {texts[0]: int(number) for (_, texts), number in zip(exact.found, exact.parts[0], strict=True)}
