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
