"""Reads a table's rows as cells, a bounded number per person; private, never published."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.errors import InvalidArgument
from bruit.privacy import EACH_ROW
from bruit.randomness import uniform_below
from bruit.synthetic.coding import CodedColumn
from bruit.synthetic.marginals import Columns
from bruit.tables import Column, Table, read_integers
from bruit.tables.choice.limits import Limit

MODULUS: Final = 2**31 - 1
"""A prime below 2^31: a product of two residues stays within 64 bits; 5 does not divide it less one."""


@dataclass(frozen=True)
class CodedRows:
    """The cells of the rows that count (one array row per column), and the person of each row."""

    columns: Columns
    person: polars.Series | None


@dataclass(frozen=True)
class TableRows:
    """The rows of a table with declared columns; checked at once, read only after the charge."""

    table: Table
    coded: tuple[CodedColumn, ...]

    def __post_init__(self) -> None:
        require_readable(self.table, self.coded)

    @property
    def person(self) -> str:
        """The column that names the person, or EACH_ROW."""
        return self.table.person

    @property
    def most(self) -> int:
        """The largest number of rows of one person that count."""
        return self.table.most_rows

    @property
    def whose(self) -> str:
        """How much of one person counts, in words that follow the columns."""
        return "" if self.person == EACH_ROW else f", of {Limit(rows=self.most)}"

    @property
    def tables(self) -> list[dict[str, object]]:
        """The public facts of the tables that are read; this one has none but its columns."""
        return []

    def read(self, rng: np.random.Generator) -> CodedRows:
        """The cells of the rows that count."""
        return read_cells(self.table, self.coded, rows=self.most, rng=rng)


def require_readable(table: Table, coded: Sequence[CodedColumn]) -> None:
    """Refuses a schema that does not fit the table, before anything is charged."""
    if table.person in (each.name for each in coded):
        raise InvalidArgument(f"{table.person!r} says whose row it is: nobody is to be named, leave it out")
    _columns(table, coded)


def read_cells(table: Table, coded: Sequence[CodedColumn], *, rows: int, rng: np.random.Generator) -> CodedRows:
    """At most `rows` rows of each person, as cells; rows without a person are left out."""
    frame = read_integers(table, _columns(table, coded), codes=[each.code for each in coded])
    cells = np.empty((len(coded), len(frame)), np.uint8)
    for i, each in enumerate(coded):
        cells[i] = each.place(frame[f"integer {i}"].to_numpy())
    if table.person == EACH_ROW:
        return CodedRows(cells, None)
    number = frame["person"].rank("dense").to_numpy().astype(np.int64)
    name = (frame["person"].cast(polars.String).hash(seed=0) % MODULUS).to_numpy().astype(np.int64)
    kept = choose_rows(number, name, cells, rows=rows, rng=rng)
    return CodedRows(np.ascontiguousarray(cells[:, kept]), frame["person"].gather(kept))


def _columns(table: Table, coded: Sequence[CodedColumn]) -> list[Column]:
    return [Column(table, table[each.name].name, each.domain) for each in coded]


def choose_rows(
    number: NDArray[np.int64], name: NDArray[np.int64], cells: Columns, *, rows: int, rng: np.random.Generator
) -> NDArray[np.int64]:
    """The indices of at most `rows` rows of each person, chosen by a keyed hash of person, row and copy.

    y = (a person + b row + c copy + d) mod p, then twice y <- y^5 + k mod p; the least y count. Which of a person's
    rows count depends on that person's rows and the key alone.                                [docs/rules.md, rule 6]
    """
    key = uniform_below(MODULUS, 6 + len(cells), rng=rng)
    content = np.zeros(len(number), np.int64)
    for weight, column in zip(key[6:], cells, strict=True):
        content = (content + weight * column) % MODULUS
    order = np.lexsort((content, number))
    copy = _place_within(number[order] * MODULUS + content[order])
    hashed = (key[0] * name[order] % MODULUS + key[1] * content[order] % MODULUS + key[2] * copy + key[3]) % MODULUS
    for shift in key[4:6]:
        square = hashed * hashed % MODULUS
        hashed = (square * square % MODULUS * hashed + shift) % MODULUS
    by_lot = np.lexsort((hashed, number[order]))
    kept = _place_within(number[order][by_lot]) < rows
    return np.sort(order[by_lot][kept])


def _place_within(sorted_keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, 2, ... within each run of equal keys."""
    places = np.arange(len(sorted_keys))
    starts = np.concatenate([[True], sorted_keys[1:] != sorted_keys[:-1]]) if len(places) else np.zeros(0, bool)
    return places - np.maximum.accumulate(np.where(starts, places, 0)) if len(places) else places


def count_owned(owners: polars.Series, whose: polars.Series) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The index of each row's owner (-1 where there is none), and the number of rows of each owner."""
    places = polars.DataFrame({"person": owners, "place": np.arange(len(owners))})
    joined = polars.DataFrame({"person": whose}).join(places, on="person", how="left", maintain_order="left")
    place = joined["place"].fill_null(-1).to_numpy().astype(np.int64)
    return place, np.bincount(place[place >= 0], minlength=len(owners))
