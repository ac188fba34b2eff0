"""Growing one tree on binned columns, and following it.

A histogram holds, for every bin of every column, the sums of `channels` numbers over the rows of one node. Kind 0 is
numbers: the sums of stats[:, 0], and of the weights stats[:, 1]. Kind -1 is gradients: stats[:, 1] holds a curvature
and, PACK times, one, so that one sum counts the rows too. Kinds 1 (Gini) and 2 (entropy) are classes: the weights
stats[:, 0] of each label.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Codes = NDArray[np.unsignedinteger[Any]]
Bits = NDArray[np.uint64]
Rows = NDArray[np.int32]

CURVED, GRADIENT, GINI, ENTROPY = -1, 0, 1, 2
PACK = 2.0**20
"""What a row adds to a sum of curvatures, each below one: above it stands the count, and below it the curvature."""


@kernel
def add_rows(
    codes: Codes, rows: Rows, start: int, end: int, stats: Floats, labels: Ints, kind: int, offsets: Ints, out: Floats
) -> None:
    """Adds the rows[start:end] to a histogram of shape (bins of all columns, channels)."""
    columns = codes.shape[1]
    starts = offsets.astype(np.uint64)  # an index without a sign needs no look at its sign
    if kind <= 0:
        for place in range(start, end):
            row = np.uint64(rows[place])
            slope, curvature = stats[row, 0], stats[row, 1]
            for column in range(columns):
                cell = starts[column] + np.uint64(codes[row, column])
                out[cell, 0] += slope
                out[cell, 1] += curvature
    else:
        for place in range(start, end):
            row = np.uint64(rows[place])
            weight, label = stats[row, 0], np.uint64(labels[row])
            for column in range(columns):
                out[starts[column] + np.uint64(codes[row, column]), label] += weight


@kernel
def add_rows_of_columns(
    codes: Codes,
    rows: Rows,
    start: int,
    end: int,
    stats: Floats,
    labels: Ints,
    kind: int,
    offsets: Ints,
    chosen: Ints,
    out: Floats,
) -> None:
    """The same for some columns only, whose cells are emptied first."""
    for column in chosen:
        out[offsets[column] : offsets[column + 1]] = 0.0
        for place in range(start, end):
            row = rows[place]
            cell = offsets[column] + codes[row, column]
            if kind <= 0:
                out[cell, 0] += stats[row, 0]
                out[cell, 1] += stats[row, 1]
            else:
                out[cell, labels[row]] += stats[row, 0]


@kernel
def add_sums(rows: Rows, start: int, end: int, stats: Floats, labels: Ints, kind: int, out: Floats) -> None:
    """Adds the rows[start:end] to the sums of one node."""
    for place in range(start, end):
        row = np.uint64(rows[place])
        if kind <= 0:
            out[0] += stats[row, 0]
            out[1] += stats[row, 1]
        else:
            out[labels[row]] += stats[row, 0]


@kernel
def curvature_of(sums: Floats, kind: int) -> float:
    """What the sum of gradients is divided by."""
    return float(sums[1] - np.floor(sums[1] / PACK) * PACK) if kind < 0 else float(sums[1])


@kernel
def weight_of(sums: Floats, kind: int) -> float:
    """The weight of the rows behind some sums, or their number."""
    if kind > 0:
        return float(sums.sum())
    return float(np.floor(sums[1] / PACK)) if kind < 0 else float(sums[1])


@kernel
def purity(sums: Floats, kind: int, ridge: float) -> float:
    """What a leaf of these sums saves: a split gains the sum over both sides less that of the whole.

    gradients G^2 / (H + ridge); Gini sum n_c^2 / n; entropy sum n_c log2 n_c - n log2 n, with 0 log 0 = 0
    """
    if kind <= 0:
        weight = curvature_of(sums, kind) + ridge
        return sums[0] * sums[0] / weight if weight > 0 else 0.0
    whole, found = 0.0, 0.0
    for count in sums:
        whole += count
        if count > 0:
            found += count * count if kind == 1 else count * np.log2(count)
    if whole <= 0:
        return 0.0
    return found / whole if kind == 1 else found - whole * np.log2(whole)


@kernel
def best_split(
    cells: Floats,
    offsets: Ints,
    categorical: NDArray[np.bool_],
    chosen: Ints,
    total: Floats,
    kind: int,
    least: float,
    ridge: float,
    goes_left: NDArray[np.bool_],
) -> tuple[float, int, int]:
    """The gain, the column and the last bin on the left of the best split; column -1 where no split gains.

    Bins of a categorical column are put into the order of their mean, which holds the best subset for two classes and
    for gradients [Breiman et al. 1984, Theorem 4.5]; for more classes, of each class against the rest. `goes_left`
    takes the bins of the best split.
    """
    channels = cells.shape[1]
    before = purity(total, kind, ridge)
    best, column_found, bin_found = 0.0, -1, -1
    left, right = np.empty(channels), np.empty(channels)
    for column in chosen:
        first, bins = offsets[column], offsets[column + 1] - offsets[column]
        orders = 1
        if categorical[column] and kind > 0 and channels > 2:
            orders = channels
        for turn in range(orders):
            order = np.arange(bins)
            if categorical[column]:
                order = np.argsort(_means(cells[first : first + bins], kind, turn, channels, ridge))
            left[:] = 0.0
            for place in range(bins - 1):
                cell = first + order[place]
                for channel in range(channels):
                    left[channel] += cells[cell, channel]
                    right[channel] = total[channel] - left[channel]
                if weight_of(left, kind) < least:
                    continue
                if weight_of(right, kind) < least:
                    break
                gain = purity(left, kind, ridge) + purity(right, kind, ridge) - before
                if gain > best * (1 + 1e-12) + 1e-12 * abs(before):
                    best, column_found, bin_found = gain, column, place
                    if categorical[column]:
                        goes_left[:] = False
                        goes_left[order[: place + 1]] = True
    return best, column_found, bin_found


@kernel
def _means(cells: Floats, kind: int, turn: int, channels: int, ridge: float) -> Floats:
    """What the bins of a categorical column are ordered by; empty ones last."""
    means = np.empty(len(cells))
    for place in range(len(cells)):
        weight = weight_of(cells[place], kind)
        if weight <= 0:
            means[place] = np.inf
        elif kind <= 0:
            means[place] = cells[place, 0] / (weight + ridge)
        else:
            means[place] = cells[place, turn if channels > 2 else 1] / weight
    return means


@kernel
def next_word(state: Bits) -> np.uint64:
    """A pseudo-random word (xorshift64*) that decides which columns a node may look at; never noise."""
    word: np.uint64 = state[0]
    word ^= word >> np.uint64(12)
    word ^= word << np.uint64(25)
    word ^= word >> np.uint64(27)
    state[0] = word
    return word * np.uint64(2685821657736338717)


@kernel
def some_columns(columns: int, tries: int, state: Bits) -> Ints:
    """`tries` different columns."""
    found = np.arange(columns)
    for place in range(tries):
        other = place + int(next_word(state) >> np.uint64(33)) % (columns - place)
        found[place], found[other] = found[other], found[place]
    return found[:tries]


@kernel
def split_rows(
    turned: Codes,
    rows: Rows,
    start: int,
    end: int,
    column: int,
    last: int,
    is_categorical: bool,
    goes_left: NDArray[np.bool_],
    spare: Rows,
) -> int:
    """Puts the rows of the left side first, each side in its old order; returns where the right side starts."""
    middle, behind, codes = start, 0, turned[column]
    for place in range(start, end):  # both sides are written, one of them counts: no branch to guess
        row = rows[place]
        code = codes[np.uint64(row)]
        left = goes_left[code] if is_categorical else code <= last
        rows[middle] = row
        spare[behind] = row
        middle += left
        behind += 1 - left
    rows[middle:end] = spare[:behind]
    return middle


@kernel
def grow(
    codes: Codes,
    turned: Codes,
    rows: Rows,
    stats: Floats,
    labels: Ints,
    kind: int,
    channels: int,
    offsets: Ints,
    categorical: NDArray[np.bool_],
    most_leaves: int,
    most_depth: int,
    least: float,
    least_gain: float,
    ridge: float,
    tries: int,
    best_first: bool,
    state: Bits,
) -> tuple[Ints, Ints, Ints, Ints, Floats, Ints, NDArray[np.bool_], Ints, Floats]:
    """One tree: column (-1 at a leaf), last bin on the left, both children, sums, mask, masks, leaf of row, gain.

    The histogram of the larger child is that of its parent less that of the smaller; where only some columns are tried
    in each node, both are counted.
    """
    count, columns, cells = len(rows), codes.shape[1], offsets[-1]
    widest = 1
    for column in range(columns):
        widest = max(widest, offsets[column + 1] - offsets[column])
    room = 2 * min(most_leaves, max(count, 1)) - 1
    column_of, last_of = np.full(room, -1, np.int64), np.zeros(room, np.int64)
    left_of, right_of = np.full(room, -1, np.int64), np.full(room, -1, np.int64)
    sums, gains, mask_of = np.zeros((room, channels)), np.zeros(room), np.full(room, -1, np.int64)
    masks, masks_used = np.zeros((8 if categorical.any() else 1, widest), np.bool_), 0
    start_of, end_of, depth_of = np.zeros(room, np.int64), np.zeros(room, np.int64), np.zeros(room, np.int64)
    next_column, next_last = np.full(room, -1, np.int64), np.zeros(room, np.int64)
    next_gain, slot_of, next_mask = np.zeros(room), np.full(room, -1, np.int64), np.full(room, -1, np.int64)
    slots = max(2, min(most_leaves + 1, 4_000_000 // max(cells * channels, 1)))
    whole = tries >= columns
    pool = np.zeros((slots if whole else 1, cells, channels))
    free = np.arange(len(pool))
    frees = len(pool)
    scratch = np.zeros((cells, channels))
    spare, goes_left = np.empty(count, np.int32), np.zeros(widest, np.bool_)
    every = np.arange(columns)
    opened, opens, nodes, leaves = np.zeros(room, np.int64), 0, 1, 1
    end_of[0] = count
    pending = np.zeros(2, np.int64)
    pendings = 1
    if whole:
        frees -= 1
        slot_of[0] = free[frees]
        add_rows(codes, rows, 0, count, stats, labels, kind, offsets, pool[slot_of[0]])
    while True:
        for turn in range(pendings):
            node = pending[turn]
            start, end = start_of[node], end_of[node]
            if slot_of[node] >= 0:
                for cell in range(offsets[1]):  # every row has a bin in the first column
                    for channel in range(channels):
                        sums[node, channel] += pool[slot_of[node], cell, channel]
            else:
                add_sums(rows, start, end, stats, labels, kind, sums[node])
            may = depth_of[node] < most_depth and weight_of(sums[node], kind) >= 2 * least and end - start > 1
            if may:
                if whole:
                    chosen = every
                    cells_here = scratch
                    if slot_of[node] >= 0:
                        cells_here = pool[slot_of[node]]
                    else:
                        scratch[:] = 0.0
                        add_rows(codes, rows, start, end, stats, labels, kind, offsets, scratch)
                else:
                    chosen = some_columns(columns, tries, state)
                    cells_here = scratch
                    add_rows_of_columns(codes, rows, start, end, stats, labels, kind, offsets, chosen, scratch)
                gain, column, last = best_split(
                    cells_here, offsets, categorical, chosen, sums[node], kind, least, ridge, goes_left
                )
                may = column >= 0 and gain > least_gain
                if may:
                    next_gain[node], next_column[node], next_last[node] = gain, column, last
                    if categorical[column]:
                        if masks_used == len(masks):
                            grown = np.zeros((2 * masks_used, widest), np.bool_)
                            grown[:masks_used] = masks
                            masks = grown
                        masks[masks_used] = goes_left
                        next_mask[node] = masks_used
                        masks_used += 1
                    opened[opens] = node
                    opens += 1
            if not may and slot_of[node] >= 0:
                free[frees] = slot_of[node]
                frees += 1
                slot_of[node] = -1
        if opens == 0 or leaves >= most_leaves:
            break
        pick = opens - 1
        if best_first:
            for place in range(opens):
                if next_gain[opened[place]] > next_gain[opened[pick]]:
                    pick = place
        node = opened[pick]
        opened[pick] = opened[opens - 1]
        opens -= 1
        column, last = next_column[node], next_last[node]
        mask = next_mask[node]
        if mask >= 0:
            goes_left[:] = masks[mask]
        middle = split_rows(
            turned, rows, start_of[node], end_of[node], column, last, categorical[column], goes_left, spare
        )
        column_of[node], last_of[node], mask_of[node], gains[node] = column, last, mask, next_gain[node]
        left_of[node], right_of[node] = nodes, nodes + 1
        for side in range(2):
            child = nodes + side
            depth_of[child] = depth_of[node] + 1
            start_of[child] = start_of[node] if side == 0 else middle
            end_of[child] = middle if side == 0 else end_of[node]
            pending[side] = child
        pendings = 2
        leaves += 1
        if slot_of[node] >= 0:
            small = nodes if middle - start_of[node] <= end_of[node] - middle else nodes + 1
            large = 2 * nodes + 1 - small
            slot = slot_of[node]
            slot_of[node] = -1
            if frees > 0 and depth_of[small] < most_depth:
                frees -= 1
                slot_of[small], slot_of[large] = free[frees], slot
                fresh, old = pool[slot_of[small]], pool[slot]
                fresh[:] = 0.0
                add_rows(codes, rows, start_of[small], end_of[small], stats, labels, kind, offsets, fresh)
                for cell in range(cells):
                    for channel in range(channels):
                        old[cell, channel] -= fresh[cell, channel]
            else:
                free[frees] = slot
                frees += 1
        nodes += 2
    leaf_of = np.empty(codes.shape[0], np.int64)
    leaf_of[:] = -1
    for node in range(nodes):
        if left_of[node] < 0:
            for place in range(start_of[node], end_of[node]):
                leaf_of[rows[place]] = node
    return (
        column_of[:nodes],
        last_of[:nodes],
        left_of[:nodes],
        right_of[:nodes],
        sums[:nodes],
        mask_of[:nodes],
        masks[: max(masks_used, 1)],
        leaf_of,
        gains[:nodes],
    )


@kernel
def leaves_of(
    codes: Codes,
    column_of: Ints,
    last_of: Ints,
    left_of: Ints,
    right_of: Ints,
    mask_of: Ints,
    masks: NDArray[np.bool_],
    root: int,
) -> Ints:
    """The leaf that each row comes to, from a root on."""
    found = np.empty(len(codes), np.int64)
    for row in range(len(codes)):
        node = root
        while left_of[node] >= 0:
            code = codes[row, column_of[node]]
            left = masks[mask_of[node], code] if mask_of[node] >= 0 else code <= last_of[node]
            node = left_of[node] if left else right_of[node]
        found[row] = node
    return found
