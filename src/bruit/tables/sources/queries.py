"""Reads a table from a database query; the database casts every cell to text, so that no type is guessed."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import polars

from bruit.errors import InvalidArgument
from bruit.tables.batches import in_batches
from bruit.tables.cells.single import open_value

BATCH = 50_000
"""Rows that are in memory at once."""

TEXT = {"mysql": "CHAR", "mariadb": "CHAR", "mssql": "NVARCHAR(MAX)", "oracle": "VARCHAR2(4000)"}
"""What a database calls a text in a cast, where it is not TEXT."""


def scan_query(query: Any, engine: Any) -> polars.LazyFrame:
    """The rows of a SQLAlchemy select, a `text(...)` or a string of SQL; every column is text."""
    if not hasattr(engine, "connect"):
        raise InvalidArgument(
            f"connection={type(engine).__name__}: a query needs connection=engine, made by sqlalchemy.create_engine"
        )
    statement = _statement(query, engine)
    try:
        # In a thread of its own, as polars reads: a database that only this thread sees is found out before a charge.
        with ThreadPoolExecutor(1) as another:
            names = another.submit(_names, statement, engine).result()
    except Exception as error:
        raise InvalidArgument(f"the database does not answer this query: {error}") from error
    if len(set(names)) < len(names):
        raise InvalidArgument(f"the query names a column twice: {', '.join(names)}; give each a label of its own")

    def batches(columns: list[str] | None) -> Iterator[polars.DataFrame]:
        wanted = names if columns is None else columns
        quote, kind = engine.dialect.identifier_preparer.quote, TEXT.get(engine.dialect.name, "TEXT")
        casts = ", ".join(f"CAST({quote(name)} AS {kind})" for name in wanted)
        with engine.connect() as connection, _lenient(connection):
            streamed = connection.execution_options(stream_results=True)
            result = streamed.exec_driver_sql(f"SELECT {casts} FROM ({statement}) AS asked")
            for part in result.partitions(BATCH):
                yield _frame(part, wanted)

    return in_batches(batches, dict.fromkeys(names, polars.String))


def _statement(query: Any, engine: Any) -> str:
    """The query as SQL, its parameters written out."""
    if isinstance(query, str):
        marked = engine.dialect.paramstyle in ("format", "pyformat")  # where a driver takes % for a parameter
        return (query.replace("%", "%%") if marked else query).rstrip().rstrip(";")
    if not hasattr(query, "compile"):
        raise InvalidArgument(
            f"{type(query).__name__} is not a query: give select(...), text('select ...') or a string"
        )
    compiled = query.compile(engine, compile_kwargs={"literal_binds": True})
    return str(compiled).rstrip().rstrip(";")


def _names(statement: str, engine: Any) -> list[str]:
    """The names of the columns, asked with a query that returns no row."""
    with engine.connect() as connection:
        return list(connection.exec_driver_sql(f"SELECT * FROM ({statement}) AS asked WHERE 1 = 0").keys())


@contextmanager
def _lenient(connection: Any) -> Iterator[None]:
    """SQLite's driver fails on a text that is no UTF-8; meanwhile it reads such bytes as U+FFFD."""
    driver = connection.connection.driver_connection
    if not hasattr(driver, "text_factory"):
        yield
        return
    before, driver.text_factory = driver.text_factory, lambda octets: octets.decode("utf-8", "replace")
    try:
        yield
    finally:
        driver.text_factory = before


def _frame(rows: Any, names: list[str]) -> polars.DataFrame:
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return polars.DataFrame(
        [
            polars.Series(name, list(map(_text, values)), polars.String)
            for name, values in zip(names, columns, strict=True)
        ]
    )


def _text(value: object) -> str | None:
    known = open_value(value)
    return known if isinstance(known, str) else None
