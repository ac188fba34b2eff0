"""The steps of a plan as immutable values; each maps one person's rows to rows of that person."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars

from bruit.tables.choice.hashing import RowKey
from bruit.tables.expressions.nodes import Node
from bruit.tables.plan.kinds import Kind
from bruit.tables.schema.statement import Schema
from bruit.tables.sources.opening import Source
from bruit.tables.versions.curator_file import Registration


@dataclass(frozen=True, eq=False)
class Leaf:
    """A table under its schema, with its registration in a ledger where there is one."""

    source: Source
    schema: Schema
    registration: Registration | None = None

    def to_json(self) -> dict[str, Any]:
        """The public facts: the table's name, the digest of its schema and its registered version."""
        version = None if self.registration is None else self.registration.version
        return {"name": self.schema.name, "schema": self.schema.digest, "version": version}


@dataclass(frozen=True, eq=False)
class Where:
    """Keeps the rows where a condition is true."""

    input: Step
    condition: Node


@dataclass(frozen=True, eq=False)
class With:
    """Adds columns to the rows, or replaces those of the same name."""

    input: Step
    columns: tuple[tuple[str, Node], ...]


@dataclass(frozen=True, eq=False)
class Joined:
    """Joins two tables by person: every pair of at most `most` rows of either side."""

    left: Step
    right: Step
    most: tuple[int, int]
    columns: tuple[Mapping[str, Kind], Mapping[str, Kind]]
    """What each side can hold."""

    outer: bool


@dataclass(frozen=True, eq=False)
class Stacked:
    """The rows of one table, then those of another."""

    inputs: tuple[Step, Step]


@dataclass(frozen=True, eq=False)
class Summarised:
    """Summarises each person's rows, at most `most`, into one: each summary's name, function and column."""

    input: Step
    summaries: tuple[tuple[str, str, str | None], ...]
    most: int
    columns: Mapping[str, Kind]
    """What the input can hold."""


@dataclass(frozen=True, eq=False)
class Parted:
    """Keeps the rows of one cell of a partition; each person keeps rows in at most `most` of its cells."""

    input: Leaf
    column: Node
    """The place of a row's cell, from zero."""

    size: int
    place: int
    most: int
    key: RowKey
    """The key of the choice of cells, the same in every release."""

    partition: str
    label: str
    kept: polars.DataFrame | None = None
    """Pairs of a person and a cell where a list decides who keeps which; None where the hash does."""


Step = Leaf | Where | With | Joined | Stacked | Summarised | Parted


def depth(step: Step) -> int:
    """How many steps lie one over the other, the table included."""
    inputs: tuple[Step, ...]
    match step:
        case Leaf():
            return 1
        case Joined():
            inputs = (step.left, step.right)
        case Stacked():
            inputs = step.inputs
        case Where() | With() | Summarised() | Parted():
            inputs = (step.input,)
    return 1 + max(depth(each) for each in inputs)
