"""Opens tables for questions: data files, DuckDB and SQLite files, databases by address, public tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import polars

from bruit.errors import BadFile, InvalidArgument, MissingData, MissingExtra
from bruit.ledger import Ledger
from bruit.sql import PublicTable
from bruit.tables import Registered, open_registered, open_table, register
from bruit.tables.batches import in_batches
from bruit.tables.plan.operators import Plan
from bruit.tables.relations.running import withheld
from bruit.tables.schema import Schema
from bruit.tables.versions.registering import versions_of

DUCKDB = (".duckdb", ".ddb")
SQLITE = (".db", ".sqlite", ".sqlite3")

MOST_HELD = 2**30
"""Bytes of a file whose rows are held in memory between the questions of a recipe."""


def open_plan(source: str, schema: Schema, *, table: str | None = None, book: Ledger | None = None) -> Plan:
    """Opens a file or database table under a schema as a `Plan`.

    In a database it is `table`, or the one of the schema's name. Where the `book` knows a table of this name, its last
    version is what is opened.
    """
    held, connection = _held(source, table or schema.name)
    if book is not None and versions_of(book, schema.name):
        return open_registered(held, schema, ledger=book, connection=connection).plan
    return open_table(held, schema, connection=connection)


@dataclass(frozen=True, eq=False)
class HeldTable:
    """A text table (CSV, Excel) whose declared columns are read once, after payment, for several questions.

    `plan` asks for the rows that `read` held; a file beyond MOST_HELD bytes, or one that an engine reads by itself, is
    read again for each question.
    """

    plan: Plan
    held: list[polars.DataFrame] = field(default_factory=list)
    source: polars.LazyFrame | None = None

    def read(self) -> None:
        """Reads the declared columns into memory; an error shows no record."""
        if self.source is not None and not self.held:
            with withheld():
                self.held.append(self.source.select(list(self.plan.leaves[0].schema.columns)).collect())


def hold(plan: Plan, path: str) -> HeldTable:
    """Prepares a table to be read once for several questions, where that saves parsing texts again."""
    (leaf,) = plan.leaves
    file, frame = Path(path), leaf.source.frame
    if leaf.schema.file.kind == "parquet" or not file.is_file() or file.stat().st_size > MOST_HELD:
        return HeldTable(plan)
    if leaf.source.engine != "polars":
        return HeldTable(plan)
    held: list[polars.DataFrame] = []

    def batches(columns: list[str] | None) -> Iterator[polars.DataFrame]:
        yield held[0] if columns is None else held[0].select(columns)

    kinds = {name: leaf.source.kinds[name] for name in leaf.schema.columns}
    again = replace(leaf, source=replace(leaf.source, frame=in_batches(batches, kinds), kinds=kinds))
    return HeldTable(replace(plan, step=again, leaves=(again,)), held, frame)


def register_source(
    source: str, schema: Schema, *, ledger: Ledger, table: str | None = None, version: int | None = None
) -> Registered:
    """Registers a table, or its next version, in its ledger."""
    held, connection = _held(source, table or schema.name)
    return register(held, schema, ledger=ledger, connection=connection, version=version)


def _held(source: str, table: str) -> tuple[object, object]:
    """What holds the rows (a path, a query, a relation of DuckDB), and the database that a query asks."""
    if "://" in source:
        return _select(table), _engine(source)
    path = Path(source)
    if path.suffix.lower() not in (*DUCKDB, *SQLITE):
        return path, None
    if not path.is_file():
        raise MissingData(f"{path}: no such file")
    if path.suffix.lower() in DUCKDB:
        return _duckdb_table(path, table), None
    return _select(table), _engine(f"sqlite:///file:{path.resolve().as_posix()}?mode=ro&uri=true")


def read_public(source: str, on: str) -> PublicTable:
    """Reads a public lookup table: for each column, its value for each (unique) value of `on`."""
    path = Path(source)
    if not path.is_file():
        raise MissingData(f"{path}: no such file")
    try:
        frame = polars.read_parquet(path) if path.suffix.lower() == ".parquet" else polars.read_csv(path)
    except polars.exceptions.PolarsError:
        raise BadFile(f"{path} cannot be read: a public table is a CSV file with commas, or a Parquet file") from None
    if on not in frame.columns:
        raise InvalidArgument(f"{path}: no column {on!r}; the table has {', '.join(frame.columns)}")
    keys = frame[on].to_list()
    if len(set(keys)) < len(keys):
        raise InvalidArgument(f"{path}: {on!r} names a row twice; a public table has one row for each value of it")
    columns = {name: dict(zip(keys, frame[name].to_list(), strict=True)) for name in frame.columns if name != on}
    return PublicTable(on, columns)


def _select(table: str) -> str:
    if not table.replace("_", "").replace(".", "").isalnum():
        raise InvalidArgument(f"table {table!r}: name a table or a view by letters, digits, points and underscores")
    return f"SELECT * FROM {table}"


def _engine(address: str) -> object:
    from sqlalchemy import create_engine
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError

    try:
        return create_engine(address)
    except (ArgumentError, NoSuchModuleError):
        raise InvalidArgument("the address of a database reads like postgresql+psycopg://host/name") from None
    except ModuleNotFoundError:
        raise MissingExtra("this database", "postgres") from None


def _duckdb_table(path: Path, table: str) -> object:
    try:
        import duckdb
    except ImportError:
        raise InvalidArgument("DuckDB files need the package duckdb: pip install duckdb") from None
    try:
        connection = duckdb.connect(str(path), read_only=True)
        return connection.table(table)
    except duckdb.CatalogException:
        names = [name for (name,) in connection.execute("SHOW TABLES").fetchall()]
        raise InvalidArgument(f"{path} has no table {table!r}; it has {', '.join(names)}") from None
    except duckdb.Error:
        raise BadFile(
            f"{path} cannot be opened as a DuckDB file: it was cut, is in use, or is of another kind"
        ) from None
