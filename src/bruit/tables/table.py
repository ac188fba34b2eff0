"""A table of people, read through any engine, whose columns become usable once a domain is declared."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import narwhals as nw
import polars
from narwhals.dtypes import DType

from bruit.errors import BadFile, InvalidArgument
from bruit.privacy import EACH_ROW, Exact
from bruit.tables.domain import Among, Domain, Within, among, within

SEPARATED_BY = {
    ";": "semicolons? A .csv file is read with commas",
    "\t": "tabs? Such a file is read when its name ends in .tsv",
}
"""What to ask whoever named a column of a table that seems to have only one."""


@dataclass(frozen=True)
class Table:
    """Rows that belong to people; nothing of it is read before a budget was charged.

    `person` names the column that says whose row it is, or is EACH_ROW. One person counts in at most `groups` groups of
    an answer with at most `rows` rows in each; both are None until `limit` states them.
    """

    frame: nw.LazyFrame[Any]
    person: str
    rows: int | None = None
    groups: int | None = None

    @cached_property
    def columns(self) -> dict[str, DType]:
        """The columns with their types."""
        return dict(self.frame.collect_schema())

    def limit(self, *, rows: int, groups: int = 1) -> Table:
        """The same table, where each person counts with at most `rows` rows in each of at most `groups` groups."""
        for name, bound in (("rows", rows), ("groups", groups)):
            if isinstance(bound, bool) or not isinstance(bound, int) or bound < 1:
                raise InvalidArgument(f"{name}={bound!r} must be a whole number, at least 1")
            if self.person == EACH_ROW and bound != 1:
                raise InvalidArgument(f"each row is a person of its own (person=EACH_ROW): {name} can only be 1")
        return replace(self, rows=rows, groups=groups)

    @property
    def bounds(self) -> tuple[int, int]:
        """The stated bounds on what one person can change: groups, and rows in each."""
        if self.person == EACH_ROW:
            return 1, 1
        if self.rows is None or self.groups is None:
            raise InvalidArgument(
                f"rows belong to {self.person!r}, who may have many: say how many of each person count "
                "with .limit(rows=..., groups=...)"
            )
        return self.groups, self.rows

    def __getitem__(self, name: str) -> UndeclaredColumn:
        return UndeclaredColumn(self, require_column(self, name))


@dataclass(frozen=True)
class UndeclaredColumn:
    """A column of which nothing is known yet: declare its domain to use it."""

    table: Table
    name: str

    def within(self, low: Exact, high: Exact, *, grid: Exact, missing: Exact | None = None) -> Column:
        """Numbers between bounds known before seeing the data, on a grid."""
        return Column(self.table, self.name, within(low, high, grid=grid, missing=missing))

    def among(self, values: Sequence[object], *, drop_others: bool = False) -> Column:
        """Categories known before seeing the data."""
        return Column(self.table, self.name, among(values, drop_others=drop_others))


@dataclass(frozen=True)
class Column:
    """A column with its domain: every value in it is one of the domain's integers, or its row is dropped."""

    table: Table
    name: str
    domain: Domain

    def __post_init__(self) -> None:
        self.domain.encode(self.name, self.kind)  # a schema that does not fit is told here

    @property
    def parses_text(self) -> bool:
        """Whether numbers are read from texts; only polars does that without failing on a text that is none."""
        native = isinstance(self.table.frame.to_native(), polars.LazyFrame)
        return native and isinstance(self.domain, Within) and self.table.columns[self.name] == nw.String

    @property
    def kind(self) -> DType:
        """The type of the values that the domain encodes."""
        return nw.Float64() if self.parses_text else self.table.columns[self.name]

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

    def limit(self, *, rows: int, groups: int = 1) -> Column:
        """The same column of a table where each person counts with at most so many rows in so many groups."""
        return replace(self, table=self.table.limit(rows=rows, groups=groups))


def encoded(columns: Sequence[Column], *, beside: Column | None = None) -> nw.LazyFrame[Any]:
    """The integers of columns of one table as `integer 0`, ..., with `person` where there is one.

    A row that any of the domains drops, or that names no person, is left out. The values of `beside`, as they stand,
    come as `value`.
    """
    table = columns[0].table
    frame, integers = table.frame, []
    for i, column in enumerate(columns):
        name = column.name
        if column.parses_text:
            # Under a name of its own: another domain may read the same column as text.
            name = f"bruit number {i}"
            number = polars.col(column.name).str.strip_chars().cast(polars.Float64, strict=False)
            frame = nw.from_native(frame.to_native().with_columns(number.alias(name)))
        integers.append(column.domain.encode(name, column.kind).alias(f"integer {i}"))
    needed = [f"integer {i}" for i in range(len(columns))]
    if table.person != EACH_ROW:
        integers.append(nw.col(table.person).alias("person"))
        needed.append("person")
    if beside is not None:
        integers.append(nw.col(beside.name).alias("value"))
    return frame.select(*integers).drop_nulls(subset=needed)


def counted_values(columns: Sequence[Column]) -> nw.LazyFrame[Any]:
    """How many rows, as `rows`, have each combination of the values that stand there, and their integers.

    Where categories are few, counting before encoding leaves little to encode.
    """
    names = [f"value {i}" for i in range(len(columns))]
    values = [nw.col(column.name).alias(name) for name, column in zip(names, columns, strict=True)]
    counted = columns[0].table.frame.select(*values).group_by(*names).agg(nw.len().cast(nw.Int64).alias("rows"))
    integers = [
        column.domain.encode(name, column.kind).alias(f"integer {i}")
        for i, (name, column) in enumerate(zip(names, columns, strict=True))
    ]
    return counted.select("rows", *integers).drop_nulls()


def require_column(table: Table, name: str) -> str:
    """The name, where the table has such a column."""
    if name not in table.columns:
        raise no_column(repr(name), table.columns)
    return name


def no_column(asked: str, columns: Iterable[str], *, where: str = "") -> InvalidArgument:
    """The refusal of a name that is no column; a single name with a separator in it is a file that has another one."""
    names = list(columns)
    separators = [told for mark, told in SEPARATED_BY.items() if len(names) == 1 and mark in names[0]]
    question = "".join(f"; is it separated by {told}" for told in separators[:1])
    return InvalidArgument(f"{where}no column {asked}; the table has {', '.join(names)}{question}")


def require_columns(table: Table) -> None:
    """Refuses a source whose columns cannot be told, before anything is charged for it."""
    try:
        names = table.columns
    except Exception:
        raise BadFile("the columns of the table cannot be read: the file was cut, or is of another kind") from None
    if not names:
        raise BadFile("the table has no columns")


def require_one_table(columns: Sequence[Column]) -> None:
    """Refuses columns of different tables: their rows cannot be matched."""
    if any(column.table.frame is not columns[0].table.frame for column in columns):
        raise InvalidArgument("columns of different tables cannot be counted together: take them from one table")
