"""Counting cells, and redrawing the rows of a synthetic table one value at a time (Gibbs sampling).

Kernels know no people: what they read is either inside the curator (`tally`) or already released.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Columns = NDArray[np.uint8]
Whole = NDArray[np.int64]
Field = NDArray[np.float32]


@kernel
def tally(columns: Columns, clique: Whole, sizes: Whole, out: Whole) -> None:
    """Adds one to the counter of each row's cell; the last column of a clique varies fastest.

    `columns[i, row]` is the cell of column i. `out` has prod(sizes[clique]) entries; cells are below their sizes, so no
    bound is checked.
    """
    if clique.shape[0] == 1:
        for row in range(columns.shape[1]):
            out[columns[clique[0], row]] += 1
        return
    if clique.shape[0] == 2:
        first, second, stride = columns[clique[0]], columns[clique[1]], sizes[clique[1]]
        for row in range(columns.shape[1]):
            out[first[row] * stride + second[row]] += 1
        return
    first, second, third = columns[clique[0]], columns[clique[1]], columns[clique[2]]
    stride, last = sizes[clique[1]] * sizes[clique[2]], sizes[clique[2]]
    for row in range(columns.shape[1]):
        out[first[row] * stride + second[row] * last + third[row]] += 1


LANES = 8
"""Cells that are added up side by side: the last column of a view is padded to a multiple of this."""


@kernel
def sweep(
    table: NDArray[np.uint8],
    field: Field,
    first: Whole,
    start: Whole,
    other: Whole,
    stride: Whole,
    twin: Whole,
    twins: Whole,
    step: Field,
    sizes: Whole,
    state: np.uint64,
) -> np.uint64:
    """One Gibbs sweep: redraws every value of every row given all others, in place; returns the generator's state.

    table   [rows, columns] uint8, row-major
    field   one block a view: pull * (noisy count - count of the table); a view is a measured marginal laid out with
            one of its columns last, padded to whole `LANES` by cells that are never drawn
    first   [columns + 1]: views of column i are first[i] .. first[i+1]-1
    start   [views]: where the block of a view begins in `field`
    other   [views, 2]: its other columns (0 where there is none; the stride is then 0 too)
    stride  [views, 2]: their strides
    twin    [views, 2, 4]: the same marginal seen from its other columns: begin, stride of this column, two strides
    twins   [views]: how many of those there are
    step    [views]: by how much one row moves the field of a cell; 0 where a view is fixed (impossible combinations)

    Invariant: at the top of the loop over columns, `field` is that of the table as it stands.
    exp(x) is (1 + x/256)^256, cut off at 0: within 4 per thousand for x > -1.4, and monotone everywhere, which is all
    that a draw from a tempered law needs. Coins: xorshift64 [Marsaglia 2003]; they choose rows of a fit to released
    counts and hide nothing. Indices that LLVM must know to be positive, to add eight cells at once, are unsigned.
    """
    weight, lifted = np.empty(sizes.max() + LANES, np.float32), np.zeros(sizes.shape[0], np.float32)
    base = np.empty(start.shape[0], np.uint64)
    for i in range(sizes.shape[0]):
        for v in range(first[i], first[i + 1]):
            lifted[i] += step[v]
    for row in range(table.shape[0]):
        for i in range(table.shape[1]):
            if first[i] == first[i + 1]:
                continue
            size, old = sizes[i], np.int64(table[row, i])
            for v in range(first[i], first[i + 1]):
                place = start[v] + stride[v, 0] * table[row, other[v, 0]] + stride[v, 1] * table[row, other[v, 1]]
                base[v] = np.uint64(place)
            groups = (size + LANES - 1) // LANES
            for group in range(groups):
                w0 = w1 = w2 = w3 = w4 = w5 = w6 = w7 = np.float32(0)
                for v in range(first[i], first[i + 1]):
                    at = base[v] + np.uint64(group * LANES)
                    w0 += field[at]
                    w1 += field[at + np.uint64(1)]
                    w2 += field[at + np.uint64(2)]
                    w3 += field[at + np.uint64(3)]
                    w4 += field[at + np.uint64(4)]
                    w5 += field[at + np.uint64(5)]
                    w6 += field[at + np.uint64(6)]
                    w7 += field[at + np.uint64(7)]
                c = group * LANES
                weight[c], weight[c + 1], weight[c + 2], weight[c + 3] = w0, w1, w2, w3
                weight[c + 4], weight[c + 5], weight[c + 6], weight[c + 7] = w4, w5, w6, w7
            weight[old] += lifted[i]  # as if the row had been taken out of its cells
            top, total = weight[0], np.float32(0)
            for b in range(1, size):
                top = max(top, weight[b])
            for b in range(groups * LANES):
                x = max(np.float32(1) + (weight[b] - top) * np.float32(1 / 256), np.float32(0))
                x *= x
                x *= x
                x *= x
                x *= x
                x *= x
                x *= x
                x *= x
                x *= x
                weight[b] = x
            for b in range(size):
                total += weight[b]
            state ^= state << np.uint64(13)
            state ^= state >> np.uint64(7)
            state ^= state << np.uint64(17)
            left, new = np.float32(state >> np.uint64(40)) * np.float32(2.0**-24) * total - weight[0], 0
            while left >= 0 and new < size - 1:
                new += 1
                left -= weight[new]
            if new == old:
                continue
            for v in range(first[i], first[i + 1]):
                x1, x2 = table[row, other[v, 0]], table[row, other[v, 1]]
                field[base[v] + np.uint64(old)] += step[v]
                field[base[v] + np.uint64(new)] -= step[v]
                for t in range(twins[v]):
                    seen = twin[v, t, 0] + twin[v, t, 2] * x1 + twin[v, t, 3] * x2
                    field[seen + twin[v, t, 1] * old] += step[v]
                    field[seen + twin[v, t, 1] * new] -= step[v]
            table[row, i] = new
    return state
