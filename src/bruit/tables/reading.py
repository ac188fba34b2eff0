"""Opening a table from whatever holds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals as nw
import polars

from bruit.errors import InvalidArgument, MissingData
from bruit.privacy import EACH_ROW
from bruit.tables.table import Table, require_column


def read(source: object, *, person: str) -> Table:
    """A table from a CSV or Parquet path or folder, or from a frame of polars, pandas, pyarrow, DuckDB or Spark.

    `person` is the column that says whose row it is, or EACH_ROW where every row is another person.
    Columns of a CSV file are texts until a domain says otherwise: guessing types would read the data.
    """
    if not isinstance(person, str):
        raise InvalidArgument(f"person={person!r}: name the column that says whose row it is, or give bruit.EACH_ROW")
    table = Table(_frame(source), person)
    if person != EACH_ROW:
        kind = table.columns[require_column(table, person)]
        if not (kind.is_integer() or kind in (nw.String, nw.Categorical, nw.Enum)):
            raise InvalidArgument(f"person={person!r} holds {kind}; whole numbers or texts name people")
    return table


def _frame(source: object) -> nw.LazyFrame[Any]:
    if isinstance(source, str | Path):
        return nw.from_native(_scan(Path(source)))
    try:
        frame = nw.from_native(source)  # type: ignore[call-overload]
    except TypeError as error:
        raise InvalidArgument(
            f"cannot read a table from {type(source).__name__}; "
            "give a path, or a frame of polars, pandas, pyarrow, DuckDB or Spark"
        ) from error
    if isinstance(frame, nw.LazyFrame):
        return frame
    return nw.from_native(_as_polars(frame).lazy())


def _scan(path: Path) -> polars.LazyFrame:
    if not path.exists():
        raise MissingData(f"{path}: no such file or folder")
    pattern = path if path.is_file() else path / "**" / "*.parquet"
    if path.suffix.lower() in {".csv", ".tsv"}:
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        return polars.scan_csv(path, infer_schema=False, separator=separator, truncate_ragged_lines=True)
    return polars.scan_parquet(pattern)


def _as_polars(frame: nw.DataFrame[Any]) -> polars.DataFrame:
    """A frame in memory as polars; a column of Python objects becomes text, so that no mixture of types is an error."""
    objects = [name for name, kind in frame.schema.items() if kind == nw.Object]
    if not objects:
        return frame.to_polars()
    native = frame.to_native().copy()
    for name in objects:
        native[name] = [None if value is None or value != value else str(value) for value in native[name]]
    return polars.from_pandas(native)
