"""Growth of one exact tree, and the grown tree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit.learning.trees._following_kernels import leaves_of
from bruit.learning.trees._growing_kernels import (
    ENTROPY,
    GINI,
    GRADIENT,
    Columns,
    Data,
    Growing,
    Limits,
    Nodes,
    Pool,
    Rule,
    Scratch,
    grow,
)
from bruit.learning.trees.binning import Bins, Codes, by_column

KINDS = {"squared_error": GRADIENT, "gini": GINI, "entropy": ENTROPY}
UNLIMITED = 2**40
FIRST_MASKS = 8
"""Room for the masks of so many splits by category; there is more when they are used up."""

POOLED_NUMBERS = 4_000_000
"""About so many numbers are kept in histograms at once (32 MB); nodes beyond count their rows anew."""

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
        found: Ints = leaves_of(codes, self.column, self.last, self.left, self.right, self.mask, self.masks)
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
    """Stopping rules of tree growth, of which the first to hold applies; a split needs a positive gain and two sides.

    `kind` is squared error (on gradients and curvatures), Gini or entropy; `tries` is how many columns each node looks
    at, all of them where it is None. A cut lies in the middle between the values of its two sides. Of equally good
    splits the first column's is taken; where `in_order` is false every node draws an order of its own.
    """

    kind: int
    leaves: int | None = None
    depth: int | None = None
    least: float = 1.0
    ridge: float = 0.0
    tries: int | None = None
    in_order: bool = True

    def grown(
        self, data: Binned, stats: Floats, labels: Ints, *, rows: Ints | None = None, channels: int = 2, seed: int = 1
    ) -> tuple[GrownTree, Ints]:
        """The tree on the given rows (all where None), and the leaf index of each row (-1 for the other rows)."""
        chosen = np.arange(len(data.codes)) if rows is None else rows
        columns, limits = columns_of(data.bins), self._limits(data.codes.shape[1])
        widest = int(data.bins.sizes.max())
        tree = Growing(
            # a slice of other arrays would have every kernel compiled again for its layout
            Data(data.codes, data.turned, np.ascontiguousarray(stats), labels, chosen.astype(np.int32)),
            columns,
            Rule(self.kind, float(self.least), float(self.ridge)),
            limits,
            _new_nodes(len(chosen), channels, limits),
            _new_pool(columns, channels, limits),
            _new_scratch(len(chosen), columns, channels, widest),
            np.array([seed | 1], np.uint64),
        )
        made, masks, masked = grow(tree, np.zeros((FIRST_MASKS, widest), np.bool_))
        nodes = Nodes._make(each[:made].copy() for each in tree.nodes)  # a view would keep all the room
        return _tree(nodes, masks[: max(masked, 1)]), _leaf_of(nodes, tree.data)

    def _limits(self, columns: int) -> Limits:
        """A tree with a limit of leaves splits the node that gains most, any other the last one made."""
        tries = columns if self.tries is None else self.tries
        return Limits(
            leaves=self.leaves or UNLIMITED,
            depth=UNLIMITED if self.depth is None else self.depth,
            tries=tries,
            best_first=self.leaves is not None,
            in_order=self.in_order and tries == columns,
        )


def columns_of(bins: Bins) -> Columns:
    """The bins of all columns in the form that the kernels read."""
    edges = [
        np.append(ends, np.full(size - len(ends), np.inf)) for ends, size in zip(bins.edges, bins.sizes, strict=True)
    ]
    return Columns(bins.offsets, bins.categorical, np.concatenate(edges))


def _new_nodes(rows: int, channels: int, limits: Limits) -> Nodes:
    """As many nodes as the tree can have, the first of them with all rows."""
    room = 2 * min(limits.leaves, max(rows, 1)) - 1
    none, zero = np.full(room, -1, np.int64), np.zeros(room, np.int64)
    nodes = Nodes(
        column=none,
        last=zero,
        mask=none.copy(),
        gain=np.zeros(room),
        left=none.copy(),
        right=none.copy(),
        sums=np.zeros((room, channels)),
        depth=zero.copy(),
        start=zero.copy(),
        end=zero.copy(),
        slot=none.copy(),
    )
    nodes.end[0] = rows
    return nodes


def _new_pool(columns: Columns, channels: int, limits: Limits) -> Pool:
    """A pool with all its slots free; without any where nodes look at some columns only and count those anew."""
    cells = int(columns.offsets[-1])
    slots = max(2, min(limits.leaves + 1, POOLED_NUMBERS // max(cells * channels, 1)))
    if limits.tries < len(columns.categorical):
        slots = 0
    return Pool(np.empty((slots, cells, channels)), np.arange(slots), np.array([slots]))


def _new_scratch(rows: int, columns: Columns, channels: int, widest: int) -> Scratch:
    cells = np.zeros((int(columns.offsets[-1]), channels))
    return Scratch(cells, np.empty(rows, np.int32), np.zeros(widest, np.bool_))


def _tree(nodes: Nodes, masks: NDArray[np.bool_]) -> GrownTree:
    """The tree of some nodes, without the splits that were found and not made."""
    leaf = nodes.left < 0
    nodes.column[leaf], nodes.last[leaf], nodes.mask[leaf], nodes.gain[leaf] = -1, 0, -1, 0.0
    return GrownTree(nodes.column, nodes.last, nodes.left, nodes.right, nodes.sums, nodes.mask, masks, nodes.gain)


def _leaf_of(nodes: Nodes, data: Data) -> Ints:
    """The leaf of every row, -1 where it is not of the tree."""
    leaves = np.flatnonzero(nodes.left < 0)
    leaves = leaves[np.argsort(nodes.start[leaves])]
    found = np.full(len(data.codes), -1, np.int64)
    found[data.rows] = np.repeat(leaves, nodes.end[leaves] - nodes.start[leaves])
    return found


@dataclass(frozen=True)
class Binned:
    """A table as bin numbers, in row order and in column order."""

    bins: Bins
    codes: Codes
    turned: Codes

    @classmethod
    def of(cls, bins: Bins, values: NDArray[np.int64] | Floats) -> Binned:
        """The values as bin indices."""
        codes = bins.codes(values)
        return cls(bins, codes, by_column(codes))
