"""Hadamard response: draws a random column in which the answer's row has the sign chosen by a biased coin."""

from typing import Any

import numpy as np

from bruit._jit import inlined, kernel


@inlined
def _parity(x: Any) -> Any:
    x ^= x >> np.uint32(16)
    x ^= x >> np.uint32(8)
    x ^= x >> np.uint32(4)
    return (np.uint32(0x6996) >> (x & np.uint32(15))) & np.uint32(1)


@kernel
def send_columns(places: Any, order: int, truthful: int, words: Any, reports: Any) -> None:
    """Makes reports (n,) int32 below 2^order from places (n,) int32 and words (n, 2) uint64.

    The row is place + 1. A column of the wrong sign is moved to one of the right sign by changing the bit of the
    column at the row's lowest one, which pairs the two halves.
    """
    mask = np.uint32((1 << order) - 1)
    for i in range(places.size):
        row = np.uint32(places[i] + 1)
        column = np.uint32(words[i, 0]) & mask
        lie = np.uint32(1) if np.int64(words[i, 1] >> np.uint64(12)) >= truthful else np.uint32(0)
        if _parity(row & column) != lie:
            column ^= row & (~row + np.uint32(1))
        reports[i] = np.int32(column)
