"""Ordered-statistics decoding of short linear codes: flip few of the most reliable bits, re-encode, compare.

A word of n bits is `width` numbers of 64 bits, bit i of it in bit i & 63 of number i >> 6. Places are sorted by |llr|,
the surest first, and all words below are in that order.
"""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

SAME = 1e-6  # costs no further apart than this share of what two words differ in are equal: a rounding of float32

Words = NDArray[np.uint64]
Floats = NDArray[np.float64]


@kernel
def _bit(word: Words, i: int) -> np.uint64:
    return np.uint64((word[i >> 6] >> np.uint64(i & 63)) & np.uint64(1))


@kernel
def _sort_columns(generator: NDArray[np.uint8], order: NDArray[np.int64], rows: Words) -> None:
    """Rows (k, width) become the generator (k, n) with its columns in this order."""
    rows[:] = 0
    for r in range(generator.shape[0]):
        for i in range(order.size):
            rows[r, i >> 6] |= np.uint64(generator[r, order[i]]) << np.uint64(i & 63)


@kernel
def _eliminate(rows: Words, basis: NDArray[np.int64]) -> None:
    """Brings the first independent columns to unit columns; basis[r] is the one of row r."""
    k, width = rows.shape
    column = 0
    for r in range(k):
        pivot = r
        while True:
            pivot = r
            while pivot < k and _bit(rows[pivot], column) == 0:
                pivot += 1
            if pivot < k:
                break
            column += 1
        basis[r] = column
        for w in range(width):
            rows[r, w], rows[pivot, w] = rows[pivot, w], rows[r, w]
        for other in range(k):
            if other != r and _bit(rows[other], column):
                for w in range(width):
                    rows[other, w] ^= rows[r, w]
        column += 1


@kernel
def _cost_tables(sizes: Floats, tables: Floats) -> None:
    """tables[byte, v] is what the places of byte `byte` cost where the bits of v are wrong."""
    for byte in range(tables.shape[0]):
        tables[byte, 0] = 0.0
        for bit in range(8):
            place = 8 * byte + bit
            size = sizes[place] if place < sizes.size else 0.0
            for v in range(1 << bit):
                tables[byte, v | (1 << bit)] = tables[byte, v] + size


@kernel
def _cost(wrong: Words, tables: Floats) -> float:
    total = 0.0
    for byte in range(tables.shape[0]):
        total += tables[byte, (wrong[byte >> 3] >> np.uint64(8 * (byte & 7))) & np.uint64(255)]
    return total


@kernel
def _search(wrong: Words, rows: Words, tables: Floats, depth: int, best: Words, slack: float) -> bool:
    """Whether another word costs as little as the best, over all changes of up to `depth` basis bits.

    `wrong` is where the word of the surest bits differs from what was heard; `best` becomes that of the best word. Sets
    of rows are gone through in order by a stack of `depth` indices; costs further apart than `slack` are never equal.
    """
    k, width = rows.shape
    stack = np.zeros((depth + 1, width), np.uint64)
    chosen = np.zeros(depth + 1, np.int64)
    differ = np.empty(width, np.uint64)
    stack[0] = wrong
    best[:] = wrong
    least = _cost(wrong, tables)
    tied = False
    level = 0
    following = 0
    while level >= 0:  # rows chosen[:level] are added in stack[level], and `following` is the next to try
        if level == depth or following == k:
            level -= 1
            following = chosen[max(level, 0)] + 1
            continue
        for w in range(width):
            stack[level + 1, w] = stack[level, w] ^ rows[following, w]
        cost = _cost(stack[level + 1], tables)
        if cost <= least + slack:
            for w in range(width):
                differ[w] = stack[level + 1, w] ^ best[w]
            equal = abs(cost - least) <= SAME * _cost(differ, tables)
            tied = equal or (tied and cost >= least)
        if cost < least:
            least = cost
            best[:] = stack[level + 1]
        chosen[level] = following
        level += 1
        following += 1
    return tied


@kernel
def decode_ordered(
    likelihoods: NDArray[np.float32],
    orders: NDArray[np.int64],
    generator: NDArray[np.uint8],
    depth: int,
    word: NDArray[np.uint8],
    decided: NDArray[np.bool_],
) -> None:
    """Decodes log-likelihood ratios (words, n); orders (words, n) lists the most reliable positions first.

    decided is false where another word is as likely, or where the bits heard tell no single word.
    """
    words, n = likelihoods.shape
    k, width = generator.shape[0], (n + 63) // 64
    rows, basis = np.empty((k, width), np.uint64), np.empty(k, np.int64)
    base, best = np.empty(width, np.uint64), np.empty(width, np.uint64)
    sizes, tables = np.empty(n), np.empty((8 * width, 256))
    for t in range(words):
        order, total = orders[t], 0.0
        for i in range(n):
            sizes[i] = abs(np.float64(likelihoods[t, order[i]]))
            total += sizes[i]
        _sort_columns(generator, order, rows)
        _eliminate(rows, basis)
        _cost_tables(sizes, tables)
        base[:] = 0
        for i in range(n):
            base[i >> 6] |= np.uint64(1 if likelihoods[t, order[i]] < 0 else 0) << np.uint64(i & 63)
        best[:] = base
        for r in range(k):
            if _bit(best, basis[r]):
                for w in range(width):
                    base[w] ^= rows[r, w]
        tied = _search(base, rows, tables, depth, best, SAME * total)
        decided[t] = not tied and sizes[basis[k - 1]] > 0
        for i in range(n):
            hard = np.uint8(1 if likelihoods[t, order[i]] < 0 else 0)
            word[t, order[i]] = hard ^ np.uint8(_bit(best, i))
