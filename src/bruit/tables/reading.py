"""Opening a table from whatever holds it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import narwhals as nw
import polars

from bruit.errors import InvalidArgument, MissingData
from bruit.privacy import EACH_ROW
from bruit.tables.table import Table, require_column
from bruit.tables.total import from_pandas, require_whole


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
    if nw.dependencies.is_pandas_dataframe(source):
        return nw.from_native(from_pandas(source).lazy())
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
    if path.suffix.lower() in {".csv", ".tsv"}:
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        require_whole(path, separator)
        return polars.scan_csv(
            path, infer_schema=False, separator=separator, truncate_ragged_lines=True, encoding="utf8-lossy"
        )
    return polars.scan_parquet(path if path.is_file() else path / "**" / "*.parquet")
