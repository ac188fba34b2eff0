"""Reports made of bits: setting one, and counting them all."""

from typing import Any

import numpy as np

from bruit._jit import inlined, kernel


@kernel
def place_bits(reports: Any, places: Any, coins: Any) -> None:
    """Sets bit places[i] of row i to coins[i]: reports (n, width) uint64, places (n,) int32, coins (n,) bool."""
    one = np.uint64(1)
    for i in range(places.size):
        word = places[i] >> 6
        mask = one << np.uint64(places[i] & 63)
        kept = reports[i, word] & ~mask
        reports[i, word] = kept | mask if coins[i] else kept


@inlined
def _empty(planes: Any, width: int, counts: Any) -> None:
    for w in range(width):
        for j in range(8):
            t = planes[j, w]
            planes[j, w] = np.uint64(0)
            for u in range(64):
                counts[w * 64 + u] += np.int64((t >> np.uint64(u)) & np.uint64(1)) << j


@kernel
def count_bits(reports: Any, planes: Any, counts: Any) -> None:
    """Adds up the ones of each bit: reports (n, width) uint64, planes (8, width) zeros, counts (64 width,) int64.

    Vertical counters: plane j holds bit j of 64 running counts. Rows come in fours: two full adders turn four words and
    the running ones into one carry of weight four. The planes are emptied before they could overflow.
    """
    n, width = reports.shape
    done = 0
    full = n - (n & 3)
    for i in range(0, full, 4):
        for w in range(width):
            a = reports[i, w]
            b = reports[i + 1, w]
            c = reports[i + 2, w]
            d = reports[i + 3, w]
            ones = planes[0, w]
            x = ones ^ a
            first = (ones & a) | (x & b)
            ones = x ^ b
            x = ones ^ c
            second = (ones & c) | (x & d)
            planes[0, w] = x ^ d
            twos = planes[1, w]
            x = twos ^ first
            carry = (twos & first) | (x & second)
            planes[1, w] = x ^ second
            for j in range(2, 8):
                t = planes[j, w]
                planes[j, w] = t ^ carry
                carry &= t
        done += 4
        if done == 252:
            _empty(planes, width, counts)
            done = 0
    _empty(planes, width, counts)
    for i in range(full, n):
        for w in range(width):
            for u in range(64):
                counts[w * 64 + u] += np.int64((reports[i, w] >> np.uint64(u)) & np.uint64(1))
