"""Tables of people on any engine, whose columns become usable once a domain is declared."""

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
    """A table whose rows belong to people; no row is read before a budget is charged.

    `person` names the column that says whose row it is, or is EACH_ROW; `named` is how that column is read, None where
    each row is a person. How much of one person counts is None until `limit` states it.
    """

    opened: Opened
    person: str
    named: Text | Whole | None
    stated: Limit | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """The columns with the types that the engine reports; no cell is read."""
        return dict(self.opened.kinds)

    @property
    def frame(self) -> Any:
        """The rows unchanged: a polars lazy frame, or the engine's own."""
        return self.opened.values

    def limit(self, *, rows: int | None = None, groups: int | None = None, each: int | None = None) -> Table:
        """The same table with a limit: `rows` rows of each person count, or `each` in each of `groups` groups.

        Which rows count is drawn afresh for each question, alike for every row, from that person's rows alone.
        """
        stated = {"rows": rows, "groups": groups, "each": each}
        limit = Limit(**{name: None if most is None else whole(most, name) for name, most in stated.items()})
        if self.person == EACH_ROW and set(limit.to_json().values()) != {1}:
            raise InvalidArgument("each row is a person of its own (person=EACH_ROW): a limit can only be 1")
        return replace(self, stated=limit)

    @property
    def bounds(self) -> Limit | None:
        """The limit stated for one person; None where each row is a person."""
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
        """The largest number of rows of one person that count in a question without groups."""
        limit = self.bounds
        return 1 if limit is None else limit.rows or limit.each or 1

    def without_rows(self) -> Table:
        """The same table without any row, so that whatever is computed from it is public."""
        return replace(self, opened=self.opened.without_rows())

    def __getitem__(self, name: str) -> UndeclaredColumn:
        return UndeclaredColumn(self, require_column(self, name))


@dataclass(frozen=True, eq=False)
class UndeclaredColumn:
    """A column without a domain; declare one with `within` or `among` to use it."""

    table: Table
    name: str

    @property
    def declared(self) -> ColumnType:
        """The column type of a column without a domain: found texts."""
        return Found(LONGEST)

    def within(self, low: Exact, high: Exact, *, grid: Exact, missing: Exact | None = None) -> Column:
        """The column as numbers between bounds stated before seeing the data, on a grid."""
        return Column(self.table, self.name, within(low, high, grid=grid, missing=missing))

    def among(self, values: Sequence[object], *, drop_others: bool = False) -> Column:
        """The column as categories stated before seeing the data."""
        return Column(self.table, self.name, among(values, drop_others=drop_others))


@dataclass(frozen=True, eq=False)
class Column:
    """A column with its domain: every cell is read as one of the domain's integers, or its row is dropped."""

    table: Table
    name: str
    domain: Domain

    @property
    def declared(self) -> ColumnType:
        """The column type that reads its cells."""
        return self.domain.declared

    @property
    def drops(self) -> bool:
        """Whether a row may be dropped because of this column's value."""
        return self.domain.missing is None if isinstance(self.domain, Within) else self.domain.drop_others

    @property
    def numbers(self) -> Within:
        """The domain, if numeric; else refused."""
        if not isinstance(self.domain, Within):
            raise InvalidArgument(f"{self.name!r} holds categories; this statistic needs within(low, high, grid=...)")
        return self.domain

    @property
    def categories(self) -> Among:
        """The domain, if categorical; else refused."""
        if not isinstance(self.domain, Among):
            raise InvalidArgument(f"{self.name!r} holds numbers; this statistic needs among([...])")
        return self.domain

    def limit(self, *, rows: int | None = None, groups: int | None = None, each: int | None = None) -> Column:
        """The same column, of the table with another limit."""
        return replace(self, table=self.table.limit(rows=rows, groups=groups, each=each))


def require_column(table: Table, name: str) -> str:
    """Returns the name, or refuses one that is not a column of the table."""
    if name not in table.opened.kinds:
        raise no_column(repr(name), table.opened.kinds)
    return name


def require_one_table(columns: Sequence[Column | UndeclaredColumn]) -> None:
    """Refuses columns of different tables: their rows cannot be matched."""
    if any(column.table.opened is not columns[0].table.opened for column in columns):
        raise InvalidArgument("columns of different tables cannot be counted together: take them from one table")
