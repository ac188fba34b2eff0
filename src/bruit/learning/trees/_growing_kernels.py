"""Kernels that grow one tree on binned columns: histograms, split search and node bookkeeping.

A histogram holds, for every bin of every column, the sums of some channels over the rows of one node. What they are is
the kind of a tree:

    GRADIENT        numbers: the sums of stats[:, 0], and of the weights stats[:, 1]
    CURVED          gradients: stats[:, 1] holds a curvature and, PACK times, one, so that one sum counts the rows too
    GINI, ENTROPY   classes: the weights stats[:, 0] of each label

All of it stands in one file because a cached kernel may call only kernels of its own (see `_jit.kernel`).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Codes = NDArray[np.unsignedinteger[Any]]
Bits = NDArray[np.uint64]

CURVED, GRADIENT, GINI, ENTROPY = -1, 0, 1, 2
PACK = 2.0**20
"""What a row adds to a sum of curvatures, each below one: above it stands the count, and below it the curvature."""


class Data(NamedTuple):
    """Rows in bins, row by row and column by column; `rows` are those of the tree, sorted by node as it grows.

    codes    (rows, columns) unsigned, C order: the bin of each value
    turned   (columns, rows) unsigned, C order: the same, transposed
    stats    (rows, 1 or 2) float64, C order: see the kinds above
    labels   (rows,) int64: the class of each row; read for GINI and ENTROPY only
    rows     (rows of the tree,) int32: permuted in place
    """

    codes: Codes
    turned: Codes
    stats: Floats
    labels: Ints
    rows: NDArray[np.int32]


class Columns(NamedTuple):
    """The first histogram bin of each column (and the end of the last), and which columns are categorical.

    `edges` is the largest value of every bin of the ordered columns.
    offsets (columns + 1,) int64, categorical (columns,) bool, edges (bins of all columns,) float64.
    """

    offsets: Ints
    categorical: Bools
    edges: Floats


class Rule(NamedTuple):
    """The split criterion, the least weight of a side, and the ridge added to curvatures."""

    kind: int
    least: float
    ridge: float


class Limits(NamedTuple):
    """The most leaves and levels, how many columns a node looks at, and whether the best node is split first.

    Of equally good splits the first is taken that a node looks at: of columns in their order, or in a random one.
    """

    leaves: int
    depth: int
    tries: int
    best_first: bool
    in_order: bool


class Nodes(NamedTuple):
    """The nodes of a tree, children behind their parents; a leaf has no children (-1).

    column, last, mask, gain   the best split that was found, made only where there are children
    start, end                 the rows of a node are rows[start:end]
    slot                       which histogram of the pool is the node's, -1 for none
    All are (most nodes,) int64, but gain, float64, and sums, (most nodes, channels) float64, C order.
    """

    column: Ints
    last: Ints
    mask: Ints
    gain: Floats
    left: Ints
    right: Ints
    sums: Floats
    depth: Ints
    start: Ints
    end: Ints
    slot: Ints


class Pool(NamedTuple):
    """A pool of histograms for nodes that wait to be split; free[:left[0]] are the free slots.

    cells (slots, bins of all columns, channels) float64, C order; free (slots,) int64; left (1,) int64.
    """

    cells: Floats
    free: Ints
    left: Ints


class Scratch(NamedTuple):
    """Buffers reused by every node: a histogram, rows that go right, bins that go left.

    cells (bins of all columns, channels) float64, C order; rows (rows,) int32; goes_left (most bins,) bool.
    """

    cells: Floats
    rows: NDArray[np.int32]
    goes_left: Bools


class Growing(NamedTuple):
    """A tree being grown; `state` (1,) uint64 is the random state of the column draws."""

    data: Data
    columns: Columns
    rule: Rule
    limits: Limits
    nodes: Nodes
    pool: Pool
    scratch: Scratch
    state: Bits


# ---------------------------------------------------------------- histograms


@kernel
def add_rows(data: Data, start: int, end: int, kind: int, offsets: Ints, out: Floats) -> None:
    """Adds the rows of a node to a histogram of shape (bins of all columns, channels)."""
    codes, rows, stats, labels = data.codes, data.rows, data.stats, data.labels
    columns = codes.shape[1]
    starts = offsets.astype(np.uint64)  # an index without a sign needs no look at its sign
    if kind <= GRADIENT:
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
def add_rows_of_columns(data: Data, start: int, end: int, kind: int, offsets: Ints, chosen: Ints, out: Floats) -> None:
    """Fills the histogram of a node for the chosen columns only."""
    rows, stats, labels = data.rows, data.stats, data.labels
    for column in chosen:
        out[offsets[column] : offsets[column + 1]] = 0.0
        codes, first = data.turned[column], np.uint64(offsets[column])
        for place in range(start, end):
            row = np.uint64(rows[place])
            cell = first + np.uint64(codes[row])
            if kind <= GRADIENT:
                out[cell, 0] += stats[row, 0]
                out[cell, 1] += stats[row, 1]
            else:
                out[cell, labels[row]] += stats[row, 0]


@kernel
def add_sums(data: Data, start: int, end: int, kind: int, out: Floats) -> None:
    """Adds the rows of a node to its sums."""
    rows, stats, labels = data.rows, data.stats, data.labels
    for place in range(start, end):
        row = np.uint64(rows[place])
        if kind <= GRADIENT:
            out[0] += stats[row, 0]
            out[1] += stats[row, 1]
        else:
            out[labels[row]] += stats[row, 0]


# ---------------------------------------------------------------- the search for a split


@kernel
def curvature_of(sums: Floats, kind: int) -> float:
    """The denominator of a leaf's value: the sum of weights or curvatures."""
    return float(sums[1] - np.floor(sums[1] / PACK) * PACK) if kind == CURVED else float(sums[1])


