"""Counting distinct keys by open addressing, and Mondrian's cuts."""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

FIRST_SLOTS = 1 << 12
"""Slots of the first hash table, a power of two; it grows fourfold when half full."""

SPARSE = 2
"""With more possible values than so many times the rows, sorting is cheaper than counting."""


@kernel
def tally(
    keys: NDArray[np.int64], weights: NDArray[np.int64], numbers: NDArray[np.int32], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """The distinct keys (none negative) in order of appearance, the weight of each, and whether all were counted.

    Without `weights` every key weighs one; `numbers`, where given, receives the place of each key among the distinct
    ones. Counting stops when there are more than `most`.

    keys      (rows,) int64
    weights   (rows,) or (0,) int64
    numbers   (rows,) or (0,) int32, written
    A key is hashed by Fibonacci hashing (times 2^64 over the golden ratio) and probed linearly.
    """
    slots = FIRST_SLOTS
    held, places = np.full(slots, -1, np.int64), np.empty(slots, np.int32)
    values, counts = np.empty(slots, np.int64), np.zeros(slots, np.int64)
    found = 0
    for row in range(keys.shape[0]):
        # Invariant: values[:found] are the distinct keys before `row`, counts[:found] their weights; the table is at
        # most half full, so that every probe ends.
        key = keys[row]
        slot = np.int64((np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & (slots - 1)
        while held[slot] != key and held[slot] != -1:
            slot = (slot + 1) & (slots - 1)
        if held[slot] == -1:
            if found == most:
                return values[:0], counts[:0], False
            held[slot], places[slot], values[found] = key, found, key
            found += 1
        place = places[slot]
        counts[place] += weights[row] if weights.shape[0] else 1
        if numbers.shape[0]:
            numbers[row] = place
        if 2 * found > slots:
            slots *= 4
            held, places = np.full(slots, -1, np.int64), np.empty(slots, np.int32)
            for place in range(found):
                slot = np.int64((np.uint64(values[place]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & (
                    slots - 1
                )
                while held[slot] != -1:
                    slot = (slot + 1) & (slots - 1)
                held[slot], places[slot] = values[place], place
            more, more_counts = np.empty(slots // 2 + 1, np.int64), np.zeros(slots // 2 + 1, np.int64)
            more[:found], more_counts[:found] = values[:found], counts[:found]
            values, counts = more, more_counts
    return values[:found], counts[:found], True


@kernel
def _measure(
    rows: NDArray[np.int32],
    weights: NDArray[np.int32],
    begin: int,
    end: int,
    low: NDArray[np.int32],
    high: NDArray[np.int32],
) -> int:
    """The weight of some rows; `low` and `high` receive the ends of each column.

    rows (rows, columns) int32, C order; weights (rows,) int32; low, high (columns,) int32, written.
    """
    total = 0
    low[:] = rows[begin]
    high[:] = rows[begin]
    for row in range(begin, end):
        total += weights[row]
        for column in range(rows.shape[1]):
            value = rows[row, column]
            if value < low[column]:
                low[column] = value
            elif value > high[column]:
                high[column] = value
    return total


@kernel
def _counted_cut(
    values: NDArray[np.int32], weights: NDArray[np.int32], low: int, high: int, k: int, count: NDArray[np.int64]
) -> int:
    """The value nearest to the middle that leaves k on both sides, or -1, by counting every value between the ends.

    values, weights (rows,) int32; count (values,) int64, scratch, of which low ... high are overwritten.
    """
    count[low : high + 1] = 0
    for row in range(values.shape[0]):
        count[values[row]] += weights[row]
    total, left, best = int(weights.sum()), 0, -1
    off = total + 1
    for value in range(low, high):  # invariant: `left` is the weight up to the value before, `best` the best cut so far
        left += count[value]
        if left >= k and total - left >= k and abs(2 * left - total) < off:
            best, off = value, abs(2 * left - total)
    return best


@kernel
def _sorted_cut(values: NDArray[np.int32], weights: NDArray[np.int32], k: int) -> int:
    """The same cut as `_counted_cut`, by sorting: faster for few rows with many possible values."""
    order = np.argsort(values)
    total, left, best = int(weights.sum()), 0, -1
    off = total + 1
    for place in range(order.shape[0] - 1):
        left += weights[order[place]]
        apart = values[order[place]] != values[order[place + 1]]
        if apart and left >= k and total - left >= k and abs(2 * left - total) < off:
            best, off = values[order[place]], abs(2 * left - total)
    return best


@kernel
def _vary(
    values: NDArray[np.int32],
    place: NDArray[np.int32],
    secret: NDArray[np.int32],
    cut: int,
    seen: NDArray[np.int64],
    stamp: int,
) -> int:
    """The fewest different codes of `secret` on either side of a cut; `seen` remembers them under this stamp.

    values, place (rows,) int32; secret (all rows,) int32, read at `place`; seen (2, codes) int64, scratch.
    """
    left, right = 0, 0
    for row in range(values.shape[0]):
        side = 1 if values[row] > cut else 0
        code = secret[place[row]]
        if seen[side, code] != stamp:
            seen[side, code] = stamp
            if side:
                right += 1
            else:
                left += 1
    return min(left, right)


@kernel
def _divide(
    rows: NDArray[np.int32],
    weights: NDArray[np.int32],
    place: NDArray[np.int32],
    begin: int,
    end: int,
    column: int,
    cut: int,
) -> int:
    """Moves the rows up to the cut to the front; gives the first row beyond it.

    rows (rows, columns) int32, C order, weights and place (rows,) int32: all three are permuted alike, in place.
    """
    first, last = begin, end - 1
    while True:  # invariant: rows before `first` are up to the cut, rows behind `last` beyond it
        while first <= last and rows[first, column] <= cut:
            first += 1
        while first <= last and rows[last, column] > cut:
            last -= 1
        if first >= last:
            return first
        for other in range(rows.shape[1]):
            rows[first, other], rows[last, other] = rows[last, other], rows[first, other]
        place[first], place[last] = place[last], place[first]
        weights[first], weights[last] = weights[last], weights[first]


@kernel
def mondrian(
    rows: NDArray[np.int32],
    weights: NDArray[np.int32],
    secret: NDArray[np.int32],
    sizes: NDArray[np.int64],
    k: int,
    l: int,  # noqa: E741  the letter of the literature
    part: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Mondrian: cuts the rows in two near the middle of the widest column while both halves stay large enough.

    Both sides of a cut keep at least k (by weight) and, where l > 1, l different codes of `secret`. `part` receives
    the group of each row; the answers are the lowest and the highest code of every group and column.

    rows      (rows, columns) int32, C order: codes below `sizes`
    weights   (rows,) int32: how many people a row stands for
    secret    (rows,) int32: codes of the sensitive column
    sizes     (columns,) int64: how many codes each column has
    part      (rows,) int32, written; the answers are (groups, columns) int32
    k, l are the letters of k-anonymity and l-diversity [LeFevre et al. 2006].
    """
    count, width = rows.shape
    place = np.arange(count).astype(np.int32)
    stack = np.empty((128, 2), np.int64)  # the smaller side is cut first, so the stack stays below log2(rows)
    stack[0, 0], stack[0, 1] = 0, count
    depth, groups, stamp = 1, 0, 0
    lows, highs = np.empty((1024, width), np.int32), np.empty((1024, width), np.int32)
    tallied, seen = np.zeros(sizes.max(), np.int64), np.zeros((2, secret.max() + 1), np.int64)
    low, high, span = np.empty(width, np.int32), np.empty(width, np.int32), np.empty(width)
    while depth > 0:
        # Invariant: stack[:depth] holds disjoint ranges of rows that are still to be cut; all others have a group.
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        middle = begin
        total = _measure(rows, weights, begin, end, low, high)
        for column in range(width):
            span[column] = (high[column] - low[column]) / max(sizes[column] - 1, 1)
        while total >= 2 * k and middle == begin:
            column = int(np.argmax(span))
            if span[column] <= 0:
                break
            span[column] = -1.0
            values = rows[begin:end, column]
            if high[column] - low[column] > SPARSE * (end - begin):
                cut = _sorted_cut(values, weights[begin:end], k)
            else:
                cut = _counted_cut(values, weights[begin:end], low[column], high[column], k, tallied)
            stamp += 1
            if cut >= 0 and (l <= 1 or _vary(values, place[begin:end], secret, cut, seen, stamp) >= l):
                middle = _divide(rows, weights, place, begin, end, column, cut)
        if middle > begin:
            larger = 0 if middle - begin > end - middle else 1
            stack[depth + larger, 0], stack[depth + larger, 1] = begin, middle
            stack[depth + 1 - larger, 0], stack[depth + 1 - larger, 1] = middle, end
            depth += 2
        else:
            if groups == lows.shape[0]:
                lows, highs = np.concatenate((lows, np.empty_like(lows))), np.concatenate((highs, np.empty_like(highs)))
            lows[groups], highs[groups] = low, high
            part[place[begin:end]] = groups
            groups += 1
    return lows[:groups], highs[:groups]
