"""Rows of the RaptorQ system, its dense checks over 256 elements, and elimination; eight bytes stand in each number.

Values are (symbols, words) of uint64, one symbol a row. The field is that of x^8 + x^4 + x^3 + x^2 + 1: doubling shifts
every byte and adds 0x1D to those that overflow, eight bytes at a time.
"""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Values = NDArray[np.uint64]
Index = NDArray[np.int64]

WIDEST = 30 + 3  # intermediate symbols in one encoding symbol: 30 of the LT part and 3 permanently inactive
SLICE = 128  # words of every symbol that are worked on at a time: 1 KiB
LOW_BITS = np.uint64(0x0101010101010101)
NO_TOP_BITS = np.uint64(0x7F7F7F7F7F7F7F7F)


@kernel
def random(y: int, i: int, most: int, tables: NDArray[np.uint32]) -> int:
    """A number below `most` from the tables V0 to V3.                                [RFC 6330, Section 5.3.5.1]"""
    value = (
        tables[(y + i) & 255]
        ^ tables[256 + (((y >> 8) + i) & 255)]
        ^ tables[512 + (((y >> 16) + i) & 255)]
        ^ tables[768 + (((y >> 24) + i) & 255)]
    )
    return int(np.int64(value) % most)


@kernel
def symbol_rows(ids: Index, shape: Index, degrees: Index, tables: NDArray[np.uint32], start: Index, row: Index) -> None:
    """The intermediate symbols that add up to each encoding symbol: those of ids[i] are row[start[i] : start[i + 1]].

    `shape` is (J, W, P, P1): systematic index, LT symbols, permanently inactive ones, the first prime from P on.
                                                                          [RFC 6330, Sections 5.3.5.3 and 5.3.5.4]
    """
    index, lt, permanent, prime = shape[0], shape[1], shape[2], shape[3]
    factor = (53591 + 997 * index) | 1
    at = 0
    for i in range(ids.size):
        start[i] = at
        x = ids[i]
        y = (10267 * (index + 1) + x * factor) & 0xFFFFFFFF
        v = random(y, 0, 1 << 20, tables)
        degree = 1
        while v >= degrees[degree]:
            degree += 1
        degree = min(degree, lt - 2)
        step = 1 + random(y, 1, lt - 1, tables)
        place = random(y, 2, lt, tables)
        for _ in range(degree):
            row[at] = place
            at += 1
            place = (place + step) % lt
        others = 2 + random(x, 3, 2, tables) if degree < 4 else 2
        step = 1 + random(x, 4, prime - 1, tables)
        place = random(x, 5, prime, tables)
        for _ in range(others):
            while place >= permanent:
                place = (place + step) % prime
            row[at] = lt + place
            at += 1
            place = (place + step) % prime
    start[ids.size] = at


@kernel
def dense_pairs(count: int, dense: int, tables: NDArray[np.uint32], pairs: Index) -> None:
    """Writes pairs (count, 2): the two dense checks that each running sum enters.      [RFC 6330, Section 5.3.3.3]"""
    for j in range(count):
        first = random(j + 1, 6, dense, tables)
        pairs[j, 0] = first
        pairs[j, 1] = (first + random(j + 1, 7, dense - 1, tables) + 1) % dense


@kernel
def _double(x: np.uint64) -> np.uint64:
    """Eight bytes, each times α."""
    over = (x >> np.uint64(7)) & LOW_BITS
    over = over ^ (over << np.uint64(2)) ^ (over << np.uint64(3)) ^ (over << np.uint64(4))
    return ((x & NO_TOP_BITS) << np.uint64(1)) ^ over


@kernel
def dense_sums(values: Values, pairs: Index, sums: Values) -> None:
    """Writes sums (dense checks, words): what the dense checks find in pairs.shape[0] + 1 symbols, in one pass.

    The running sum is α times itself plus the next symbol; each but the last enters two checks, the last one all of
    them, times α^i in check i.
    """
    sums[:] = 0
    last = pairs.shape[0]
    running = np.empty(SLICE, np.uint64)
    for first in range(0, values.shape[1], SLICE):
        size = min(SLICE, values.shape[1] - first)
        running[:] = 0
        for j in range(last + 1):
            symbol = values[j, first : first + size]
            for w in range(size):
                running[w] = _double(running[w]) ^ symbol[w]
            if j < last:
                one = sums[pairs[j, 0], first : first + size]
                other = sums[pairs[j, 1], first : first + size]
                for w in range(size):
                    one[w] ^= running[w]
                    other[w] ^= running[w]
        for i in range(sums.shape[0]):
            for w in range(size):
                sums[i, first + w] ^= running[w]
                running[w] = _double(running[w])


@kernel
def _add_times(row: Values, factor: int, source: Values) -> None:
    """Adds factor · source to a row."""
    if factor == 1:
        for w in range(row.size):
            row[w] ^= source[w]
        return
    for w in range(row.size):
        x = source[w]
        total = np.uint64(0)
        for bit in range(8):
            total ^= x & (np.uint64(0) - np.uint64((factor >> bit) & 1))
            x = _double(x)
        row[w] ^= total


@kernel
def _clear_column(rows: Values, octets: NDArray[np.uint8], column: int, pivot: int) -> None:
    for r in range(rows.shape[0]):
        factor = octets[r, column]
        if factor != 0 and r != pivot:
            _add_times(rows[r], int(factor), rows[pivot])


@kernel
def solve(
    rows: Values, octets: NDArray[np.uint8], unknowns: int, binary: int, inverses: NDArray[np.uint8], pivots: Index
) -> int:
    """Solves for the unknowns, whose factors are the first bytes of each row; returns how many were found.

    `octets` is the same memory as bytes. The first `binary` rows hold 0 and 1 only and serve first; the others take the
    columns that no binary row is left for, so that no product is needed among binary rows. pivots[c] is the row that
    then holds unknown c alone; a row that serves no unknown is left with zeros for factors.
    """
    used = np.zeros(rows.shape[0], np.bool_)
    found = 0
    for part in range(2):
        low, high = (0, binary) if part == 0 else (binary, rows.shape[0])
        for c in range(unknowns):
            if part == 0:
                pivots[c] = -1
            elif pivots[c] >= 0:
                continue
            for r in range(low, high):
                if octets[r, c] != 0 and not used[r]:
                    pivots[c] = r
                    break
            if pivots[c] < 0:
                continue
            pivot = pivots[c]
            used[pivot] = True
            found += 1
            if octets[pivot, c] != 1:
                _add_times(rows[pivot], int(inverses[octets[pivot, c]]) ^ 1, rows[pivot])
            _clear_column(rows, octets, c, pivot)
    return found


@kernel
def copy_rows(
    source: NDArray[np.uint8], rows: Index, offset: int, size: int, target: NDArray[np.uint8], places: Index
) -> None:
    """The first `size` bytes of target[places[i]] become those of source[rows[i]] from byte `offset` on."""
    for i in range(rows.size):
        one = source[rows[i], offset : offset + size]
        other = target[places[i], :size]
        for b in range(size):
            other[b] = one[b]