@kernel
def weight_of(sums: Floats, kind: int) -> float:
    """The total weight, or number, of the rows in some sums."""
    if kind > GRADIENT:
        return float(sums.sum())
    return float(np.floor(sums[1] / PACK)) if kind == CURVED else float(sums[1])


@kernel
def purity(sums: Floats, kind: int, ridge: float) -> float:
    """The impurity decrease of a leaf with these sums; a split gains that of both sides less that of the whole.

    gradients G^2 / (H + ridge); Gini sum n_c^2 / n; entropy sum n_c log2 n_c - n log2 n, with 0 log 0 = 0
    """
    if kind <= GRADIENT:
        weight = curvature_of(sums, kind) + ridge
        return sums[0] * sums[0] / weight if weight > 0 else 0.0
    whole, found = 0.0, 0.0
    for count in sums:
        whole += count
        if count > 0:
            found += count * count if kind == GINI else count * np.log2(count)
    if whole <= 0:
        return 0.0
    return found / whole if kind == GINI else found - whole * np.log2(whole)


@kernel
def means_of(cells: Floats, rule: Rule, label: int) -> Floats:
    """The sort keys of a categorical column's bins (mean target or share of a label), with empty bins last."""
    means = np.empty(len(cells))
    for place in range(len(cells)):
        weight = weight_of(cells[place], rule.kind)
        if weight <= 0:
            means[place] = np.inf
        elif rule.kind <= GRADIENT:
            means[place] = cells[place, 0] / (weight + rule.ridge)
        else:
            means[place] = cells[place, label] / weight
    return means


@kernel
def best_cut(
    cells: Floats, order: Ints, total: Floats, rule: Rule, before: float, best: float, left: Floats, right: Floats
) -> tuple[float, int]:
    """The gain and place of the best cut through one column's ordered bins; place -1 where none exceeds `best`.

    A gain must be larger by more than rounding, so that of equal cuts the first is taken. `left` and `right` are room.
    """
    channels, found = cells.shape[1], -1
    left[:] = 0.0
    for place in range(len(order) - 1):  # left holds the bins order[:place]; best is the gain of the cut at `found`
        for channel in range(channels):
            left[channel] += cells[order[place], channel]
            right[channel] = total[channel] - left[channel]
        if weight_of(left, rule.kind) < rule.least:
            continue
        if weight_of(right, rule.kind) < rule.least:
            break
        gain = purity(left, rule.kind, rule.ridge) + purity(right, rule.kind, rule.ridge) - before
        if gain > best * (1 + 1e-12) + 1e-12 * abs(before):
            best, found = gain, place
    return best, found


@kernel
def best_split(
    cells: Floats, columns: Columns, chosen: Ints, total: Floats, rule: Rule, goes_left: Bools
) -> tuple[float, int, int]:
    """The gain, the column and the last bin on the left of the best split; column -1 where no split gains.

    Bins of a categorical column are put into the order of their mean, which holds the best subset for two classes and
    for gradients [Breiman et al. 1984, Theorem 4.5]; for more classes, of each class against the rest. `goes_left`
    takes the bins of the best split.
    """
    channels, before = cells.shape[1], purity(total, rule.kind, rule.ridge)
    best, column_found, bin_found = 0.0, -1, -1
    left, right = np.empty(channels), np.empty(channels)
    for column in chosen:  # best, column_found, bin_found and goes_left are the best split of the columns before
        part = cells[columns.offsets[column] : columns.offsets[column + 1]]
        if not columns.categorical[column]:
            best, place = best_cut(part, np.arange(len(part)), total, rule, before, best, left, right)
            if place >= 0:
                column_found, bin_found = column, place
            continue
        for label in range(0 if rule.kind > GRADIENT and channels > 2 else channels - 1, channels):
            order = np.argsort(means_of(part, rule, label))
            best, place = best_cut(part, order, total, rule, before, best, left, right)
            if place >= 0:
                column_found, bin_found = column, place
                goes_left[:] = False
                for rank in range(len(order)):
                    goes_left[order[rank]] = rank <= place
    return best, column_found, bin_found


