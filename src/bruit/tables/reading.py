"""Opens a table from a file, a folder, a frame or a query."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars

from bruit.core.neighbours import EACH_ROW
from bruit.errors import BadFile, InvalidArgument, MissingData
from bruit.tables.cells.sql_cells import family_of
from bruit.tables.cells.texts import Reading
from bruit.tables.column_names import no_column
from bruit.tables.expressions.to_sql import DUCKDB, SPARK
from bruit.tables.opened import Opened
from bruit.tables.schema.columns import Text, Whole
from bruit.tables.schema.files import File
from bruit.tables.sources.csv_lines import scan_csv
from bruit.tables.sources.excel_sheets import scan_excel
from bruit.tables.sources.opening import SUFFIXES
from bruit.tables.sources.queries import scan_query
from bruit.tables.table import Table

FACTS = {
    ".csv": File(),
    ".tsv": File(separator="\t"),
    ".parquet": File(kind="parquet"),
    **{suffix: File(kind="excel") for suffix in SUFFIXES["excel"]},
}
"""How a file is written whose exporter nobody described, by the end of its name."""

KINDS = {".csv", ".tsv", ".parquet"}
"""The files of a folder that are read."""


def read(
    source: object,
    *,
    person: str,
    named: Text | Whole | None = None,
    file: File | None = None,
    connection: object = None,
) -> Table:
    """Opens a table: a path or folder, a polars, pandas, pyarrow, DuckDB or Spark frame, or a query.

    `person` is the column that says whose row it is, or EACH_ROW where every row is another person. It holds whole
    numbers where the source states so by its type, and texts elsewhere, or what `named` says: `text()`, `whole()` or
    `long()` of `bruit.tables.schema`. `file` says how a file is written where it is not plain, as in
    `file=bruit.tables.schema.csv(separator=";", decimal=",")`. With `connection`, a SQLAlchemy engine, the source is a
    query of its database. No cell is read before a budget was charged, and each is read by itself.

    >>> import bruit, polars
    >>> visits = bruit.tables.read(polars.DataFrame({"id": [7, 7, 8], "age": [31, 31, 140]}), person="id")
    >>> age = visits.limit(rows=1)["age"].within(0, 120, grid=1)  # one row a person; 140 counts as 120
    >>> age.numbers.size
    121
    """
    if not isinstance(person, str):
        raise InvalidArgument(f"person={person!r}: name the column that says whose row it is, or give bruit.EACH_ROW")
    opened = _opened(source, file, connection)
    if not opened.kinds:
        raise BadFile("the table has no columns")
    if EACH_ROW in opened.kinds:
        raise InvalidArgument(
            f"the table has a column named {EACH_ROW!r}, which as person= would mean that every row is a person of its "
            "own: give the column another name"
        )
    if person == EACH_ROW:
        return Table(opened, person, None)
    if person not in opened.kinds:
        raise no_column(repr(person), opened.kinds)
    return Table(opened, person, _named(opened, person, named))


def _named(opened: Opened, person: str, stated: Text | Whole | None) -> Text | Whole:
    """How people are named: as stated, or by the type that a source gives its columns whatever they hold.

    The type of NumPy's columns of pandas depends on their records: there numbers are read as the texts of their values.
    """
    if stated is not None and not isinstance(stated, Text | Whole):
        raise InvalidArgument(f"named={stated!r}: people are named by text(), whole() or long() of bruit.tables.schema")
    if stated is not None:
        return stated
    kind = opened.kinds[person]
    if opened.engine == "pandas":
        whole = type(kind).__module__.startswith("pandas") and getattr(kind, "kind", "") in "iu"
    elif opened.engine == "polars":
        whole = kind.is_integer()
    else:
        whole = family_of(kind, SPARK if opened.engine == "spark" else DUCKDB) == "whole"
    return Whole(long=True) if whole else Text()


def _opened(source: object, file: File | None, connection: object) -> Opened:
    reading = Reading(file or File())
    if connection is not None:
        return _lazy(scan_query(source, connection), Reading(reading.file, machine=True))
    if isinstance(source, str | Path):
        return _file(Path(source), file)
    home = type(source).__module__.split(".")[0]
    if isinstance(source, polars.DataFrame | polars.LazyFrame):
        return _lazy(source.lazy(), reading)
    if home in ("duckdb", "_duckdb") and hasattr(source, "query"):
        kinds = dict(zip(source.columns, map(str, source.types), strict=True))  # type: ignore[attr-defined]
        return Opened("duckdb", source, kinds, reading)
    if home == "pyspark" and hasattr(source, "sparkSession"):
        return Opened("spark", source, dict(source.dtypes), reading)  # type: ignore[attr-defined]
    if home == "pandas" and hasattr(source, "dtypes"):
        return Opened("pandas", source, _pandas_kinds(source), reading)
    if home == "pyarrow" and hasattr(source, "schema"):
        return _lazy(polars.DataFrame(polars.from_arrow(source)).lazy(), reading)
    raise InvalidArgument(
        f"cannot read a table from {type(source).__name__}; give a path, or a frame of polars, pandas, pyarrow, DuckDB "
        "or Spark"
    )


def _pandas_kinds(frame: Any) -> Mapping[str, Any]:
    names = [str(name) for name in frame.columns]
    if len(set(names)) < len(names):
        raise InvalidArgument(f"the frame names a column twice: {', '.join(names)}; give each a name of its own")
    return dict(zip(names, frame.dtypes, strict=True))


def _lazy(frame: polars.LazyFrame, reading: Reading) -> Opened:
    try:
        return Opened("polars", frame, dict(frame.collect_schema()), reading)
    except Exception:
        raise BadFile("the columns of the table cannot be read: the file was cut, or is of another kind") from None


def _file(path: Path, file: File | None) -> Opened:
    if not path.exists():
        raise MissingData(f"{path}: no such file or folder")
    ends = KINDS if file is None else set(SUFFIXES[file.kind])
    files = [path] if path.is_file() else sorted(each for each in path.rglob("*") if each.suffix.lower() in ends)
    if not files:
        raise MissingData(f"{path}: no CSV or Parquet file in this folder")
    kinds = sorted({each.suffix.lower() for each in files})
    if len(kinds) > 1:
        raise InvalidArgument(f"{path} holds files of several kinds, {', '.join(kinds)}: keep them apart")
    facts = file or FACTS.get(kinds[0], File(kind="parquet"))
    if facts.kind == "excel":
        return _lazy(scan_excel(files[0], facts), Reading(facts, machine=True))
    if facts.kind == "csv":
        return _lazy(scan_csv(files, facts), Reading(facts))
    if any(_footer(each) != _footer(files[0]) for each in files):
        raise BadFile(f"{path}: the files do not have the same columns in the same order")
    return _lazy(polars.scan_parquet(files), Reading(facts))


def _footer(file: Path) -> dict[str, Any]:
    """The columns of a Parquet file, from its end: one that was cut has none."""
    try:
        return dict(polars.read_parquet_schema(file))
    except Exception:
        raise BadFile(
            f"{file}: not a whole Parquet file; it was cut, or is of another kind (a CSV file ends in .csv)"
        ) from None
