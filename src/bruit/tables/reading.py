"""Opening a table from whatever holds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals as nw
import polars

from bruit.errors import BadFile, InvalidArgument, MissingData
from bruit.privacy import EACH_ROW
from bruit.tables.lines import first_line, scan_lines
from bruit.tables.querying import from_query
from bruit.tables.table import Table, require_column, require_columns
from bruit.tables.total import from_pandas

SEPARATORS = {".csv": ",", ".tsv": "\t"}
KINDS = {*SEPARATORS, ".parquet"}


def read(source: object, *, person: str, connection: object = None) -> Table:
    """A table from a CSV or Parquet path or folder, or from a frame of polars, pandas, pyarrow, DuckDB or Spark.

    With `connection`, a SQLAlchemy engine, the source is a query of its database.
    `person` is the column that says whose row it is, or EACH_ROW where every row is another person.
    Columns of a CSV file are texts until a domain says otherwise: guessing types would read the data.

    >>> import bruit, polars
    >>> visits = bruit.tables.read(polars.DataFrame({"id": [7, 7, 8], "age": [31, 31, 140]}), person="id")
    >>> age = visits.limit(rows=1)["age"].within(0, 120, grid=1)  # one row a person; 140 counts as 120
    >>> age.numbers.size
    121
    """
    if not isinstance(person, str):
        raise InvalidArgument(f"person={person!r}: name the column that says whose row it is, or give bruit.EACH_ROW")
    frame = _frame(source, person) if connection is None else nw.from_native(from_query(source, connection))
    table = Table(frame, person)
    require_columns(table)
    if person != EACH_ROW:
        kind = table.columns[require_column(table, person)]
        if not (kind.is_integer() or kind in (nw.String, nw.Categorical, nw.Enum)):
            raise InvalidArgument(f"person={person!r} holds {kind}; whole numbers or texts name people")
    return table


def _frame(source: object, person: str) -> nw.LazyFrame[Any]:
    if isinstance(source, str | Path):
        return nw.from_native(_scan(Path(source)))
    if nw.dependencies.is_pandas_dataframe(source):
        return nw.from_native(from_pandas(source, person=person).lazy())
    try:
        frame = nw.from_native(source)  # type: ignore[call-overload]
    except TypeError as error:
        raise InvalidArgument(
            f"cannot read a table from {type(source).__name__}; "
            "give a path, or a frame of polars, pandas, pyarrow, DuckDB or Spark"
        ) from error
    return frame if isinstance(frame, nw.LazyFrame) else nw.from_native(frame.to_polars().lazy())


def _scan(path: Path) -> polars.LazyFrame:
    if not path.exists():
        raise MissingData(f"{path}: no such file or folder")
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.suffix.lower() in KINDS)
    kinds = {file.suffix.lower() for file in files}
    if not files:
        raise MissingData(f"{path}: no CSV or Parquet file in this folder")
    if len(kinds) > 1:
        raise InvalidArgument(f"{path} holds files of several kinds, {', '.join(sorted(kinds))}: keep them apart")
    separator = SEPARATORS.get(kinds.pop())
    columns = [_columns(file) if separator is None else first_line(file) for file in files]
    if any(each != columns[0] for each in columns):
        raise BadFile(f"{path}: the files do not have the same columns in the same order")
    return polars.scan_parquet(files) if separator is None else scan_lines(files, separator)


def _columns(file: Path) -> dict[str, Any]:
    """The columns of a Parquet file, from its footer: one that was cut has none."""
    try:
        return dict(polars.read_parquet_schema(file))
    except Exception:
        raise BadFile(
            f"{file}: not a whole Parquet file; it was cut, or is of another kind (a CSV file ends in .csv)"
        ) from None
