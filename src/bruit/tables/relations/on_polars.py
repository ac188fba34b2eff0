"""Runs operations as lazy polars frames."""

from __future__ import annotations

from typing import Any

import polars

from bruit.core.neighbours import EACH_ROW
from bruit.tables.expressions.nodes import Constant, Field, TextNumber
from bruit.tables.expressions.to_polars import to_polars
from bruit.tables.relations.operations import (
    PERSON,
    ROOM,
    Copies,
    Filter,
    Group,
    Join,
    Least,
    LeastNumbers,
    Operation,
    Placed,
    Project,
    Rows,
    Scan,
    Union,
)
from bruit.tables.schema.columns import Text

AGGREGATES: dict[str, Any] = {
    "sum": lambda column: column.sum(),
    "min": lambda column: column.min(),
    "max": lambda column: column.max(),
    "distinct": lambda column: column.drop_nulls().n_unique(),
}


class Frames:
    """Compiles operations to lazy frames; persons named by texts are held as polars categories.

    The places stand for the exact texts, one for each, so that texts are compared and hashed once and not row by row.
    The list lives as long as this object, which therefore must live until its frames were collected: places of a list
    that was forgotten would be given again.
    """

    def __init__(self) -> None:
        self.names = polars.Categorical(polars.Categories.random())
        self.held = polars.Series([""], dtype=self.names)

    def frame(self, operation: Operation) -> polars.LazyFrame:
        """Compiles an operation to a lazy frame."""
        match operation:
            case Scan():
                return self._scan(operation)
            case Rows(frame):
                listed = PERSON in frame.columns and frame.schema[PERSON] == polars.String
                return frame.lazy().with_columns(polars.col(PERSON).cast(self.names)) if listed else frame.lazy()
            case Project(source, columns):
                return _select(self.frame(source), {name: to_polars(node) for name, node in columns})
            case Filter(source, condition):
                return self.frame(source).filter(to_polars(condition))
            case Group(source, keys, aggregates):
                return self._group(source, keys, [_aggregate(*each) for each in aggregates])
            case Placed(source, columns, key):
                place = polars.col(PERSON).to_physical().cast(polars.Int64) * ROOM
                number = to_polars(TextNumber(Field(PERSON), key))
                return self.frame(source).select((place + number).alias(PERSON), *columns)
            case Join(left, right, on, columns, outer):
                other = self.frame(right).select(*on, *columns)
                return self.frame(left).join(other, on=list(on), how="left" if outer else "inner")
            case Union(inputs, columns):
                return polars.concat([self.frame(each).select(*columns) for each in inputs])
        return self._chosen(operation)

    def _group(self, source: Operation, keys: tuple[str, ...], aggregates: list[polars.Expr]) -> polars.LazyFrame:
        """One row a group; where every key is a constant there is one group, whose row stands even if it is empty."""
        made = source.columns if isinstance(source, Project) else ()
        constants = {name: node for name, node in made if isinstance(node, Constant)}
        if any(key not in constants for key in keys):
            return self.frame(source).group_by(*keys).agg(*aggregates)
        return self.frame(source).select(*aggregates, **{key: to_polars(constants[key]) for key in keys})

    def _chosen(self, operation: Copies | Least | LeastNumbers) -> polars.LazyFrame:
        frame = self.frame(operation.input)
        match operation:
            case Copies():
                return _copies(frame, operation)
            case Least():
                return _least(frame, operation)
            case LeastNumbers(_, by, number, most):
                return frame.group_by(*by).agg(polars.col(number).bottom_k(most)).explode(number)

    def _scan(self, scan: Scan) -> polars.LazyFrame:
        """Two steps: what engine expressions take out of the cells, then whole-number expressions over that."""
        parts: dict[str, polars.Expr] = {}
        values: dict[str, polars.Expr] = {}
        wanted = [(name, name) for name in scan.columns]
        wanted += [(scan.schema.person, PERSON)] if scan.person and scan.schema.person != EACH_ROW else []
        for place, (name, called) in enumerate(wanted):
            encoded = scan.source.encode(name, scan.schema, prefix=f"c{place}")
            parts |= encoded.parts
            values[called] = to_polars(encoded.value)
        if PERSON in values and isinstance(scan.schema.columns[scan.schema.person], Text):
            values[PERSON] = values[PERSON].cast(self.names)
        read = _select(_select(scan.source.frame, parts), values)
        return read.filter(polars.col(PERSON).is_not_null()) if PERSON in values else read


def _select(frame: polars.LazyFrame, columns: dict[str, polars.Expr]) -> polars.LazyFrame:
    """The columns of every row: where none of them reads one, polars alone would give a single row."""
    if any(column.meta.root_names() for column in columns.values()):
        return frame.select(**columns)
    return frame.select(rows=polars.first().is_null()).with_columns(**columns)


def _aggregate(name: str, what: str, column: str | None) -> polars.Expr:
    if column is None:
        return polars.len().cast(polars.Int64).alias(name)
    return AGGREGATES[what](polars.col(column)).cast(polars.Int64).alias(name)  # type: ignore[no-any-return]


def _copies(frame: polars.LazyFrame, copies: Copies) -> polars.LazyFrame:
    """The first copy of every row, and beside them the further ones of the few rows that have any."""
    count = polars.col(copies.count)
    first = frame.select(*copies.columns, polars.lit(0, polars.Int64).alias(copies.copy))
    numbers = polars.int_ranges(1, polars.min_horizontal(count, copies.most), dtype=polars.Int64)
    further = frame.filter(count > 1).select(*copies.columns, numbers.alias(copies.copy)).explode(copies.copy)
    return polars.concat([first, further])


def _least(frame: polars.LazyFrame, least: Least) -> polars.LazyFrame:
    by = (polars.col(name).to_physical() if name == PERSON else polars.col(name) for name in least.by)
    frame = frame.sort(*by, *least.order, nulls_last=False)
    place = polars.int_range(polars.len()).over(*least.by)
    return frame.filter(place < least.most).select(*least.columns)
