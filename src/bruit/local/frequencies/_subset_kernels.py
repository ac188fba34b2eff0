"""Random subsets of fixed size, as packed bits."""

from typing import Any

import numpy as np

from bruit._jit import kernel


@kernel
def choose_rows(places: Any, kept: Any, size: int, chosen: int, words: Any, reports: Any) -> int:
    """Sets `chosen` random bits in each row, never the bit at the row's place, and one fewer where kept[i].

    Each bit is drawn uniformly by rejection: a word below the largest multiple of size - 1, a place not yet taken. At
    most half of the places are drawn so; for larger sets the places left out are drawn instead. Returns the rows done
    before the words ran out; an unfinished row is cleared.
    """
    at = 0
    others = np.uint64(size - 1)
    limit = np.uint64(0xFFFFFFFFFFFFFFFF) - np.uint64(0xFFFFFFFFFFFFFFFF) % others
    for i in range(places.size):
        wanted = chosen - 1 if kept[i] else chosen
        inverted = 2 * wanted > size - 1
        needed = size - 1 - wanted if inverted else wanted
        have = 0
        while have < needed:
            if at == words.size:
                reports[i, :] = np.uint64(0)
                return i
            word = words[at]
            at += 1
            if word >= limit:
                continue
            place = np.int64(word % others)
            place += 1 if place >= places[i] else 0
            mask = np.uint64(1) << np.uint64(place & 63)
            if reports[i, place >> 6] & mask == np.uint64(0):
                reports[i, place >> 6] |= mask
                have += 1
        if inverted:
            for w in range(reports.shape[1]):
                reports[i, w] = ~reports[i, w]
            reports[i, places[i] >> 6] &= ~(np.uint64(1) << np.uint64(places[i] & 63))
            if size & 63:
                reports[i, reports.shape[1] - 1] &= (np.uint64(1) << np.uint64(size & 63)) - np.uint64(1)
    return int(places.size)
