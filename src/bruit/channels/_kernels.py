"""Kernels that send symbols through a channel of integer weights out of 2^52, by a random word a symbol or less."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

REST = 36
"""The bits of u below its lane, the 16 upper ones of 52."""

OPEN = np.int32(-1)
GROUP = 16


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
def send_lanes(
    symbols: NDArray[np.int32], keep: int, other: int, size: int, lanes: NDArray[np.uint16], received: NDArray[np.int32]
) -> None:
    """Sends symbols as `send_symmetric` would, where the 16 upper bits of u alone say how; -1 where they do not.

    symbols, received (n,) int32; lanes (n,) uint16, uniform; size <= 2^12 and other > 0.
    A lane h stands for u = h 2^36 .. (h + 1) 2^36 - 1. All of a lane below keep // 2^36 keep the symbol; that lane
    itself stays open. Above it (u - keep) / other is computed at both ends in single precision: at most seven
    roundings, each of no more than size / 2^24. The ends are moved apart by size / 2^21 and settle the lane where they
    name one symbol.
    """
    border = np.float32(keep >> REST)
    beyond = np.float32(np.float64(keep & ((1 << REST) - 1)) / np.float64(1 << REST))
    width = np.float32(np.float64(1 << REST) / np.float64(other))
    slack = np.float32(np.float64(size) / np.float64(1 << 21))
    reach = np.float32(width + slack)
    for i in range(symbols.size):
        lane = np.float32(lanes[i])
        quotient = np.float32(np.float32(np.float32(lane - border) - beyond) * width)
        low, high = np.int32(np.float32(quotient - slack)), np.int32(np.float32(quotient + reach))
        symbol = symbols[i]
        moved = low + np.int32(1) if low >= symbol else low
        moved = moved if low == high else OPEN
        moved = moved if lane > border else OPEN
        received[i] = symbol if lane < border else np.int32(moved)


@kernel
def find_open(received: NDArray[np.int32], places: NDArray[np.int32]) -> int:
    """Writes the places of the symbols that `send_lanes` left open to the front of `places`; returns how many.

    received, places (n,) int32. Groups in which every symbol is settled are passed over whole.
    """
    count = 0
    for start in range(0, received.size, GROUP):
        seen = OPEN
        if start + GROUP <= received.size:
            seen = np.int32(0)
            for j in range(GROUP):
                seen = np.int32(seen | received[start + j])
        if seen < 0:
            for i in range(start, min(start + GROUP, received.size)):
                places[count] = i  # places[:count] are final, and this one if the symbol is open
                count += received[i] == OPEN
    return count


@kernel
def settle_open(
    symbols: NDArray[np.int32],
    keep: int,
    other: int,
    lanes: NDArray[np.uint16],
    places: NDArray[np.int32],
    words: NDArray[np.uint64],
    received: NDArray[np.int32],
) -> None:
    """Sends the symbols left open by their lanes and 36 bits more each, in whole numbers.

    places (m,) int32, where they stand; words (m,) uint64, one for each; the rest as in `send_lanes`.
    """
    for j in range(places.size):
        i = places[j]
        u = (np.int64(lanes[i]) << REST) | np.int64(words[j] >> np.uint64(64 - REST))
        symbol = np.int64(symbols[i])
        moved = (u - keep) // other
        received[i] = symbol if u < keep else moved + (moved >= symbol)


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
