"""Converts columns of a pandas frame: nullable ones through Arrow, NumPy's by value, objects cell by cell.

Which of these a column is may hang on a single record, so that each way gives every other cell the same reading.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars

from bruit.errors import InvalidArgument
from bruit.tables.cells.single import read_cell
from bruit.tables.cells.texts import Reading
from bruit.tables.schema.columns import ColumnType, Found, Text, Whole
from bruit.tables.schema.statement import Schema


def from_pandas(frame: Any, schema: Schema, reading: Reading) -> tuple[polars.LazyFrame, frozenset[str]]:
    """The declared columns as a polars frame, and which of them are already encoded as declared."""
    series, read = {}, set()
    for name, column in schema.columns.items():
        series[name], done = read_series(frame[name], name, column, reading)
        read |= {name} if done else set()
    return polars.DataFrame(series).lazy(), frozenset(read)


def read_series(values: Any, name: str, column: ColumnType, reading: Reading) -> tuple[polars.Series, bool]:
    """A pandas column as a polars series, and whether it is already encoded as declared."""
    kind = values.dtype
    if hasattr(kind, "categories") and hasattr(values, "cat"):
        labels = read_all(values.cat.categories.tolist(), column, reading)
        missing = read_cell(None, column, reading)
        codes = values.cat.codes.to_numpy()
        series = _typed([*labels.to_list(), missing], column)
        return series.gather(polars.Series(np.where(codes < 0, len(labels), codes), dtype=polars.Int64)), True
    if isinstance(kind, np.dtype):
        if isinstance(column, Whole) and column.long:
            raise InvalidArgument(
                f"column {name!r} is declared long, but NumPy's columns of pandas lose digits where a value is "
                "missing; convert it to 'Int64' or 'int64[pyarrow]' first, or declare it whole"
            )
        if kind.kind in "biuf" and kind.itemsize <= 8:
            return polars.Series(np.ascontiguousarray(values.to_numpy())), False
        if kind.kind == "c":
            numbers = values.to_numpy()
            return polars.Series(np.where(numbers.imag == 0, numbers.real, np.nan)), False
        if kind.kind == "M":
            return polars.Series(values.to_numpy().astype("datetime64[us]")), False
        return read_all(values.tolist(), column, reading), True
    try:
        import pyarrow

        return polars.Series(polars.from_arrow(pyarrow.Array.from_pandas(values))), False
    except Exception:  # a text that is no Unicode, a type that Arrow lacks: read one by one, every cell is the same
        return read_all(list(values), column, reading), True


def read_all(values: list[Any], column: ColumnType, reading: Reading) -> polars.Series:
    """Reads Python objects cell by cell into a polars series."""
    return _typed([read_cell(value, column, reading) for value in values], column)


def _typed(values: list[int | str | None], column: ColumnType) -> polars.Series:
    return polars.Series(values, dtype=polars.String if isinstance(column, Text | Found) else polars.Int64)
