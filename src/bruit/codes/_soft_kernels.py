"""Quantises and transposes log-likelihood ratios for kernels that decode many words side by side."""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

TILE = 128  # a tile of so many bits of every word stays in the first-level cache while it is turned


@kernel
def _round(
    values: NDArray[np.float32],
    factor: np.float32,
    limit: np.float32,
    half: np.float32,
    low: np.int16,
    out: NDArray[np.int16],
) -> None:
    for i in range(values.size):
        out[i] = np.int16(np.int32(max(-limit, min(limit, values[i] * factor)) + half)) - low


@kernel
def quantise(
    values: NDArray[np.float32],
    factors: NDArray[np.float32],
    place: NDArray[np.int64],
    limit: np.float32,
    out: NDArray[np.int16],
) -> None:
    """out[place[i], word] = values[word, i] · factors[word], rounded and clipped to ±limit."""
    words, length = values.shape
    half = np.float32(limit + np.float32(0.5))
    low = np.int16(limit)
    tile = np.empty((words, TILE), np.int16)
    for start in range(0, length, TILE):
        size = min(TILE, length - start)
        for w in range(words):
            _round(values[w, start : start + size], factors[w], limit, half, low, tile[w])
        for i in range(size):
            row = out[place[start + i]]
            for w in range(words):
                row[w] = tile[w, i]


@kernel
def _signs(row: NDArray[np.int16], out: NDArray[np.uint8]) -> None:
    for w in range(out.size):
        out[w] = np.uint8(1) if row[w] < 0 else np.uint8(0)


@kernel
def hard_bits(total: NDArray[np.int16], place: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
    """out[word, i] = 1 where total[place[i], word] is negative, else 0."""
    words, length = out.shape
    tile = np.empty((TILE, words), np.uint8)
    for start in range(0, length, TILE):
        size = min(TILE, length - start)
        for i in range(size):
            _signs(total[place[start + i]], tile[i])
        for w in range(words):
            row = out[w, start : start + size]
            for i in range(size):
                row[i] = tile[i, w]


@kernel
def largest_size(patterns: NDArray[np.int32]) -> np.int32:
    """The largest size of float32 numbers given by their bit patterns, as a pattern: that of NaN is above all."""
    most = np.int32(0)
    for i in range(patterns.size):
        size = np.int32(patterns[i] & np.int32(0x7FFFFFFF))
        most = size if size > most else most
    return most


@kernel
def are_two_valued(values: NDArray[np.float32], out: NDArray[np.bool_]) -> None:
    """out[word] says whether all values of the word that are not 0 have one size."""
    words, length = values.shape
    for w in range(words):
        size = np.float32(0)
        alike = True
        for i in range(length):
            here = abs(values[w, i])
            if here == 0:
                continue
            if size == 0:
                size = here
            if here != size:
                alike = False
                break
        out[w] = alike
