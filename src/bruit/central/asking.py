"""What a statistic was asked about: public, stated before any data is seen, kept beside its answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bruit.tables import Column, Table, UndeclaredColumn


def asked(table: Table, *columns: Column, by: Sequence[Column | UndeclaredColumn] = ()) -> dict[str, Any]:
    """The part of `Release.details` that tells the columns, their domains and how often one person counts.

    `by` are the columns whose values make the groups; only there does the bound on groups matter.
    """
    groups, rows = table.bounds
    about = {"columns": [_described(each) for each in columns], "by": [_described(each) for each in by]}
    limits = {"person": table.person, "rows": rows, "groups": groups if by else None}
    return {"asked": {**about, **limits}}


def _described(column: Column | UndeclaredColumn) -> dict[str, Any]:
    return {"name": column.name, "domain": column.domain.to_json() if isinstance(column, Column) else None}
