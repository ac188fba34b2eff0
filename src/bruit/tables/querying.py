"""A table that a database query gives, read in batches: memory holds a batch, whatever the query returns."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import polars

from bruit.errors import InvalidArgument
from bruit.tables.batches import in_batches
from bruit.tables.total import text

BATCH = 50_000
"""Rows that are in memory at once."""

KINDS: dict[type, Any] = {int: polars.Int64, float: polars.Float64, bool: polars.Boolean}
"""Python's types of a database column that is read as it is; every other column is text."""


def from_query(query: Any, connection: Any) -> polars.LazyFrame:
    """The rows of a SQLAlchemy selection, a `text(...)` or a string of SQL; asked again for every release.

    What the columns are is asked with a query that returns no row. Those of a `select(...)` have the types that it
    states; those of a text are texts until a domain says otherwise.
    """
    if not hasattr(connection, "connect"):
        raise InvalidArgument(
            f"connection={type(connection).__name__}: a query needs connection=engine, made by sqlalchemy.create_engine"
        )
    schema = _schema(query, connection)

    def batches(columns: list[str] | None) -> Iterator[polars.DataFrame]:
        with connection.connect() as open_connection:
            result = _asked(open_connection.execution_options(stream_results=True), query)
            for part in result.partitions(BATCH):
                frame = _frame(part, schema)
                yield frame if columns is None else frame.select(columns)

    return in_batches(batches, schema)


def _schema(query: Any, connection: Any) -> dict[str, Any]:
    try:
        # In a thread of its own, as polars reads: a database that only this thread sees is found out before a charge.
        with ThreadPoolExecutor(1) as another:
            names = another.submit(_names, _empty(query), connection).result()
    except InvalidArgument:
        raise
    except Exception as error:
        raise InvalidArgument(f"the database does not answer this query: {error}") from error
    if len(set(names)) < len(names):
        raise InvalidArgument(f"the query names a column twice: {', '.join(names)}; give each a label of its own")
    stated = {column.name: _kind(column.type) for column in getattr(query, "selected_columns", ())}
    return {name: stated.get(name, polars.String) for name in names}


def _names(query: Any, connection: Any) -> list[str]:
    with connection.connect() as open_connection:
        return list(_asked(open_connection, query).keys())


def _asked(connection: Any, query: Any) -> Any:
    return connection.exec_driver_sql(query) if isinstance(query, str) else connection.execute(query)


def _empty(query: Any) -> Any:
    """The same columns and no row: a query that has begun could fail on a record, and so tell of it."""
    if isinstance(query, str):
        return _no_row(query)
    if hasattr(query, "selected_columns"):
        return query.limit(0)
    if hasattr(query, "text"):
        return type(query)(_no_row(query.text)).bindparams(**query.compile().params)
    raise InvalidArgument(f"{type(query).__name__} is not a query: give select(...), text('select ...') or a string")


def _no_row(statement: str) -> str:
    return f"SELECT * FROM ({statement.rstrip().rstrip(';')}) AS asked WHERE 1 = 0"


def _kind(stated: Any) -> Any:
    try:
        return KINDS.get(stated.python_type, polars.String)
    except NotImplementedError:
        return polars.String


def _frame(rows: Any, schema: dict[str, Any]) -> polars.DataFrame:
    columns = zip(*rows, strict=True) if rows else [()] * len(schema)
    series = (_column(name, values, schema[name]) for name, values in zip(schema, columns, strict=True))
    return polars.DataFrame(list(series))


def _column(name: str, values: Any, kind: Any) -> polars.Series:
    """Whatever a column holds: a value of another type than was stated is missing, as in SQLite it may be."""
    if kind is polars.String:
        return polars.Series(name, [text(value) for value in values], dtype=kind)
    return polars.Series(
        name, [value if isinstance(value, int | float) else None for value in values], kind, strict=False
    )
