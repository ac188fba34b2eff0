"""Counting distinct keys by open addressing, and Mondrian's cuts."""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

FIRST_SLOTS = 1 << 12


@kernel
def tally(
    keys: NDArray[np.int64], weights: NDArray[np.int64], numbers: NDArray[np.int32], most: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], bool]:
    """The distinct keys (none negative) in order of appearance, the weight of each, and whether all were counted.

    Without `weights` every key weighs one; `numbers`, where given, receives the place of each key among the distinct
    ones. Counting stops when there are more than `most`.
    """
    slots = FIRST_SLOTS
    held, places = np.full(slots, -1, np.int64), np.empty(slots, np.int32)
    values, counts = np.empty(slots, np.int64), np.zeros(slots, np.int64)
    found = 0
    for row in range(keys.shape[0]):
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
def mondrian(
    rows: NDArray[np.int32],
    weights: NDArray[np.int64],
    secret: NDArray[np.int32],
    sizes: NDArray[np.int64],
    k: int,
    l: int,  # noqa: E741  the letter of the literature
    part: NDArray[np.int32],
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Cuts the rows (permuted in place) at the value nearest to the middle of the widest column, while it can.

    Both sides of a cut keep at least k (by weight) and, where l > 1, l different codes of `secret`. `part` receives
    the group of each row; the answers are the lowest and the highest code of every group and column.
    """
    count, width = rows.shape
    place = np.arange(count).astype(np.int32)
    stack = np.empty((128, 2), np.int64)  # the smaller side is cut first, so the stack stays below log2(rows)
    stack[0, 0], stack[0, 1] = 0, count
    depth, groups = 1, 0
    lows, highs = np.empty((1024, width), np.int32), np.empty((1024, width), np.int32)
    tally_of = np.zeros(sizes.max(), np.int64)
    seen = np.zeros((2, secret.max() + 1 if l > 1 else 1), np.int64)
    low, high, span = np.empty(width, np.int32), np.empty(width, np.int32), np.empty(width)
    stamp = 0
    while depth > 0:
        depth -= 1
        begin, end = stack[depth, 0], stack[depth, 1]
        total, cut = 0, False
        for column in range(width):
            low[column], high[column] = rows[begin, column], rows[begin, column]
        for row in range(begin, end):
            total += weights[row]
            for column in range(width):
                value = rows[row, column]
                if value < low[column]:
                    low[column] = value
                elif value > high[column]:
                    high[column] = value
        for column in range(width):
            span[column] = (high[column] - low[column]) / max(sizes[column] - 1, 1)
        while total >= 2 * k and not cut:
            column = int(np.argmax(span))
            if span[column] <= 0:
                break
            span[column] = -1.0
            tally_of[low[column] : high[column] + 1] = 0
            for row in range(begin, end):
                tally_of[rows[row, column]] += weights[row]
            left, best, off = 0, -1, total + 1
            for value in range(low[column], high[column]):
                left += tally_of[value]
                if left >= k and total - left >= k and abs(2 * left - total) < off:
                    best, off = value, abs(2 * left - total)
            if best < 0:
                continue
            if l > 1:
                stamp += 1
                kinds = np.zeros(2, np.int64)
                for row in range(begin, end):
                    side = 1 if rows[row, column] > best else 0
                    if seen[side, secret[place[row]]] != stamp:
                        seen[side, secret[place[row]]] = stamp
                        kinds[side] += 1
                if kinds.min() < l:
                    continue
            first, last = begin, end - 1
            while True:
                while first <= last and rows[first, column] <= best:
                    first += 1
                while first <= last and rows[last, column] > best:
                    last -= 1
                if first >= last:
                    break
                for other in range(width):
                    rows[first, other], rows[last, other] = rows[last, other], rows[first, other]
                place[first], place[last] = place[last], place[first]
                weights[first], weights[last] = weights[last], weights[first]
            if first - begin > end - first:
                stack[depth, 0], stack[depth, 1] = begin, first
                stack[depth + 1, 0], stack[depth + 1, 1] = first, end
            else:
                stack[depth, 0], stack[depth, 1] = first, end
                stack[depth + 1, 0], stack[depth + 1, 1] = begin, first
            depth += 2
            cut = True
        if not cut:
            if groups == lows.shape[0]:
                lows, highs = np.concatenate((lows, np.empty_like(lows))), np.concatenate((highs, np.empty_like(highs)))
            lows[groups], highs[groups] = low, high
            for row in range(begin, end):
                part[place[row]] = groups
            groups += 1
    return lows[:groups], highs[:groups]
