"""The columns of a loaded table and what they hold, for its curator."""

from __future__ import annotations

from dataclasses import dataclass

import narwhals as nw
import polars
from narwhals.dtypes import DType

from bruit.tables import Table
from bruit.tables.total import collected

LOOKED_AT = 1000
"""Rows that are looked at to say what texts read as."""

LONGEST_NUMBER = 400
"""Bytes of a text that may still be a number."""


@dataclass(frozen=True)
class ColumnType:
    """A column: the type that the file states, and what its first texts read as, told to the curator only."""

    name: str
    kind: str
    reads_as: str


def columns_of(table: Table) -> tuple[ColumnType, ...]:
    """Every column with its type; the texts of a CSV file also with what they look like."""
    head = collected(table.frame.head(LOOKED_AT))
    return tuple(ColumnType(name, _kind(kind), _reads_as(head[name])) for name, kind in table.columns.items())


def _kind(kind: DType) -> str:
    if kind.is_integer():
        return "whole numbers"
    if kind.is_numeric():
        return "numbers"
    names = {nw.String: "text", nw.Categorical: "text", nw.Enum: "text", nw.Boolean: "true or false", nw.Date: "dates"}
    return names.get(type(kind), str(kind).split("(")[0].lower())


def _reads_as(series: polars.Series) -> str:
    if series.dtype != polars.String:
        return ""
    if (series.str.len_bytes() > LONGEST_NUMBER).any():
        return "text"  # before any of them is copied: a small Parquet file may hold very long ones
    texts = series.drop_nulls().str.strip_chars()
    texts = texts.filter(texts != "")
    if not len(texts):
        return "nothing"
    for name, kind in (("whole numbers", polars.Int64), ("numbers", polars.Float64)):
        if not texts.cast(kind, strict=False).null_count():
            return name
    return "text"
