"""Packed bits in reports: drawn, set and counted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bruit.local import _bit_kernels
from bruit.randomness import bernoulli, bernoulli_bits

_BLOCK: Final = 1 << 14  # words made at a time: they stay in the cache until they are written


def words_for(bits: int) -> int:
    """How many words of 64 hold so many bits."""
    return -(-bits // 64)


def blocks(rows: int, width: int) -> Iterator[slice]:
    """Slices of rows that are small enough to stay in the cache."""
    step = max(1, _BLOCK // width)
    for start in range(0, rows, step):
        yield slice(start, min(rows, start + step))


def noisy_positions(
    places: NDArray[np.int32], bits: int, *, true: int, false: int, rng: np.random.Generator
) -> NDArray[np.uint64]:
    """Rows of `bits` independent bits: one at the row's place with weight `true`, elsewhere with weight `false`."""
    width = words_for(bits)
    reports = np.empty((len(places), width), np.uint64)
    last = np.uint64((1 << (bits % 64 or 64)) - 1)
    for part in blocks(len(places), width):
        rows = reports[part]
        rows[:] = bernoulli_bits(false, rows.size, rng=rng).reshape(rows.shape)
        _bit_kernels.place_bits(rows, places[part], bernoulli(true, len(rows), rng=rng))
        rows[:, -1] &= last
    return reports


def ones(reports: NDArray[np.uint64], bits: int) -> NDArray[np.int64]:
    """How many rows have each bit set."""
    width = words_for(bits)
    counts = np.zeros(64 * width, np.int64)
    _bit_kernels.count_bits(reports, np.zeros((8, width), np.uint64), counts)
    return counts[:bits]


def unpacked(reports: NDArray[Any], bits: int) -> NDArray[np.uint8]:
    """The bits of each row as zeros and ones."""
    rows = np.ascontiguousarray(reports, dtype="<u8").view(np.uint8)
    return np.unpackbits(rows, axis=1, count=bits, bitorder="little")
