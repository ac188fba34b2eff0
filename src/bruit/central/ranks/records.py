"""The records of a column as sorted grid cells, with ties broken by random sub-cells."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bruit.central.ranks._sorting_kernels import add_times, sort_digits
from bruit.core.neighbours import EACH_ROW, REPLACE_ONE
from bruit.errors import InvalidArgument
from bruit.ledger import Budget
from bruit.randomness import uniform_below
from bruit.tables import Column

FEW = 512
"""Below so many records NumPy sorts as fast."""


@dataclass(frozen=True)
class Person:
    """What one person can change: at most `rows` records are added, removed or replaced.

    The number of records is public (`fixed_size`) only where that was stated.
    """

    rows: int
    exchanged: bool
    fixed_size: bool

    @property
    def moves(self) -> int:
        """The most records that are added and removed in total."""
        return self.rows * (2 if self.exchanged else 1)


def person_of(column: Column, price: Budget, *, public_size: bool = False) -> Person:
    """What one person can change among the records of a column."""
    if public_size:
        require_public_size(column, price, "public_size=True")
    return Person(column.table.most_rows, price.neighbours is REPLACE_ONE, public_size)


def require_public_size(column: Column, price: Budget, stated: str) -> None:
    """Refuses a public size where one person could change how many rows there are.

    It is taken at its word under REPLACE_ONE, where every row is one person's and none can be dropped: only who made
    the table knows that it was not filtered by what the rows hold. Of a cell of a partition the size is never public: a
    replaced record can leave it.
    """
    if price.neighbours is not REPLACE_ONE:
        raise InvalidArgument(f"{stated}: under ADD_OR_REMOVE_ONE the size of a table is private; leave it out")
    if price.covers_a_part:
        raise InvalidArgument(
            f"{stated} with the budget of a cell: a replaced record can leave the cell, so that its size is private; "
            "leave it out"
        )
    if column.table.person != EACH_ROW or column.drops:
        raise InvalidArgument(
            f"{stated} needs person=EACH_ROW and a stated missing=: otherwise a replaced row may be dropped"
        )


def parted(cells: NDArray[np.int64], grid: int, sub_cells: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """The records' sorted cells after each record draws one of `sub_cells` sub-cells within its cell.

    A sub-cell is chosen without looking at any other record: what one person changes stays one person's.
    """
    if sub_cells == 1:
        return in_order(cells.copy(), grid)
    fine = uniform_below(sub_cells, len(cells), rng=rng)
    add_times(fine, cells, sub_cells)
    return in_order(fine, grid * sub_cells)


def in_order(values: NDArray[np.int64], bound: int) -> NDArray[np.int64]:
    """The values in 0 .. bound-1, sorted; the given array is overwritten."""
    if len(values) < FEW:
        return np.sort(values)
    spare = np.empty_like(values)
    return spare if sort_digits(values, spare, (bound - 1).bit_length()) else values
