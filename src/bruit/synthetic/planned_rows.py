"""Reads the rows of a `Plan` (a table under its schema) as cells for a synthesis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import polars

from bruit.errors import InvalidArgument
from bruit.privacy import EACH_ROW, Exact
from bruit.synthetic.coding import CodedColumn, code_columns
from bruit.synthetic.reading import CodedRows, TableRows
from bruit.tables import OTHER, Among, Domain, Table, Within
from bruit.tables.choice.limits import Limit
from bruit.tables.plan.kinds import Labels, Numbers, kind_of
from bruit.tables.plan.operators import Plan
from bruit.tables.plan.reading import Part, Reader
from bruit.tables.schema import Number


@dataclass(frozen=True)
class PlannedRows:
    """The rows of a `Plan`, a bounded number per person; checked at once, read only after the charge."""

    plan: Plan
    coded: tuple[CodedColumn, ...]
    limit: Limit | None

    def __post_init__(self) -> None:
        if self.limit is not None and self.limit.rows is None:
            raise InvalidArgument("a synthetic table has no groups: give limit=Limit(rows=...)")
        self.reader  # noqa: B018  whatever cannot be read is refused here

    @property
    def person(self) -> str:
        """The column that names the person, or EACH_ROW."""
        return self.plan.person

    @property
    def most(self) -> int:
        """The largest number of rows of one person that count."""
        return 1 if self.limit is None else self.limit.rows or 1

    @property
    def whose(self) -> str:
        """Whose rows they are and how much of one person counts, in words that follow the columns."""
        return f" of {self.plan.words}" + ("" if self.limit is None else f", of {self.limit}")

    @property
    def tables(self) -> list[dict[str, object]]:
        """The public facts of the tables that are read: name, schema and version."""
        return [leaf.to_json() for leaf in self.plan.leaves]

    @cached_property
    def reader(self) -> Reader:
        """The reader that chooses and reads the rows: without groups, every column as a value."""
        return Reader(self.plan, (), tuple(Part("rows", self.plan[each.name]) for each in self.coded), self.limit)

    def read(self, rng: np.random.Generator) -> CodedRows:
        """The cells of the rows that count; a value that the schema calls missing stays missing."""
        rows = self.reader.rows(rng)
        cells = np.empty((len(self.coded), len(rows)), np.uint8)
        for place, (each, (name, _)) in enumerate(zip(self.coded, self.reader.values.values(), strict=True)):
            cells[place] = _cells(each, rows[name])
        return CodedRows(cells, rows["person"] if self.person != EACH_ROW else None)


def rows_of(
    table: Table | Plan,
    columns: Mapping[str, Domain] | Sequence[str] | None,
    edges: Mapping[str, Sequence[Exact]] | None,
    limit: Limit | None,
) -> TableRows | PlannedRows:
    """The rows that a synthesis will read: of a table with declared domains, or of a `Plan` under its schema."""
    if isinstance(table, Plan):
        if isinstance(columns, Mapping):
            raise InvalidArgument("the schema of this table declares its columns: give their names, or none for all")
        names = tuple(table.columns) if columns is None else tuple(columns)
        coded = code_columns({name: _domain(table, name) for name in names}, edges)
        return PlannedRows(table, coded, limit)
    if not isinstance(columns, Mapping) or limit is not None:
        raise InvalidArgument(
            "a table without a schema needs the domain of each column, and its own limit: table.limit(rows=...)"
        )
    return TableRows(table, code_columns(columns, edges))


def _domain(plan: Plan, name: str) -> Domain:
    """The domain of a column of a plan, whose integers are those of the plan; what can be missing has a cell more."""
    plan[name]
    kind = plan.columns[name]
    if isinstance(kind, Labels):
        others = kind.labels[-1] == OTHER
        return Among(kind.labels[:-1] if others else kind.labels, drop_others=not others)
    if isinstance(kind, Numbers):
        declared = plan.leaves[0].schema.columns.get(name) if len(plan.leaves) == 1 else None
        missing = declared.missing if isinstance(declared, Number) and kind_of(declared, name) == kind else None
        return Within(kind.value(kind.lowest), kind.value(kind.highest), kind.grid, missing)
    raise InvalidArgument(
        f"{name!r} holds moments or texts: take a part of it, table.with_(month=table[{name!r}].part('month')), "
        "or leave it out"
    )


def _cells(column: CodedColumn, integers: polars.Series) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """The cell of each integer of the domain; one that is missing has the last."""
    known = integers.cast(polars.Int64).fill_null(column.domain.lowest + column.domain.size).to_numpy()
    places = np.searchsorted(np.array(column.firsts), known, side="right") - 1
    missing = known >= column.domain.lowest + column.domain.size
    return np.where(missing, column.size - 1, np.clip(places, 0, column.size - 1)).astype(np.uint8)
