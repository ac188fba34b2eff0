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
                slot = np.int64((np.uint64(values[place]) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(20)) & (slots - 1)
                while held[slot] != -1:
                    slot = (slot + 1) & (slots - 1)
                held[slot], places[slot] = values[place], place
            more, more_counts = np.empty(slots // 2 + 1, np.int64), np.zeros(slots // 2 + 1, np.int64)
            more[:found], more_counts[:found] = values[:found], counts[:found]
            values, counts = more, more_counts
    return values[:found], counts[:found], True
