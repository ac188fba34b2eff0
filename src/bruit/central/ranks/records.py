"""The records of a column as sorted cells of its grid, ties parted by secret sub-cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.central.ranks._sorting_kernels import add_times, sort_digits
from bruit.errors import InvalidArgument
from bruit.privacy import EACH_ROW, REPLACE_ONE, Neighbours
from bruit.randomness import uniform_below
from bruit.tables import Column, draw_key
from bruit.tables.exact import tally
from bruit.tables.table import encoded
from bruit.tables.total import collected

FEW = 512
"""Below so many records NumPy sorts as fast."""


@dataclass(frozen=True)
class Person:
    """What one person can change among the records: at most `rows` of them come, go, or are exchanged.

    The number of records is public (`fixed_size`) only where that was stated.
    """

    rows: int
    exchanged: bool
    fixed_size: bool

    @property
    def moves(self) -> int:
        """The most records that come and go, together."""
        return self.rows * (2 if self.exchanged else 1)


def person_of(column: Column, neighbours: Neighbours, *, public_size: bool = False, a_part: bool = False) -> Person:
    """What one person can change among the records of a column.

    A public size is taken at its word under REPLACE_ONE, where every row is one person's and none can be dropped: only
    who made the table knows that it was not filtered by what the rows hold. Of `a_part`, a cell of a partition, the
    size is never public: a replaced record can leave it.
    """
    exchanged = neighbours is REPLACE_ONE
    if public_size and not exchanged:
        raise InvalidArgument("public_size=True: under ADD_OR_REMOVE_ONE the size of a table is private; leave it out")
    if public_size and a_part:
        raise InvalidArgument(
            "public_size=True with the budget of a cell: a replaced record can leave the cell, so that its size is "
            "private; leave public_size out"
        )
    if public_size and (column.table.person != EACH_ROW or column.numbers.missing is None):
        raise InvalidArgument(
            "public_size=True needs person=EACH_ROW and a stated missing=: otherwise a replaced row may be dropped"
        )
    return Person(column.table.bounds[1], exchanged, public_size)


def read_cells(column: Column, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """The cell of every record, from zero at the low bound, in any order."""
    domain = column.numbers
    cells = _integers(column, rng) - domain.lowest
    return np.clip(cells, 0, domain.size - 1, out=cells)


def parted(cells: NDArray[np.int64], grid: int, sub_cells: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """The records in order, each cell parted into `sub_cells` of which every record draws one.

    A sub-cell is chosen without looking at any other record: what one person changes stays one person's.
    """
    if sub_cells == 1:
        return in_order(cells.copy(), grid)
    fine = uniform_below(sub_cells, len(cells), rng=rng)
    add_times(fine, cells, sub_cells)
    return in_order(fine, grid * sub_cells)


def in_order(values: NDArray[np.int64], bound: int) -> NDArray[np.int64]:
    """The values of 0 .. bound-1, sorted; the array that was given is used up."""
    if len(values) < FEW:
        return np.sort(values)
    spare = np.empty_like(values)
    return spare if sort_digits(values, spare, (bound - 1).bit_length()) else values


def _integers(column: Column, rng: np.random.Generator) -> NDArray[np.int64]:
    """The integer of every record that counts; engines other than polars count equal ones first."""
    key = draw_key(rng)
    frame = encoded([column])
    if column.table.person == EACH_ROW and isinstance(frame.to_native(), polars.LazyFrame):
        return collected(frame)["integer 0"].to_numpy().astype(np.int64, copy=False)
    integers, counts = tally(column, key=key)
    return np.repeat(integers, counts)
