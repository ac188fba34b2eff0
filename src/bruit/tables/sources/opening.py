"""Opens whatever holds a table under a schema: its engine, its columns, how texts are read; reads no row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Any

import polars

from bruit.core.arguments import whole
from bruit.errors import BadFile, InvalidArgument, MissingData
from bruit.tables.cells.polars_cells import Encoded, encode_polars
from bruit.tables.cells.sql_cells import SqlCells
from bruit.tables.cells.texts import Reading
from bruit.tables.column_names import no_column
from bruit.tables.expressions.nodes import Field
from bruit.tables.expressions.to_sql import DUCKDB, SPARK, Dialect
from bruit.tables.schema.columns import Whole
from bruit.tables.schema.files import File
from bruit.tables.schema.statement import Schema
from bruit.tables.sources.csv_lines import scan_csv
from bruit.tables.sources.excel_sheets import scan_excel
from bruit.tables.sources.pandas_columns import from_pandas, read_all
from bruit.tables.sources.queries import scan_query

SUFFIXES = {
    "csv": (".csv", ".tsv", ".txt"),
    "excel": (".xlsx", ".xls", ".xlsb", ".ods", ".xlsm"),
    "parquet": (".parquet",),
}


EXPANSION = {"csv": 8, "excel": 40, "parquet": 24}
"""Bytes that the choice of rows takes for each byte of a file, at most, of tables of few columns."""


@dataclass(frozen=True, eq=False)
class Source:
    """An open table: the `frame` of an `engine`, and the types (`kinds`) of its columns; `read` are encoded already."""

    engine: str
    frame: Any
    kinds: dict[str, Any]
    reading: Reading
    read: frozenset[str] = frozenset()
    passes: int = 1
    """In how many slices of the people it is read, one after another, so that the choice of rows fits in memory."""

    @property
    def dialect(self) -> Dialect:
        """The SQL dialect of the engine."""
        return SPARK if self.engine == "spark" else DUCKDB

    def encode(self, name: str, schema: Schema, *, prefix: str) -> Encoded:
        """The expressions that read a declared column inside the engine."""
        column = schema.columns[name]
        if name in self.read:
            return Encoded({prefix: polars.col(name)}, Field(prefix))
        if self.engine == "polars":
            return encode_polars(name, self.kinds[name], column, self.reading, prefix=prefix)
        return SqlCells(name, self.kinds[name], self.reading, self.dialect).encode(column, prefix=prefix)

    def unread(self, name: str) -> str | None:
        """The SQL of a column's texts as they stand, to be read later by `encode`; None where it holds none."""
        cells = SqlCells(name, self.kinds[name], self.reading, self.dialect)
        return cells.raw_text() if cells.family == "text" else None


def open_source(source: object, schema: Schema, *, connection: object = None, memory: int | None = None) -> Source:
    """Opens a path or folder, a polars, pandas, Arrow, DuckDB or Spark frame, or a database query.

    `memory` states how many bytes the choice of rows of a file may take.
    """
    if memory is None:
        return _opened_source(source, schema, connection)
    if connection is not None or not isinstance(source, str | Path):
        raise InvalidArgument("memory=... is for files: DuckDB and Spark have settings of their own for it")
    size = sum(file.stat().st_size for file in files_of(Path(source), schema.file))
    passes = ceil(size * EXPANSION[schema.file.kind] / whole(memory, "memory", why="bytes", least=2**20))
    return replace(_opened_source(source, schema, connection), passes=max(1, passes))


def _opened_source(source: object, schema: Schema, connection: object) -> Source:
    reading = Reading(schema.file)
    if connection is not None:
        return _checked(_polars(scan_query(source, connection), Reading(schema.file, machine=True)), schema)
    if isinstance(source, str | Path):
        return _checked(_opened(Path(source), schema, reading), schema)
    home = type(source).__module__.split(".")[0]
    if home in ("duckdb", "_duckdb") and hasattr(source, "query"):
        kinds = dict(zip(source.columns, map(str, source.types), strict=True))  # type: ignore[attr-defined]
        return _checked(Source("duckdb", source, kinds, reading), schema)
    if home == "pyspark" and hasattr(source, "sparkSession"):
        return _checked(Source("spark", source, dict(source.dtypes), reading), schema)  # type: ignore[attr-defined]
    if home == "pandas" and hasattr(source, "columns"):
        _require_columns(schema, [str(name) for name in source.columns])
        frame, read = from_pandas(source, schema, reading)
        return _checked(_polars(frame, reading, read), schema)
    if isinstance(source, polars.DataFrame | polars.LazyFrame):
        objects = _read_objects(source, schema, reading) if isinstance(source, polars.DataFrame) else {}
        return _checked(_polars(source.lazy().with_columns(**objects), reading, frozenset(objects)), schema)
    if home == "pyarrow":
        return _checked(_polars(polars.DataFrame(polars.from_arrow(source)).lazy(), reading), schema)
    raise InvalidArgument(
        f"cannot read a table from {type(source).__name__}; give a path, a frame of polars, pandas, pyarrow, DuckDB or "
        "Spark, or a query with connection=engine"
    )


def _polars(frame: polars.LazyFrame, reading: Reading, read: frozenset[str] = frozenset()) -> Source:
    try:
        kinds = dict(frame.collect_schema())
    except Exception:
        raise BadFile("the columns of the table cannot be told: the file was cut, or is of another kind") from None
    return Source("polars", frame, kinds, reading, read)


def _read_objects(frame: polars.DataFrame, schema: Schema, reading: Reading) -> dict[str, polars.Series]:
    """The columns of loose objects, read cell by cell: polars makes one of any column where a cell fits no type."""
    names = [name for name, kind in frame.schema.items() if kind == polars.Object and name in schema.columns]
    return {name: read_all(frame[name].to_list(), schema.columns[name], reading) for name in names}


def _opened(path: Path, schema: Schema, reading: Reading) -> Source:
    facts = schema.file
    files = files_of(path, facts)
    if facts.kind == "csv":
        return _polars(scan_csv(files, facts), reading)
    if facts.kind == "parquet":
        return _polars(polars.scan_parquet(files), reading)
    if len(files) > 1:
        raise InvalidArgument(f"{path} holds several Excel files: give the path of one")
    if any(isinstance(column, Whole) and column.long for column in schema.columns.values()):
        raise InvalidArgument("a cell of an Excel file keeps 15 digits: declare the column whole, or text")
    return _polars(scan_excel(files[0], facts), Reading(facts, machine=True))


def files_of(path: Path, facts: File) -> list[Path]:
    """The file itself, or every file of the declared kind in a folder, sorted by name."""
    if not path.exists():
        raise MissingData(f"{path}: no such file or folder")
    suffixes = SUFFIXES[facts.kind]
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.suffix.lower() in suffixes)
    if not files:
        raise MissingData(f"{path}: no {facts.kind} file in this folder")
    return files


def _checked(source: Source, schema: Schema) -> Source:
    _require_columns(schema, list(source.kinds))
    return source


def _require_columns(schema: Schema, names: list[str]) -> None:
    absent = [name for name in schema.columns if name not in names]
    if absent:
        raise no_column(f"{absent[0]!r}, which the schema declares", names)
    twice = [name for name in schema.columns if f"{name}_duplicated_0" in names]  # as readers call a second one
    if twice:
        raise InvalidArgument(f"several columns are called {twice[0]!r}: give each a name of its own in the file")
