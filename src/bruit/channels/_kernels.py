"""Kernels that send symbols through a channel of integer weights out of 2^52, one random word per symbol."""

from typing import Any

import numpy as np

from bruit._jit import kernel


@kernel
def send_symmetric(symbols: Any, keep: int, other: int, words: Any, received: Any) -> None:
    """Sends symbols through a symmetric channel: each is kept with weight `keep` or becomes another, `other` each.

    symbols, received (n,) int32; words (n,) uint64; keep + (k - 1) other = 2^52 and other > 0.
    u < keep keeps the symbol, else (u - keep) // other names one of the others. The division of doubles is exact:
    the quotient stays 1 / other away from the next integer, more than half a unit in its last place.
    """
    kept = np.float64(keep)
    step = np.float64(other)
    for i in range(symbols.size):
        u = np.float64(np.int64(words[i] >> np.uint64(12)))
        moved = np.int32((u - kept) / step)
        symbol = symbols[i]
        moved = moved + np.int32(1) if moved >= symbol else moved
        received[i] = symbol if u < kept else np.int32(moved)


@kernel
def send_rows(symbols: Any, upper: Any, words: Any, received: Any) -> None:
    """Sends symbols through a channel given by a table of weights, one row for each input.

    symbols, received (n,) int32; upper (inputs, outputs) int64, the running sums of each row; words (n,) uint64.
    The output is the first y whose running sum is above u, found by halving.
    """
    last = upper.shape[1] - 1
    for i in range(symbols.size):
        u = np.int64(words[i] >> np.uint64(12))
        row = symbols[i]
        low = 0
        high = last
        while low < high:
            middle = (low + high) >> 1
            if upper[row, middle] > u:
                high = middle
            else:
                low = middle + 1
        received[i] = np.int32(low)
