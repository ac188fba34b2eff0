"""Trees whose splits are drawn before any record is read: only the sums of their leaves need noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bruit.learning.trees.binning import Bins, Codes

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class RandomTree:
    """A tree with the same random split in all nodes of a level: one column, and a side for each of its bins.

    columns   the column that each level looks at
    sides     for each level, which of the bins of its column go right
    """

    columns: tuple[int, ...]
    sides: tuple[NDArray[np.bool_], ...]

    @property
    def leaves(self) -> int:
        """How many leaves there are."""
        return int(2 ** len(self.columns))

    def leaf_of(self, turned: Codes) -> Ints:
        """The leaf index of every row, from bin indices in column order."""
        found = np.zeros(turned.shape[1], np.int64)
        for column, side in zip(self.columns, self.sides, strict=True):
            found = 2 * found + side[turned[column]]
        return found


def random_tree(bins: Bins, *, depth: int, columns: int, rng: np.random.Generator) -> RandomTree:
    """A random tree of `depth` levels, which split on a few random columns in turn.

    An ordered column is cut between two bins, all cuts equally likely; the categories of another go to either side by
    a coin of their own. A column of one bin sends everybody left.
    """
    looked_at = rng.permutation(len(bins.sizes))[:columns]
    chosen = tuple(int(looked_at[level % len(looked_at)]) for level in range(depth))
    return RandomTree(chosen, tuple(_side(bins, column, rng) for column in chosen))


def _side(bins: Bins, column: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    size = int(bins.sizes[column])
    if bins.categorical[column]:
        return np.asarray(rng.random(size) < 0.5)
    return np.arange(size) >= rng.integers(1, max(size, 2))