@kernel
def centred(cells: Floats, columns: Columns, column: int, last: int, kind: int) -> int:
    """Moves a split into the middle of the empty bins beside it; the rows are divided the same way.

    A value that was not seen goes to the side whose rows are nearer.
    """
    first = columns.offsets[column]
    edges, full = columns.edges[first : columns.offsets[column + 1]], last + 1
    while full < len(edges) - 1 and weight_of(cells[first + full], kind) <= 0:
        full += 1
    middle = (edges[last] + edges[full - 1]) / 2
    place = last
    while (
        place < full - 1 and edges[place + 1] <= middle
    ):  # bins last + 1 .. full - 1 are empty, edges[place] <= middle
        place += 1
    if place < full - 1 and edges[place + 1] - middle < middle - edges[place]:
        place += 1
    return place


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
    """`tries` different columns in a random order."""
    found = np.arange(columns)
    for place in range(tries):  # found is a permutation whose first `place` entries are drawn
        other = place + int(next_word(state) >> np.uint64(33)) % (columns - place)
        found[place], found[other] = found[other], found[place]
    return found[:tries]


# ---------------------------------------------------------------- the tree


@kernel
def take_slot(pool: Pool) -> int:
    """Takes a free slot of the pool, and clears its histogram."""
    pool.left[0] -= 1
    slot = pool.free[pool.left[0]]
    pool.cells[slot] = 0.0
    return int(slot)


@kernel
def give_slot(pool: Pool, nodes: Nodes, node: int) -> None:
    """Returns the histogram slot of a node, if it has one, to the pool."""
    if nodes.slot[node] >= 0:
        pool.free[pool.left[0]] = nodes.slot[node]
        pool.left[0] += 1
        nodes.slot[node] = -1


@kernel
def sum_node(tree: Growing, node: int) -> None:
    """Writes the sums of a node, from its histogram where it has one."""
    nodes = tree.nodes
    if nodes.slot[node] < 0:
        add_sums(tree.data, nodes.start[node], nodes.end[node], tree.rule.kind, nodes.sums[node])
        return
    cells = tree.pool.cells[nodes.slot[node]]
    for cell in range(tree.columns.offsets[1]):  # every row has a bin in the first column
        for channel in range(cells.shape[1]):
            nodes.sums[node, channel] += cells[cell, channel]


@kernel
def find_split(tree: Growing, node: int) -> bool:
    """Stores the best split of a node, and returns whether there is one."""
    nodes, columns, rule, limits = tree.nodes, tree.columns, tree.rule, tree.limits
    start, end, sums = nodes.start[node], nodes.end[node], nodes.sums[node]
    if nodes.depth[node] >= limits.depth or weight_of(sums, rule.kind) < 2 * rule.least or end - start < 2:
        return False
    width = len(columns.categorical)
    cells = tree.scratch.cells
    chosen = np.arange(width) if limits.in_order else some_columns(width, limits.tries, tree.state)
    if limits.tries < width:
        add_rows_of_columns(tree.data, start, end, rule.kind, columns.offsets, chosen, cells)
    elif nodes.slot[node] >= 0:
        cells = tree.pool.cells[nodes.slot[node]]
    else:
        cells[:] = 0.0
        add_rows(tree.data, start, end, rule.kind, columns.offsets, cells)
    gain, column, last = best_split(cells, columns, chosen, sums, rule, tree.scratch.goes_left)
    if column < 0:
        return False
    if not columns.categorical[column]:
        last = centred(cells, columns, column, last, rule.kind)
    nodes.gain[node], nodes.column[node], nodes.last[node] = gain, column, last
    return True


@kernel
def with_mask(masks: Bools, used: np.int64, goes_left: Bools) -> Bools:
    """The masks with `goes_left` appended; the array is doubled when full."""
    if used == len(masks):
        larger = np.zeros((2 * used, masks.shape[1]), np.bool_)
        for mask in range(used):
            for place in range(masks.shape[1]):
                larger[mask, place] = masks[mask, place]
        masks = larger
    for place in range(masks.shape[1]):
        masks[used, place] = goes_left[place]
    return masks


