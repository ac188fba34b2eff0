"""Marginals (counts of combinations of columns): lists them, sizes them, and counts a table's cells."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb, prod
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bruit.synthetic._kernels import tally

Clique = tuple[int, ...]
"""The columns of a marginal, in increasing order."""

Counts = NDArray[np.int64]
Columns = NDArray[np.uint8]
"""A table of cells, one column in each row of the array."""

MOST_CELLS: Final = 4000
"""Cells of a triple that may be measured; a pair of columns of 256 values each has 65 536 and is left out above it."""

MOST_PAIR_CELLS: Final = 2**16
MOST_TRIPLES: Final = 1500


def cells_of(clique: Clique, sizes: Counts) -> int:
    """How many cells a marginal has."""
    return prod(int(sizes[i]) for i in clique)


def count_cells(columns: Columns, clique: Clique, sizes: Counts) -> Counts:
    """The counts of a combination of columns as a flat array; its last column varies fastest."""
    out = np.zeros(cells_of(clique, sizes), np.int64)
    tally(columns, np.array(clique, np.int64), sizes, out)
    return out


def pairs_of(sizes: Counts) -> list[Clique]:
    """All pairs of columns."""
    return [pair for pair in combinations(range(len(sizes)), 2) if cells_of(pair, sizes) <= MOST_PAIR_CELLS]


def triples_of(sizes: Counts, rng: np.random.Generator) -> list[Clique]:
    """All triples of columns with few cells, or `MOST_TRIPLES` random ones where there are more."""
    columns = len(sizes)
    if comb(columns, 3) <= MOST_TRIPLES:
        found: list[Clique] = list(combinations(range(columns), 3))
    else:
        found = sorted({draw_columns(columns, 3, rng) for _ in range(MOST_TRIPLES)})
    return [clique for clique in found if cells_of(clique, sizes) <= MOST_CELLS]


def draw_columns(columns: int, many: int, rng: np.random.Generator) -> Clique:
    """`many` random columns, in increasing order."""
    return tuple(int(i) for i in np.sort(rng.choice(columns, many, replace=False)))


@dataclass(frozen=True)
class Partition:
    """A marginal whose columns are cut into ranges of cells: where each range begins."""

    clique: Clique
    cuts: tuple[Counts, ...]

    def fold(self, counts: NDArray[Any], sizes: Counts) -> NDArray[Any]:
        """Sums the counts of a marginal's cells over each box of ranges."""
        boxes = counts.reshape(sizes[list(self.clique)])
        for axis, cut in enumerate(self.cuts):
            boxes = np.add.reduceat(boxes, cut, axis)
        return boxes.ravel()


def draw_partition(clique: Clique, sizes: Counts, rng: np.random.Generator) -> Partition:
    """Cuts a marginal at random: each column into its cells or into up to four ranges."""
    return Partition(clique, tuple(_cut(int(sizes[i]), rng) for i in clique))


def _cut(size: int, rng: np.random.Generator) -> Counts:
    if size < 3 or rng.integers(2):
        return np.arange(size)
    inner = rng.choice(size - 1, int(rng.integers(1, min(4, size))), replace=False)
    return np.concatenate([[0], 1 + np.sort(inner)])
