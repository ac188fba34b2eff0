"""Kernels for reports packed as bits: setting, drawing and counting bits."""

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


@inlined
def _settled(result: Any, lane: Any, threshold: Any, words: Any, at: int, pool: Any, left: int) -> Any:
    """Finishes a lane that still equals the threshold after its first twelve bits, eight bits at a time."""
    done = 12
    while done < 52:
        if left == 0:
            pool = words[at]
            at += 1
            left = 8
        piece = pool & np.uint64(255)
        pool >>= np.uint64(8)
        left -= 1
        wanted = (threshold >> np.uint64(44 - done)) & np.uint64(255)
        done += 8
        if piece != wanted:
            if piece < wanted:
                result |= lane
            break
    return result, at, pool, left


@inlined
def _coins(threshold: Any, words: Any, at: int, pool: Any, left: int) -> Any:
    """64 independent bits, each one with chance threshold / 2^52 exactly: at most 52 words.

    Bit planes from the top settle all lanes at once until the threshold's last one; four of them leave one lane in
    sixteen, and each of those takes eight bits from a pool, which leave one in 256.
    """
    result = np.uint64(0)
    open_lanes = ~np.uint64(0)
    for plane in range(4):
        if threshold & ((np.uint64(1) << np.uint64(52 - plane)) - np.uint64(1)) == np.uint64(0):
            return result, at, pool, left
        word = words[at]
        at += 1
        if (threshold >> np.uint64(51 - plane)) & np.uint64(1):
            result |= open_lanes & ~word
            open_lanes &= word
        else:
            open_lanes &= ~word
    if threshold & np.uint64((1 << 48) - 1) == np.uint64(0):
        return result, at, pool, left
    wanted = (threshold >> np.uint64(40)) & np.uint64(255)
    while open_lanes != np.uint64(0):
        lane = open_lanes & (~open_lanes + np.uint64(1))
        open_lanes ^= lane
        if left == 0:
            pool = words[at]
            at += 1
            left = 8
        piece = pool & np.uint64(255)
        pool >>= np.uint64(8)
        left -= 1
        result |= lane if piece < wanted else np.uint64(0)
        if piece == wanted:
            result, at, pool, left = _settled(result, lane, threshold, words, at, pool, left)
    return result, at, pool, left


@kernel
def noisy_rows(places: Any, bits: int, true: int, false: int, words: Any, reports: Any) -> Any:
    """Draws rows (n, width) uint64 of bits, each 1 with weight `true` at places (n,) int32 and `false` elsewhere.

    Returns the rows made before the words could run out (a row takes at most 52 width + 52) and the words used.
    """
    width = reports.shape[1]
    at = 0
    pool = np.uint64(0)
    left = 0
    coins = np.uint64(0)
    likely = np.uint64(true)
    unlikely = np.uint64(false)
    last = ~np.uint64(0) if (bits & 63) == 0 else (np.uint64(1) << np.uint64(bits & 63)) - np.uint64(1)
    for i in range(places.size):
        if at + 52 * width + 52 > words.size:
            return i, at
        for w in range(width):
            row, at, pool, left = _coins(unlikely, words, at, pool, left)
            reports[i, w] = row
        reports[i, width - 1] &= last
        if (i & 63) == 0:
            coins, at, pool, left = _coins(likely, words, at, pool, left)
        place = places[i]
        mask = np.uint64(1) << np.uint64(place & 63)
        kept = reports[i, place >> 6] & ~mask
        reports[i, place >> 6] = kept | (mask if coins & np.uint64(1) else np.uint64(0))
        coins >>= np.uint64(1)
    return places.size, at


@kernel
def through_rows(rows: Any, bits: int, if_zero: int, if_one: int, words: Any, reports: Any) -> Any:
    """Sends rows (n, width) uint64 through a binary channel: each bit becomes 1 with weight `if_zero` or `if_one`.

    Where the two chances of an error are equal, one coin a bit says whether it is flipped. Returns the rows made before
    the words could run out (a row takes at most 104 width) and the words used.
    """
    width = reports.shape[1]
    at = 0
    pool = np.uint64(0)
    left = 0
    up = np.uint64(if_zero)
    stay = np.uint64(if_one)
    symmetric = if_zero + if_one == 1 << 52
    last = ~np.uint64(0) if (bits & 63) == 0 else (np.uint64(1) << np.uint64(bits & 63)) - np.uint64(1)
    for i in range(rows.shape[0]):
        if at + 104 * width > words.size:
            return i, at
        for w in range(width):
            sent = rows[i, w]
            zeros, at, pool, left = _coins(up, words, at, pool, left)
            if symmetric:
                reports[i, w] = sent ^ zeros
            else:
                ones, at, pool, left = _coins(stay, words, at, pool, left)
                reports[i, w] = (ones & sent) | (zeros & ~sent)
        reports[i, width - 1] &= last
    return rows.shape[0], at