@kernel
def picked(opened: Ints, opens: np.int64, gain: Floats, best_first: bool) -> int:
    """The index of the open node to split next: the last one, or with `best_first` the one with the largest gain."""
    pick = int(opens) - 1
    if best_first:
        for place in range(opens):  # `pick` gains most of the last one and of opened[:place]
            if gain[opened[place]] > gain[opened[pick]]:
                pick = place
    return pick


@kernel
def split_rows(tree: Growing, node: int, goes_left: Bools) -> int:
    """Sorts a node's rows stably, left side first, and returns where the right side starts."""
    nodes, rows, spare = tree.nodes, tree.data.rows, tree.scratch.rows
    codes, last, by_mask = tree.data.turned[nodes.column[node]], nodes.last[node], nodes.mask[node] >= 0
    middle, behind = nodes.start[node], 0  # rows[start:middle] go left, spare[:behind] right; middle + behind = place
    for place in range(nodes.start[node], nodes.end[node]):  # both sides are written, one counts: no branch to guess
        row = rows[place]
        code = codes[np.uint64(row)]
        left = goes_left[code] if by_mask else code <= last
        rows[middle] = row
        spare[behind] = row
        middle += left
        behind += 1 - left
    for place in range(behind):
        rows[middle + place] = spare[place]
    return int(middle)


@kernel
def make_children(tree: Growing, node: int, child: np.int64, masks: Bools) -> None:
    """Splits the rows of a node between two new nodes, `child` and `child` + 1."""
    nodes = tree.nodes
    middle = split_rows(tree, node, masks[max(nodes.mask[node], 0)])
    nodes.left[node], nodes.right[node] = child, child + 1
    nodes.start[child], nodes.end[child] = nodes.start[node], middle
    nodes.start[child + 1], nodes.end[child + 1] = middle, nodes.end[node]
    nodes.depth[child] = nodes.depth[child + 1] = nodes.depth[node] + 1


@kernel
def hand_down(tree: Growing, node: int) -> None:
    """Makes the children's histograms: the smaller child's from its rows, the larger's by subtraction."""
    nodes, pool = tree.nodes, tree.pool
    if nodes.slot[node] < 0:
        return
    small, large = nodes.left[node], nodes.right[node]
    if nodes.end[small] - nodes.start[small] > nodes.end[large] - nodes.start[large]:
        small, large = large, small
    if pool.left[0] == 0 or nodes.depth[small] >= tree.limits.depth:
        give_slot(pool, nodes, node)
        return
    nodes.slot[small], nodes.slot[large] = take_slot(pool), nodes.slot[node]
    nodes.slot[node] = -1
    fresh, old = pool.cells[nodes.slot[small]], pool.cells[nodes.slot[large]]
    add_rows(tree.data, nodes.start[small], nodes.end[small], tree.rule.kind, tree.columns.offsets, fresh)
    for cell in range(len(old)):
        for channel in range(old.shape[1]):
            old[cell, channel] -= fresh[cell, channel]


@kernel
def grow(tree: Growing, masks: Bools) -> tuple[np.int64, Bools, np.int64]:
    """Grows a tree from a root with all rows; returns the number of nodes, the masks and the number of masks.

    Counters start as np.int64: a plain 0 would have kernels compiled twice, for the constant and for the variable.
    """
    nodes, pool, scratch = tree.nodes, tree.pool, tree.scratch
    opened = np.zeros(len(nodes.left), np.int64)
    opens, masked, ready, made = np.int64(0), np.int64(0), np.int64(0), np.int64(1)
    if len(pool.free) > 0:
        nodes.slot[0] = take_slot(pool)
        add_rows(
            tree.data, nodes.start[0], nodes.end[0], tree.rule.kind, tree.columns.offsets, pool.cells[nodes.slot[0]]
        )
    while True:  # nodes below `ready` were searched; opened[:opens] may still be split; the others are leaves
        for node in range(ready, made):
            sum_node(tree, node)
            if not find_split(tree, node):
                give_slot(pool, nodes, node)
                continue
            if tree.columns.categorical[nodes.column[node]]:
                masks = with_mask(masks, masked, scratch.goes_left)
                nodes.mask[node] = masked
                masked += 1
            opened[opens] = node
            opens += 1
        ready = made
        if opens == 0 or made >= len(nodes.left):
            return made, masks, masked
        pick = picked(opened, opens, nodes.gain, tree.limits.best_first)
        node, opens = opened[pick], opens - 1
        opened[pick] = opened[opens]
        make_children(tree, node, made, masks)
        hand_down(tree, node)
        made += 2
