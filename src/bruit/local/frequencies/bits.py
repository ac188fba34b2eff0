"""Drawing, setting and counting bits of reports packed in 64-bit words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bruit.channels import FiniteChannel
from bruit.local.frequencies import _bit_kernels
from bruit.randomness import words

_WORDS: Final = 1 << 14  # drawn at a time: they stay in the cache between the generator and the kernel


def words_for(bits: int) -> int:
    """The number of 64-bit words that hold `bits` bits."""
    return -(-bits // 64)


def noisy_positions(
    places: NDArray[np.int32], bits: int, *, true: int, false: int, rng: np.random.Generator
) -> NDArray[np.uint64]:
    """Rows of `bits` independent bits, each 1 with weight `true` at the row's place and `false` elsewhere."""
    reports = np.empty((len(places), words_for(bits)), np.uint64)
    _fed(_bit_kernels.noisy_rows, places, reports, bits, true, false, rng)
    return reports


def through(
    channel: FiniteChannel, rows: NDArray[np.uint64], bits: int, rng: np.random.Generator
) -> NDArray[np.uint64]:
    """The rows after every bit is sent through a binary channel."""
    if_zero, if_one = (int(row[1]) for row in channel.weights)
    reports = np.empty_like(rows)
    _fed(_bit_kernels.through_rows, rows, reports, bits, if_zero, if_one, rng)
    return reports


def _fed(
    kernel: Callable[..., tuple[int, int]],
    rows: NDArray[Any],
    reports: NDArray[np.uint64],
    bits: int,
    first: int,
    second: int,
    rng: np.random.Generator,
) -> None:
    """Runs a kernel over all rows with fresh words; what it left unused goes into its next block."""
    most = max(_WORDS, 1024 * reports.shape[1])
    worst, done = 104 * reports.shape[1] + 52, 0
    left: NDArray[np.uint64] = np.empty(0, np.uint64)
    while done < len(rows):
        fresh = words(rng, min(most, worst * (len(rows) - done)))
        block = np.concatenate([left, fresh])
        made, used = kernel(rows[done:], bits, first, second, block, reports[done:])
        left, done = block[used:], done + made


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
