"""How large the numbers of a column are, by powers of two: exact, for a private search for bounds only."""

from __future__ import annotations

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from bruit.tables.bounding import Key
from bruit.tables.exact import counted_cells
from bruit.tables.table import Column, encoded


def reach_of(column: Column) -> int:
    """The largest magnitude of a column, K where its farther bound has K binary digits."""
    return column.numbers.farthest.bit_length()


def magnitudes(column: Column, *, key: Key) -> NDArray[np.int64]:
    """How many rows have each magnitude -K, ..., K, people bounded as in a histogram.

    The magnitude of a whole number i of steps is 0 for 0, k for 2^(k-1) <= i < 2^k, -k for -i of magnitude k: a sum of
    comparisons, which every engine makes alike.
    """
    most = reach_of(column)
    integer, magnitude = nw.col("integer 0"), nw.lit(0)
    for power in range(most):
        magnitude = magnitude + (integer >= 2**power).cast(nw.Int64) - (integer <= -(2**power)).cast(nw.Int64)
    frame = encoded([column]).with_columns((magnitude + most).cast(nw.Int64).alias("integer"))
    return counted_cells(frame, column.table, 2 * most + 1, key=key)
