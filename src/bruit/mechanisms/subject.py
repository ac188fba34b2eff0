"""What a statistic was asked about (columns, domains, limits), as recorded beside its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bruit.errors import InvalidArgument
from bruit.tables import Column, Table, UndeclaredColumn, require_one_table


def table_of(data: Table | Column | UndeclaredColumn) -> Table:
    """The table itself, or the table that a column belongs to."""
    return data if isinstance(data, Table) else data.table


def the_table(*columns: Column | UndeclaredColumn) -> Table:
    """The one table that all columns belong to; columns of several tables, or under several limits, are refused."""
    require_one_table(columns)
    if len({column.table.stated for column in columns}) > 1:
        raise InvalidArgument(
            "columns of one question must have one limit; state it once, on the table: table.limit(rows=...), or "
            "table.limit(groups=..., each=...), before the columns are taken"
        )
    return columns[0].table


def asked(table: Table, *columns: Column, by: Sequence[Column | UndeclaredColumn] = ()) -> dict[str, Any]:
    """The part of `Release.details` that records the columns, their domains and the limit per person.

    `by` are the columns whose values make the groups; only there does a limit on groups matter.
    """
    limit = table.bounds
    about = {"columns": [_described(each) for each in columns], "by": [_described(each) for each in by]}
    groups = None if limit is None or not by else limit.groups
    return {"asked": {**about, "person": table.person, "rows": table.most_rows, "groups": groups}}


def _described(column: Column | UndeclaredColumn) -> dict[str, Any]:
    return {"name": column.name, "domain": column.domain.to_json() if isinstance(column, Column) else None}
