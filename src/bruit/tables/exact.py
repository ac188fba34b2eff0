"""Exact integers of a table, computed inside its engine: what noise is added to, never shown."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import narwhals as nw
import numpy as np
import polars
from numpy.typing import NDArray

from bruit.errors import InvalidArgument
from bruit.privacy import EACH_ROW
from bruit.tables.bounding import MODULUS, Key, bounded_groups, bounded_rows, chosen_groups
from bruit.tables.domain import Among, Within
from bruit.tables.table import Column, Table, UndeclaredColumn, counted_values, encoded, require_one_table
from bruit.tables.total import collected

MOST_CELLS = 2**27
"""The most cells of a dense answer: a gibibyte of counts."""


def count(data: Table | Column) -> int:
    """How many rows there are, each person counted at most `rows` times; a column counts what its domain keeps."""
    table = data if isinstance(data, Table) else data.table
    _, rows = table.bounds
    frame = encoded([data]) if isinstance(data, Column) else data.frame
    if table.person == EACH_ROW:
        return _number(frame.select(nw.len().alias("total")))
    whose = nw.col("person" if isinstance(data, Column) else table.person).alias("person")
    each = frame.select(whose).drop_nulls().group_by("person").agg(nw.len().alias("rows"))
    return _number(each.select(nw.col("rows").clip(None, rows).sum().alias("total")))


def total(column: Column, *, around: int = 0, power: int = 1) -> int:
    """The sum of (integer - around)^power, the sum of each person clamped to what `rows` rows can reach."""
    low, high = reach(column.numbers, rows=column.table.bounds[1], around=around, power=power)
    frame = encoded([column])
    moved = nw.col("integer 0") - around
    frame = frame.with_columns((moved if power == 1 else moved * moved).alias("moved"))
    if column.table.person != EACH_ROW:
        frame = frame.group_by("person").agg(nw.col("moved").sum().clip(low, high))
    return _number(frame.select(nw.col("moved").sum().alias("total")))


def reach(domain: Within, *, rows: int, around: int = 0, power: int = 1) -> tuple[int, int]:
    """The least and the greatest that one person can add to `total`; absent people add nothing."""
    ends = (domain.lowest - around) ** power, (domain.highest - around) ** power
    return rows * min(*ends, 0), rows * max(*ends, 0)


def tally(column: Column, *, key: Key) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The integers that occur, in order, and how many rows have each; a person counts with `rows` rows in all."""
    frame = encoded([column]).rename({"integer 0": "integer"})
    if column.table.person == EACH_ROW:
        return _tallied(_counted(frame))
    return _tallied(bounded_rows(frame, rows=column.table.bounds[1], key=key, domain=column.domain))


def cells(columns: Sequence[Column]) -> tuple[int, ...]:
    """How many values each column has, where they can be counted together: checked before anything is charged."""
    require_one_table(columns)
    shape = tuple(column.domain.size for column in columns)
    if prod(shape) > MOST_CELLS:
        raise InvalidArgument(
            f"{prod(shape)} cells are too many; at most {MOST_CELLS}: use coarser grids, fewer columns"
        )
    return shape


def histogram(columns: Sequence[Column], *, key: Key) -> NDArray[np.int64]:
    """How many rows have each combination of the columns' values, as a dense array; people bounded per group."""
    shape, table = cells(columns), columns[0].table
    if table.person == EACH_ROW and all(isinstance(column.domain, Among) for column in columns):
        summed = _with_cells(counted_values(columns), columns).group_by("integer").agg(nw.col("rows").sum())
        return _dense(summed, 0, prod(shape)).reshape(shape)
    return counted_cells(_with_cells(encoded(columns), columns), table, prod(shape), key=key).reshape(shape)


def _with_cells(frame: nw.LazyFrame[Any], columns: Sequence[Column]) -> nw.LazyFrame[Any]:
    """The place of each row in the flattened array, as `integer`."""
    cell = nw.col("integer 0") - columns[0].domain.lowest
    for i, column in enumerate(columns[1:], 1):
        cell = cell * column.domain.size + (nw.col(f"integer {i}") - column.domain.lowest)
    return frame.with_columns(cell.cast(nw.Int64).alias("integer"))


def counted_cells(frame: nw.LazyFrame[Any], table: Table, size: int, *, key: Key) -> NDArray[np.int64]:
    """How many rows have each `integer` from 0 to size - 1, people bounded per integer."""
    if table.person == EACH_ROW:
        return _dense(_counted(frame), 0, size)
    groups, rows = table.bounds
    return _dense(bounded_groups(frame, groups=groups, rows=rows, key=key), 0, size)


def group_totals(by: Column, values: Column, *, key: Key) -> NDArray[np.int64]:
    """The sum of `values` in each group of `by`; each person's sum in a group clamped to what `rows` rows can reach."""
    cells([by])
    if by.table.person == EACH_ROW and isinstance(by.domain, Among):
        # Few categories: adding up before encoding leaves little to encode.
        parts = encoded([values], beside=by).group_by("value").agg(nw.col("integer 0").sum().alias("sum"))
        frame = parts.select("sum", by.domain.encode("value", by.kind).alias("integer")).drop_nulls()
    else:
        frame = encoded([by, values]).rename({"integer 0": "integer", "integer 1": "sum"})
    if by.table.person != EACH_ROW:
        groups, rows = by.table.bounds
        low, high = reach(values.numbers, rows=rows)
        pairs = frame.group_by("person", "integer").agg(nw.col("sum").sum().clip(low, high))
        frame = chosen_groups(pairs, groups=groups, key=key)
    summed = frame.group_by("integer").agg(nw.col("sum").sum().alias("rows"))
    return _dense(summed, by.domain.lowest, by.domain.size)


def found_groups(column: UndeclaredColumn, *, key: Key) -> tuple[list[str], NDArray[np.int64]]:
    """The texts that occur in a column and how many rows have each, people bounded: for a release by threshold only."""
    table, name = column.table, column.name
    text = nw.col(name).cast(nw.String).alias("group")
    if table.person == EACH_ROW:
        counted = table.frame.select(text).drop_nulls().group_by("group").agg(nw.len().alias("rows"))
        return _texts(collected(counted))
    groups, rows = table.bounds
    people = table.frame.select(text, nw.col(table.person).alias("person")).drop_nulls()
    pairs = collected(people.group_by("person", "group").agg(nw.len().alias("rows")))
    numbered = pairs.with_columns((polars.col("group").hash(seed=0) % MODULUS).cast(polars.Int64).alias("integer"))
    kept = chosen_groups(nw.from_native(numbered.lazy()), groups=groups, key=key, ties="group").collect().to_polars()
    return _texts(kept.group_by("group").agg(polars.col("rows").clip(None, rows).sum()))


def _texts(counted: polars.DataFrame) -> tuple[list[str], NDArray[np.int64]]:
    ordered = counted.sort("group")
    return ordered["group"].to_list(), ordered["rows"].cast(polars.Int64).to_numpy()


def _dense(frame: nw.LazyFrame[Any], first: int, size: int) -> NDArray[np.int64]:
    places, counts = _tallied(frame)
    dense = np.zeros(size, np.int64)
    dense[places - first] = counts
    return dense


def _counted(frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    return frame.group_by("integer").agg(nw.len().cast(nw.Int64).alias("rows"))


def _tallied(frame: nw.LazyFrame[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    local = collected(frame).cast(polars.Int64).sort("integer")
    return local["integer"].to_numpy(), local["rows"].to_numpy()


def _number(frame: nw.LazyFrame[Any]) -> int:
    value = collected(frame).item(0, "total")
    return 0 if value is None else int(value)
