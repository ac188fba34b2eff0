"""A column of short texts as bytes, from any container."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bruit.codes.check_digits import _kernels as kernels
from bruit.codes.word import read_only
from bruit.errors import InvalidArgument


def _nowhere() -> NDArray[np.int64]:
    return np.zeros(0, np.int64)


@dataclass(frozen=True)
class Column:
    """Texts as bytes: value i is text[starts[i]:stops[i]], or all values have `width` bytes and are contiguous."""

    text: NDArray[np.uint8]
    size: int
    width: int = 0
    starts: NDArray[np.int64] = field(default_factory=_nowhere)
    stops: NDArray[np.int64] = field(default_factory=_nowhere)

    def ask(self, kernel: Callable[..., None], unknown: int, kind: type, *terms: Any) -> NDArray[Any]:
        """Runs a kernel on each value; values it cannot read (`unknown`) are retried without separators."""
        answers = self._run(kernel, kind, terms)
        unread = np.flatnonzero(answers == unknown)
        if unread.size:
            answers[unread] = self.compacted(unread)._run(kernel, kind, terms)
        return answers

    def _run(self, kernel: Callable[..., None], kind: type, terms: tuple[Any, ...]) -> NDArray[Any]:
        answers: NDArray[Any] = np.empty(self.size, kind)
        kernel(read_only(self.text), read_only(self.starts), read_only(self.stops), self.width, *terms, answers)
        return answers

    def compacted(self, chosen: NDArray[np.int64]) -> "Column":
        """The chosen values without spaces, hyphens and dots, in capitals."""
        starts = chosen * self.width if self.width else self.starts[chosen]
        stops = starts + self.width if self.width else self.stops[chosen]
        clean = np.empty(int((stops - starts).sum()), np.uint8)
        clean_starts, clean_stops = np.empty_like(starts), np.empty_like(stops)
        kernels.compact(read_only(self.text), starts, stops, clean, clean_starts, clean_stops)
        return Column(clean, chosen.size, 0, clean_starts, clean_stops)


def column(values: Any) -> Column:
    """A `Column` from a text, a sequence of texts, a NumPy array (bytes, text, one byte a character) or a series."""
    if isinstance(values, str | bytes):
        return _from_texts([values])
    if isinstance(values, pl.Series):
        return _from_series(values)
    if isinstance(values, np.ndarray) and values.dtype.kind in "Su":
        return _from_bytes(values)
    if hasattr(values, "__iter__") and not (isinstance(values, np.ndarray) and values.ndim == 0):
        return _from_texts(list(values))
    raise InvalidArgument(
        f"{type(values).__name__} is no column of texts; give a str, a list, a NumPy array or a series"
    )


def _from_texts(values: list[Any]) -> Column:
    strange = next((value for value in values if not isinstance(value, str | bytes | None)), None)
    if strange is not None:
        raise InvalidArgument(f"{type(strange).__name__} is no text; write numbers with check digits as text")
    pieces = [value.encode() if isinstance(value, str) else value or b"" for value in values]
    stops = np.cumsum([len(piece) for piece in pieces], dtype=np.int64)
    starts = np.concatenate([np.zeros(1, np.int64), stops[:-1]]) if pieces else stops
    return Column(np.frombuffer(b"".join(pieces), np.uint8), len(pieces), 0, starts, stops)


def _from_bytes(values: NDArray[Any]) -> Column:
    """An array of bytes objects, or a matrix with one character code per cell and one value per row."""
    if values.dtype == np.uint8 and values.ndim == 2:
        return Column(np.ascontiguousarray(values).reshape(-1), values.shape[0], values.shape[1])
    if values.dtype.kind != "S" or values.ndim != 1:
        raise InvalidArgument(
            f"an array of {values.dtype} with {values.ndim} axes is no column of texts; "
            "give an array of bytes, or a uint8 matrix with one character per cell"
        )
    width = values.dtype.itemsize
    text = np.ascontiguousarray(values).view(np.uint8)
    if text.reshape(-1, width)[:, -1].all():
        return Column(text, values.size, width)
    starts = np.arange(values.size, dtype=np.int64) * width
    return Column(text, values.size, 0, starts, starts + np.char.str_len(values))


def _from_series(values: pl.Series) -> Column:
    """The Arrow buffers of a series of texts; without pyarrow, polars joins the texts and counts their bytes."""
    if values.dtype not in (pl.String, pl.Categorical, pl.Enum):
        raise InvalidArgument(f"a series of {values.dtype} holds no texts; cast it to String, leading zeros included")
    series = values.cast(pl.String)
    try:
        array = series.rechunk().to_arrow(compat_level=pl.CompatLevel.oldest())
    except ModuleNotFoundError:
        lengths = series.str.len_bytes().fill_null(0).to_numpy()
        joined = np.frombuffer((series.str.join("").item() or "").encode(), np.uint8)
        return _column_of_offsets(joined, np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]))
    _, offsets, data = array.buffers()
    if data is None or not len(series):
        return _column_of_offsets(np.zeros(0, np.uint8), np.zeros(len(series) + 1, np.int64))
    places = np.frombuffer(offsets, np.int64)[array.offset : array.offset + len(array) + 1]
    return _column_of_offsets(np.frombuffer(data, np.uint8), places)


def _column_of_offsets(text: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Column:
    """Values between offsets; texts of one length are seen as such, which is faster."""
    size = offsets.size - 1
    width = int(offsets[1] - offsets[0]) if size else 0
    if width and int(offsets[-1] - offsets[0]) == width * size and bool((np.diff(offsets) == width).all()):
        return Column(text[offsets[0] :], size, width)
    return Column(text, size, 0, offsets[:-1], offsets[1:])
