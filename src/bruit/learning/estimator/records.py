"""Encodes rows of arrays and data frames as integers of a public domain; no value of a record raises an error."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import polars
from numpy.typing import NDArray

from bruit.core.names import name_of, number_people
from bruit.core.neighbours import EACH_ROW
from bruit.errors import InvalidArgument
from bruit.tables import Among, Column, Domain, Table, Within, read, read_integers

Domains = Domain | Sequence[Domain] | Mapping[str, Domain]
"""What is public about the columns: one domain for all, one for each in their order, or one for each name."""


def is_frame(data: object) -> bool:
    """Whether the data is a data frame that narwhals knows, with its rows in memory."""
    return isinstance(nw.from_native(data, pass_through=True), nw.DataFrame)


def is_query(data: object) -> bool:
    """Whether the data is a lazy frame or a query of a database engine, whose rows are not yet in memory."""
    return isinstance(nw.from_native(data, pass_through=True), nw.LazyFrame)


def is_series(data: object) -> bool:
    """Whether the data is one column of a data frame that narwhals knows."""
    return isinstance(nw.from_native(data, series_only=True, pass_through=True), nw.Series)


def resolve_domains(domain: Domains, data: Any, columns: int) -> tuple[Domain, ...]:
    """One domain for each column of the data, in the order of the columns."""
    if isinstance(domain, Within | Among):
        return (domain,) * columns
    if isinstance(domain, Mapping):
        if is_frame(data):
            names = [str(name) for name in nw.from_native(data).columns]
            if set(names) != set(domain):
                wrong = sorted(set(names) ^ set(domain))
                raise InvalidArgument(
                    f"domain= and the frame must name the same columns; only one of them has {', '.join(wrong)}"
                )
            return tuple(domain[name] for name in names)
        domain = list(domain.values())
    found = tuple(domain) if isinstance(domain, Sequence) else (domain,)
    if len(found) != columns:
        raise InvalidArgument(f"domain= has {len(found)} columns, X has {columns} features: state one domain for each")
    if not all(isinstance(each, Within | Among) for each in found):
        raise InvalidArgument("domain= holds what bruit.tables.within(...) and bruit.tables.among(...) give")
    return found


def encode_rows(data: Any, domains: Sequence[Domain]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The integer code of every cell, (rows, columns), and a mask of the rows that every domain keeps.

    A cell that its domain drops holds the middle of the bounds, or the first category: a value like any other.
    """
    columns = _columns(data)
    rows = len(columns[0]) if columns else 0
    integers, kept = np.empty((rows, len(domains)), np.int64, order="F"), np.ones(rows, bool)
    for j, (column, domain) in enumerate(zip(columns, domains, strict=True)):
        found, present = _encode(column, domain)
        integers[:, j] = np.where(present, found, neutral(domain))
        kept &= present
    return integers, kept


def neutral(domain: Domain) -> int:
    """The integer that replaces a dropped value where a row must have one."""
    return (domain.lowest + domain.highest) // 2 if isinstance(domain, Within) else 0


