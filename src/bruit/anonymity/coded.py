"""Columns as small integer codes, so that rows can be compared by one number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.anonymity._kernels import tally
from bruit.core.names import text
from bruit.core.neighbours import EACH_ROW
from bruit.tables import Table, read
from bruit.tables.column_names import no_column

LARGEST_KEY = 2**62
NARROW = 1 << 16
"""Whole numbers that span at most so much are numbered from the smallest, without sorting."""

SHORT = (
    *(polars.Int8, polars.Int16, polars.Int32, polars.Int64),
    *(polars.UInt8, polars.UInt16, polars.UInt32),
)
"""Whole numbers that 64 bits hold with their sign."""

NO_WEIGHTS = np.zeros(0, np.int64)
NO_NUMBERS = np.zeros(0, np.int32)
EVERY = 2**62


@dataclass(frozen=True)
class Coded:
    """A column whose value in row i is labels[codes[i]]; a missing value has a label of its own, None."""

    name: str
    codes: NDArray[Any]
    labels: polars.Series

    @property
    def size(self) -> int:
        """How many labels there are."""
        return len(self.labels)

    @cached_property
    def texts(self) -> list[str]:
        """The labels as people read them."""
        return ["missing" if value is None else str(value) for value in self.labels.to_list()]

    @cached_property
    def numbers(self) -> NDArray[np.float64] | None:
        """The labels as numbers, NaN for a missing one; None where a label is not a number."""
        if self.labels.dtype == polars.String:
            parsed = self.labels.str.strip_chars().cast(polars.Float64, strict=False)
        elif self.labels.dtype.is_numeric():
            parsed = self.labels.cast(polars.Float64)
        else:
            return None
        if parsed.null_count() > self.labels.null_count() or parsed.null_count() == len(parsed):
            return None
        return np.array(parsed.to_numpy(), np.float64)

    def ordered(self) -> Coded:
        """The column with its labels sorted: by value where all are numbers, else as texts; missing last."""
        keys = self.numbers if self.numbers is not None else self.labels.cast(polars.String).rank("ordinal").to_numpy()
        order = np.argsort(keys, kind="stable")
        place = np.empty(self.size, np.int64)
        place[order] = np.arange(self.size)
        return Coded(self.name, narrow(place, self.size)[self.codes], self.labels[order])


def frame_of(table: object, columns: Sequence[str] | None = None) -> polars.DataFrame:
    """The named columns of a table, as a polars frame; takes anything that `tables.read` reads."""
    read_table = table if isinstance(table, Table) else read(table, person=EACH_ROW)
    names = list(read_table.columns) if columns is None else list(columns)
    missing = [name for name in names if name not in read_table.columns]
    if missing:
        raise no_column(", ".join(missing), read_table.columns)
    return read_table.opened.collect(names) if names else polars.DataFrame()


def encode_column(series: polars.Series) -> Coded:
    """Encodes a column of any type as integer codes; the order of the labels has no meaning."""
    series = _simplify(series)
    if series.dtype.is_integer() and series.null_count() == 0 and len(series):
        low, high = int(series.min()), int(series.max())  # type: ignore[arg-type]
        if high - low < NARROW:
            return _narrow(series, low, high)
    if series.dtype.is_numeric():
        return _numeric(series)
    if series.dtype in (polars.Categorical, polars.Enum):
        return _categories(series)
    return _text(series)


def _simplify(series: polars.Series) -> polars.Series:
    """The column as numbers of 64 bits, texts or categories: longer numbers as their digits, rarer types as texts."""
    kind = series.dtype
    if kind == polars.Duration:
        return series.to_physical()
    if kind == polars.Boolean or kind.is_temporal() or kind.is_decimal():
        return series.cast(polars.String, strict=False)
    if kind.is_integer() and kind not in SHORT:
        whole = series.cast(polars.Int64, strict=False)
        return whole if whole.null_count() == series.null_count() else series.cast(polars.String)
    if kind.is_numeric() or kind in (polars.String, polars.Categorical, polars.Enum):
        return series
    return polars.Series(series.name, list(map(text, series.to_list())), dtype=polars.String)


def _narrow(series: polars.Series, low: int, high: int) -> Coded:
    codes = narrow((series - low).to_numpy(), high - low + 1)
    present = np.flatnonzero(np.bincount(codes, minlength=high - low + 1))
    if present.size < high - low + 1:
        place = np.zeros(high - low + 1, np.int64)
        place[present] = np.arange(present.size)
        codes = narrow(place, present.size)[codes]
    return Coded(series.name, codes, polars.Series(present + low, dtype=polars.Int64))


def _numeric(series: polars.Series) -> Coded:
    series = series.fill_nan(None) if series.dtype.is_float() else series
    values, places = np.unique(series.drop_nulls().to_numpy(), return_inverse=True)
    labels = polars.Series(values)
    codes = np.full(len(series), len(values))
    codes[series.is_not_null().to_numpy()] = places
    if series.null_count():
        labels = labels.append(polars.Series([None], dtype=labels.dtype))
    return Coded(series.name, narrow(codes, len(labels)), labels)


def _text(series: polars.Series) -> Coded:
    """Codes of texts by a 63-bit hash, checked against the texts themselves; a collision takes the slow way."""
    texts = series.cast(polars.String)
    numbers = np.empty(len(texts), np.int32)
    values, _, _ = tally((texts.hash().to_numpy() >> np.uint64(1)).view(np.int64), NO_WEIGHTS, numbers, EVERY)
    first = np.flatnonzero(np.diff(np.maximum.accumulate(numbers), prepend=-1))
    labels = texts.gather(first)
    if len(values) < len(texts) and not labels.gather(numbers).eq_missing(texts).all():
        labels = texts.unique()
        numbers = texts.replace_strict(labels, np.arange(len(labels)), return_dtype=polars.Int32).to_numpy()
    return Coded(series.name, narrow(numbers, len(labels)), labels)


def _categories(series: polars.Series) -> Coded:
    """The numbers that polars keeps itself, without those that do not occur."""
    present = series.unique().drop_nulls()
    used = present.to_physical().to_numpy().astype(np.int64)
    labels = present.cast(polars.String)
    place = np.zeros(int(used.max(initial=-1)) + 2, np.int64)
    place[used] = np.arange(len(used))
    places = series.to_physical()
    if series.null_count():
        place[-1] = len(labels)
        places = places.cast(polars.Int64).fill_null(len(place) - 1)
        labels = labels.append(polars.Series([None], dtype=polars.String))
    return Coded(series.name, narrow(place, len(labels))[places.to_numpy()], labels)


def narrow(codes: NDArray[Any], size: int) -> NDArray[Any]:
    """Converts codes below `size` to the narrowest integer type."""
    return codes.astype(np.uint8 if size <= 2**8 else np.uint16 if size <= 2**16 else np.int32, copy=False)


def join_columns(columns: Sequence[Coded], rows: int, *, room: int = 1) -> NDArray[np.int64]:
    """One integer per row, equal for two rows exactly if all columns agree, and below 2^62 / room."""
    return join_codes([(column.codes, column.size) for column in columns], rows, room=room)


def join_codes(parts: Sequence[tuple[NDArray[Any], int]], rows: int, *, room: int = 1) -> NDArray[np.int64]:
    """One integer per row, equal for two rows exactly if all codes agree; `parts` are (codes, number of labels)."""
    keys = np.zeros(rows, np.int64)
    size = 1
    for codes, labels in parts:
        if size * labels * room >= LARGEST_KEY:
            keys, size = _renumber(keys)
        keys *= labels
        keys += codes
        size *= labels
    return _renumber(keys)[0] if size * room >= LARGEST_KEY else keys


def _renumber(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    numbers = np.empty(len(keys), np.int32)
    values, _, _ = tally(keys, NO_WEIGHTS, numbers, EVERY)
    return numbers.astype(np.int64), len(values)


def count_keys(keys: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The distinct keys in rising order and how often each occurs."""
    values, counts, _ = tally(keys, NO_WEIGHTS, NO_NUMBERS, EVERY)
    order = np.argsort(values)
    return values[order], counts[order]
