"""Total conversions: whatever a record holds, reading it raises nothing and shows nothing."""

from __future__ import annotations

import math
from typing import Any

import narwhals as nw
import polars

from bruit.errors import StorageError

MISSING = {"NAType", "NaTType"}
"""What pandas calls its own missing values, told by name so that pandas need not be installed."""


def from_pandas(frame: Any, *, person: str) -> polars.DataFrame:
    """A pandas frame as polars; a column of Python objects becomes text, whatever mixture of types it holds.

    People named by numbers are whole numbers again: one row that names nobody makes pandas hold them as fractions.
    """
    columns = {str(name): _column(frame[name]) for name in frame.columns}
    if person in columns and columns[person].dtype.is_float():
        named = columns[person]
        columns[person] = named.set(named != named.floor(), None).cast(polars.Int64, strict=False)
    return polars.DataFrame(columns)


def collected(frame: nw.LazyFrame[Any]) -> polars.DataFrame:
    """The rows of a lazy frame; where the engine fails, its message is withheld because it may show a record."""
    streaming = {"engine": "streaming"} if isinstance(frame.to_native(), polars.LazyFrame) else {}
    try:
        return frame.collect("polars", **streaming).to_polars()
    except Exception:
        raise StorageError(
            "the engine failed while it read the table; its own message may show records and is withheld. "
            "As the curator, run the same query in the engine to see it"
        ) from None


def _column(series: Any) -> polars.Series:
    if series.dtype.kind in "biufM" and not hasattr(series.dtype, "categories"):
        return polars.Series(series.to_numpy())
    return polars.Series([text(value) for value in series], dtype=polars.String)


def text(value: object) -> str | None:
    """The text of any object, None where it is missing or has none: an object's own may fail, or be too long."""
    if value is None or (isinstance(value, float) and math.isnan(value)) or type(value).__name__ in MISSING:
        return None
    try:
        return str(value).encode("utf-8", "replace").decode()
    except Exception:
        return None