def encode_classes(labels: Any, classes: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The index of each label among the public classes, and a mask of the rows whose label is a class."""
    values = as_array(labels)
    if values.dtype.kind in "biuf" and classes.dtype.kind in "biuf":
        order = np.argsort(classes)
        found = order[np.clip(np.searchsorted(classes[order], values), 0, len(classes) - 1)]
        return found.astype(np.int64), np.asarray(classes[found] == values)
    places: dict[Any, int] = {label: i for i, label in enumerate(classes.tolist())}
    found = np.array([_place(each, places) for each in values.tolist()], np.int64)
    return np.maximum(found, 0), found >= 0


def _place(label: Any, places: Mapping[Any, int]) -> int:
    try:
        return places.get(label, -1)
    except Exception:  # a label that cannot be looked up: a list, or an object whose comparison fails
        return -1


def encode_target(values: Any, domain: Within) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The grid integer of each target, and a mask of the rows that have one."""
    return _encode(as_array(values), domain)


def choose_rows(groups: Any, most: int, *, rng: np.random.Generator) -> NDArray[np.bool_]:
    """A mask of the rows that count, at most `most` per person at random; rows without a person do not count.

    Every row draws a number and a person keeps the rows of the least: what a person contributes depends on that
    person's rows and draws alone.                                               [docs/rules.md, rule 6]
    """
    codes = person_numbers(groups)
    named = codes >= 0
    order = np.lexsort((rng.integers(2**63, size=len(codes)), codes, ~named))
    codes = codes[order]
    first = np.flatnonzero(np.diff(codes, prepend=-2))
    place = np.arange(len(codes)) - np.repeat(first, np.diff(first, append=len(codes)))
    kept = np.zeros(len(codes), bool)
    kept[order] = place < most
    return np.asarray(kept & named)


def as_array(values: Any) -> NDArray[Any]:
    """One column of labels, targets or people as an array, from any series or list."""
    series = nw.from_native(values, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        # NumPy would make floats of all whole numbers where one is missing: two large ones would become one. It has
        # none of 128 bits, which polars takes for a column where one number is beyond 64.
        lossy = series.dtype in (nw.Int128, nw.UInt128) or (series.dtype.is_integer() and series.null_count() > 0)
        values = series.to_list() if lossy else series.to_numpy()
    if hasattr(values, "__array__"):
        return np.asarray(values).reshape(-1)
    return np.fromiter(values, object)


def as_rows(data: Any) -> NDArray[Any]:
    """A two-dimensional array of data that is no frame; list cells keep their types, whatever other cells hold.

    NumPy would make texts of all numbers where one cell is a text, and of all labels where one label is.
    """
    if hasattr(data, "__array__"):
        return np.asarray(data)
    rows = [row.tolist() if isinstance(row, np.ndarray) else row for row in data]
    if not all(isinstance(row, Sequence) and not isinstance(row, str) for row in rows):
        return np.fromiter(rows, object)
    width = len(rows[0]) if rows else 0
    if any(len(row) != width for row in rows):
        raise InvalidArgument("X must hold rows of one length: every row has one cell for each column")
    return np.fromiter((cell for row in rows for cell in row), object).reshape(len(rows), width)


def person_numbers(groups: Any) -> NDArray[np.int64]:
    """A number for each person in order of appearance, -1 for a missing name; names are compared exactly.

    A whole number is named without a fraction, so that 1.0 is the person 1.
    """
    return number_people(as_array(groups).tolist())


def _columns(data: Any) -> list[Any]:
    """The columns of a frame as narrow tables, those of an array as arrays."""
    if is_frame(data):
        table = read(data, person=EACH_ROW)
        return [_Series(table, name, len(data)) for name in table.columns]
    rows = as_rows(data)
    return [rows[:, j] for j in range(rows.shape[1])]


class _Series:
    """One column of a frame."""

    def __init__(self, table: Table, name: str, rows: int) -> None:
        self.table, self.name, self.rows = table, name, rows

    def __len__(self) -> int:
        return self.rows

    def encoded(self, domain: Domain) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        values: polars.LazyFrame = self.table.frame.select(self.name)
        if isinstance(domain, Among) and values.collect_schema()[self.name].is_float():
            return _encode(values.collect().to_series().to_numpy(), domain)
        found = read_integers(self.table, [Column(self.table, self.name, domain)])["integer 0"]
        return found.fill_null(0).to_numpy(), found.is_not_null().to_numpy()


def _encode(column: Any, domain: Domain) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    if isinstance(column, _Series):
        return column.encoded(domain)
    if isinstance(domain, Within):
        return domain.encode_values(_numbers(column))
    names, places = _categories(column)
    codes, kept = domain.encode_values(np.array(names, object))
    return codes[places], kept[places]


def _categories(column: NDArray[Any]) -> tuple[list[str], NDArray[np.int64]]:
    """The names of the categories that occur, and which of them each cell has: a text is read once, however frequent.

    Only texts and numbers of one type are compared with each other: 1, 1.0 and True are equal and not one category.
    """
    if column.dtype.kind in "biuf":
        values, places = np.unique(column, return_inverse=True)
        return [_category(value) for value in values.tolist()], places.astype(np.int64)
    cells = [cell if type(cell) is str else _category(cell) for cell in column.tolist()]
    texts = {cell: place for place, cell in enumerate(dict.fromkeys(cells))}
    return [_category(cell) for cell in texts], np.fromiter(map(texts.__getitem__, cells), np.int64, len(cells))


def _numbers(column: NDArray[Any]) -> NDArray[np.float64]:
    """The cells as floats; NaN for what Python's `float` refuses."""
    if column.dtype.kind in "biuf":
        return column.astype(np.float64)
    return np.array([_number(value) for value in column.tolist()], np.float64)


def _number(value: Any) -> float:
    try:
        return float(value)
    except Exception:  # whatever an object's own conversion raises
        return np.nan


def _category(value: Any) -> str:
    """The name of a category; empty where the cell is missing."""
    return name_of(value) or ""
