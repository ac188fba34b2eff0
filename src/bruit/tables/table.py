"""A table of people, read through any engine, whose columns become usable once a domain is declared."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from bruit.core.arguments import whole
from bruit.core.neighbours import EACH_ROW
from bruit.core.numbers import Exact
from bruit.errors import InvalidArgument
from bruit.tables.choice.limits import Limit
from bruit.tables.column_names import no_column
from bruit.tables.domain import Among, Domain, Within, among, within
from bruit.tables.opened import Opened
from bruit.tables.schema.columns import ColumnType, Found, Text, Whole

LONGEST = 1000
"""The characters of a group that nobody listed that count."""


@dataclass(frozen=True, eq=False)
class Table:
    """Rows that belong to people; nothing of it is read before a budget was charged.

    `person` names the column that says whose row it is, or is EACH_ROW; `named` is how that column is read, None where
    each row is a person. How much of one person counts is None until `limit` states it.
    """

    opened: Opened
    person: str
    named: Text | Whole | None
    stated: Limit | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """The columns with the types that the engine gives them; no cell is read by these."""
        return dict(self.opened.kinds)

    @property
    def frame(self) -> Any:
        """The rows as they stand, lazy: of polars, or of the engine that holds them."""
        return self.opened.values

    def limit(self, *, rows: int | None = None, groups: int | None = None, each: int | None = None) -> Table:
        """The same table, of which at most `rows` rows of each person count, or `each` in each of `groups` groups.

        Which rows count is drawn afresh for each question, alike for every row, from that person's rows alone.
        """
        stated = {"rows": rows, "groups": groups, "each": each}
        limit = Limit(**{name: None if most is None else whole(most, name) for name, most in stated.items()})
        if self.person == EACH_ROW and set(limit.to_json().values()) != {1}:
            raise InvalidArgument("each row is a person of its own (person=EACH_ROW): a limit can only be 1")
        return replace(self, stated=limit)

    @property
    def bounds(self) -> Limit | None:
        """The stated limit of what one person can change; None where each row is a person."""
        if self.person == EACH_ROW:
            return None
        if self.stated is None:
            raise InvalidArgument(
                f"rows belong to {self.person!r}, who may have many: say how many of each person count with "
                ".limit(rows=...), or with .limit(groups=..., each=...)"
            )
        return self.stated

    @property
    def most_rows(self) -> int:
        """The most rows of one person that count in a question without groups."""
        limit = self.bounds
        return 1 if limit is None else limit.rows or limit.each or 1

    def without_rows(self) -> Table:
        """The same table with no row: what it answers is public."""
        return replace(self, opened=self.opened.without_rows())

    def __getitem__(self, name: str) -> UndeclaredColumn:
        return UndeclaredColumn(self, require_column(self, name))


@dataclass(frozen=True, eq=False)
class UndeclaredColumn:
    """A column of which nothing is known yet: declare its domain to use it."""

    table: Table
    name: str

    @property
    def declared(self) -> ColumnType:
        """How its cells are read where nobody lists them: as texts."""
        return Found(LONGEST)

    def within(self, low: Exact, high: Exact, *, grid: Exact, missing: Exact | None = None) -> Column:
        """Numbers between bounds known before seeing the data, on a grid."""
        return Column(self.table, self.name, within(low, high, grid=grid, missing=missing))

    def among(self, values: Sequence[object], *, drop_others: bool = False) -> Column:
        """Categories known before seeing the data."""
        return Column(self.table, self.name, among(values, drop_others=drop_others))


@dataclass(frozen=True, eq=False)
class Column:
    """A column with its domain: every cell in it is read as one of the domain's integers, or its row is dropped."""

    table: Table
    name: str
    domain: Domain

    @property
    def declared(self) -> ColumnType:
        """How its cells are read."""
        return self.domain.declared

    @property
    def drops(self) -> bool:
        """Whether a row may be dropped for what its cell holds."""
        return self.domain.missing is None if isinstance(self.domain, Within) else self.domain.drop_others

    @property
    def numbers(self) -> Within:
        """The domain, where it is one of numbers."""
        if not isinstance(self.domain, Within):
            raise InvalidArgument(f"{self.name!r} holds categories; this statistic needs within(low, high, grid=...)")
        return self.domain

    @property
    def categories(self) -> Among:
        """The domain, where it is one of categories."""
        if not isinstance(self.domain, Among):
            raise InvalidArgument(f"{self.name!r} holds numbers; this statistic needs among([...])")
        return self.domain

    def limit(self, *, rows: int | None = None, groups: int | None = None, each: int | None = None) -> Column:
        """The same column of a table with another limit."""
        return replace(self, table=self.table.limit(rows=rows, groups=groups, each=each))


def require_column(table: Table, name: str) -> str:
    """The name, where the table has such a column."""
    if name not in table.opened.kinds:
        raise no_column(repr(name), table.opened.kinds)
    return name


def require_one_table(columns: Sequence[Column | UndeclaredColumn]) -> None:
    """Refuses columns of different tables: their rows cannot be matched."""
    if any(column.table.opened is not columns[0].table.opened for column in columns):
        raise InvalidArgument("columns of different tables cannot be counted together: take them from one table")
