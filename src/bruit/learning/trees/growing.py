"""Growing one exact tree, and the tree that was grown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.learning.trees._kernels import ENTROPY, GINI, GRADIENT, grow, leaves_of
from bruit.learning.trees.binning import Bins, Codes, turned

KINDS = {"squared_error": GRADIENT, "gini": GINI, "entropy": ENTROPY}
UNLIMITED = 2**40

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class GrownTree(NamedTuple):
    """A tree as arrays over its nodes; node 0 is the root, and a leaf has no children (-1).

    A row goes left where its bin in `column` is at most `last`, or, where `mask` is not -1, where masks[mask] says so.
    `sums` holds the class weights of a node, or the sums of gradients and curvatures; `gain` what its split saves.
    """

    column: Ints
    last: Ints
    left: Ints
    right: Ints
    sums: Floats
    mask: Ints
    masks: NDArray[np.bool_]
    gain: Floats

    def leaves(self, codes: Codes) -> Ints:
        """The leaf of every row."""
        found: Ints = leaves_of(codes, self.column, self.last, self.left, self.right, self.mask, self.masks, 0)
        return found

    @property
    def depth(self) -> int:
        """The most splits between the root and a leaf."""
        levels = np.zeros(len(self.left), np.int64)
        for node in np.flatnonzero(self.left >= 0):  # children stand behind their parents
            levels[[self.left[node], self.right[node]]] = levels[node] + 1
        return int(levels.max())


@dataclass(frozen=True)
class Growth:
    """When growing stops: whichever rule holds first; a split always has a positive gain and two sides.

    `kind` is squared error (on gradients and curvatures), Gini or entropy; `tries` is how many columns each node looks
    at, all of them where it is None.
    """

    kind: int
    leaves: int | None = None
    depth: int | None = None
    least: float = 1.0
    ridge: float = 0.0
    tries: int | None = None

    def grown(
        self, data: Binned, stats: Floats, labels: Ints, *, rows: Ints | None = None, channels: int = 2, seed: int = 1
    ) -> tuple[GrownTree, Ints]:
        """The tree on some rows (all, where None), and the leaf of each of them (-1 elsewhere)."""
        chosen = np.arange(len(data.codes)) if rows is None else rows
        column, last, left, right, sums, mask, masks, leaf_of, gain = grow(
            data.codes,
            data.turned,
            chosen.astype(np.int32),
            stats,
            labels,
            self.kind,
            channels,
            data.bins.offsets,
            data.bins.categorical,
            self.leaves or UNLIMITED,
            UNLIMITED if self.depth is None else self.depth,
            float(self.least),
            0.0,
            float(self.ridge),
            data.codes.shape[1] if self.tries is None else self.tries,
            self.leaves is not None,
            np.array([seed | 1], np.uint64),
        )
        return GrownTree(column, last, left, right, sums, mask, masks, gain), leaf_of


@dataclass(frozen=True)
class Binned:
    """The bins of every row, row by row and column by column."""

    bins: Bins
    codes: Codes
    turned: Codes

    @classmethod
    def of(cls, bins: Bins, values: NDArray[np.int64] | Floats) -> Binned:
        """The values in bins."""
        codes = bins.codes(values)
        return cls(bins, codes, turned(codes))
