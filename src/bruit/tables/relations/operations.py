"""Relational operations that every engine can run; plans and the choice of rows are lowered to these.

Each gives rows of named columns: whole numbers of 64 bits, or texts compared by their bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import polars

from bruit.tables.column_names import OWN
from bruit.tables.expressions.nodes import Field, Node
from bruit.tables.schema.statement import Schema
from bruit.tables.sources.opening import Source

PERSON = f"{OWN}person"
"""The column that holds the exact value of the person column."""

ROOM = 2**31
"""What a number is multiplied by to make room for another below it, within 2^62."""


@dataclass(frozen=True)
class Scan:
    """Reads the declared columns of an open source, and `person` where rows belong to people."""

    source: Source
    schema: Schema
    columns: tuple[str, ...]
    person: bool


@dataclass(frozen=True)
class Project:
    """Computes new columns, each an expression over those of the input, and drops all others."""

    input: Operation
    columns: tuple[tuple[str, Node], ...]


@dataclass(frozen=True)
class Filter:
    """Keeps the rows where a condition is true."""

    input: Operation
    condition: Node


@dataclass(frozen=True)
class Group:
    """One row per combination of the keys, with aggregates: count, sum, min, max or distinct of a column."""

    input: Operation
    keys: tuple[str, ...]
    aggregates: tuple[tuple[str, str, str | None], ...]
    """The name of each, what it is, and of which column."""

    gathered: bool = False
    """Whether hardly any rows are alike in the keys, one of which is the person: Spark then brings each person's rows
    together once and groups them there, instead of grouping on both sides of moving them."""


@dataclass(frozen=True)
class Copies:
    """Repeats each row `count` times, at most `most`, numbered from zero as `copy`; the `count` column is dropped."""

    input: Operation
    columns: tuple[str, ...]
    count: str
    copy: str
    most: int


@dataclass(frozen=True)
class Least:
    """The first `most` rows of each combination of `by`, sorted by `order`, missing values first."""

    input: Operation
    columns: tuple[str, ...]
    by: tuple[str, ...]
    order: tuple[str, ...]
    most: int


@dataclass(frozen=True)
class LeastNumbers:
    """The `most` smallest numbers of one column in each combination of `by`; equal ones count separately."""

    input: Operation
    by: tuple[str, ...]
    number: str
    most: int


@dataclass(frozen=True)
class Placed:
    """Puts a whole number that belongs to one text alone in place of each person's text, which no row is without.

    Above 2^31 it is the text's place in a list of the different texts, in no order; below, its number under a key.
    """

    input: Operation
    columns: tuple[str, ...]
    """Those beside the person."""

    key: str


@dataclass(frozen=True)
class Join:
    """Joins each left row with each right row of equal `on` columns; with `outer`, keeps unmatched left rows."""

    left: Operation
    right: Operation
    on: tuple[str, ...]
    columns: tuple[str, ...]
    """Those of the right that stay."""

    outer: bool


@dataclass(frozen=True)
class Union:
    """The rows of all inputs, which have the same columns."""

    inputs: tuple[Operation, ...]
    columns: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows that were already computed, as a polars frame."""

    frame: polars.DataFrame


Operation = Scan | Project | Filter | Group | Copies | Least | LeastNumbers | Placed | Join | Union | Rows


def substitute(operation: Operation, old: Operation, new: Operation) -> Operation:
    """The operation with one of its steps replaced by another."""
    if operation is old:
        return new
    changed: dict[str, Any] = {}
    for field in fields(operation):
        value = getattr(operation, field.name)
        if isinstance(value, Operation):
            changed[field.name] = substitute(value, old, new)
        elif field.name == "inputs":
            changed[field.name] = tuple(substitute(each, old, new) for each in value)
    return replace(operation, **changed)


def same(names: tuple[str, ...]) -> tuple[tuple[str, Node], ...]:
    """Columns that are passed on unchanged, for `Project`."""
    return tuple((name, Field(name)) for name in names)
