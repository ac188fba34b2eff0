"""Heaps that keep the k nearest rows of each query while distances are computed block by block."""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import inlined, kernel


@inlined
def _farther(distance: float, place: int, other: float, other_place: int) -> bool:
    """Whether the first comes after the second in the order of distance, then of place."""
    return distance > other or (distance == other and place > other_place)


@kernel
def keep_nearest(
    seen: NDArray[np.float64], start: int, kept: int, nearest: NDArray[np.float64], places: NDArray[np.int64]
) -> int:
    """Adds the distances of the rows from `start` on to the heap of every query; returns the heaps' common size.

    Row i of `nearest` and `places` is a heap whose first entry is the farthest kept. The first k rows in the order of
    (distance, place) are kept, whatever the order of the tables they came in, so that ties are no matter of chance.

    seen      (queries, rows) float64, C order: distances of this block; row r of it is record `start` + r
    nearest   (queries, k) float64, C order, written: the kept distances, of which the first `kept` are filled
    places    (queries, k) int64, C order, written: the record of each kept distance
    """
    queries, rows = seen.shape
    most = nearest.shape[1]
    filled = min(most - kept, rows)
    for query in range(queries):
        near, place = nearest[query], places[query]
        for row in range(filled):
            # Invariant: near[:kept + row] is a max-heap of all rows seen so far.
            _rise(near, place, kept + row, seen[query, row], start + row)
        farthest = near[0]
        for row in range(filled, rows):
            # Invariant: the heap holds the k nearest of all rows seen so far, near[0] the farthest of them.
            # Rows come in the order of their places: an equal distance comes later and is not kept.
            if seen[query, row] < farthest:
                _sink(near, place, most, seen[query, row], start + row)
                farthest = near[0]
    return int(kept + filled)


@inlined
def _rise(near: NDArray[np.float64], place: NDArray[np.int64], hole: int, distance: float, row: int) -> None:
    """Adds an entry at the end of the heap."""
    while hole > 0:  # invariant: all but the hole is a heap, and the entry is farther than all below the hole
        above = (hole - 1) // 2
        if not _farther(distance, row, near[above], place[above]):
            break
        near[hole], place[hole] = near[above], place[above]
        hole = above
    near[hole], place[hole] = distance, row


@inlined
def _sink(near: NDArray[np.float64], place: NDArray[np.int64], size: int, distance: float, row: int) -> None:
    """Puts an entry in the place of the farthest."""
    hole = 0
    while True:  # invariant: all but the hole is a heap, and the entry is nearer than all above the hole
        below = 2 * hole + 1
        if below >= size:
            break
        if below + 1 < size and _farther(near[below + 1], place[below + 1], near[below], place[below]):
            below += 1
        if not _farther(near[below], place[below], distance, row):
            break
        near[hole], place[hole] = near[below], place[below]
        hole = below
    near[hole], place[hole] = distance, row
