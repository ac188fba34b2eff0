"""Hamming codes on packed bits: rows of bytes, the first bit of a word in the highest bit of its first byte."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

CLEAN, FAILED = np.int32(-1), np.int32(-2)


@kernel  # not inlined: the types of its caller's loop would widen and the loop run byte by byte
def _parity(byte: Any) -> Any:
    byte ^= byte >> np.uint8(4)
    byte ^= byte >> np.uint8(2)
    byte ^= byte >> np.uint8(1)
    return byte & np.uint8(1)


@kernel
def _correct(words: Any, row: Any, syndrome: Any, position: Any, out: Any, place: Any) -> None:
    """Copies a word and turns over the bit its syndrome names."""
    for at in range(words.shape[1]):
        out[row, at] = words[row, at]
    place[row] = position[syndrome]
    if place[row] >= 0:
        bit = np.int64(place[row])
        out[row, bit >> 3] ^= np.uint8(128 >> (bit & 7))


@kernel
def decode_short(
    words: NDArray[np.uint8],
    table: NDArray[np.uint32],
    position: NDArray[np.int32],
    out: NDArray[np.uint8],
    place: NDArray[np.int32],
) -> None:
    """Decodes by one table look-up per byte: table[at, byte] is that byte's contribution to the syndrome."""
    for row in range(words.shape[0]):
        syndrome = np.uint32(0)
        for at in range(words.shape[1]):
            syndrome ^= table[at, words[row, at]]
        _correct(words, row, syndrome, position, out, place)


@kernel
def decode_long(
    words: NDArray[np.uint8],
    masks: NDArray[np.uint8],
    position: NDArray[np.int32],
    out: NDArray[np.uint8],
    place: NDArray[np.int32],
) -> None:
    """Decodes by one AND/XOR pass per check over the packed bytes: masks[c] holds the bits in check c."""
    for row in range(words.shape[0]):
        syndrome = np.int64(0)
        for check in range(masks.shape[0]):
            total = np.uint8(0)
            for at in range(words.shape[1]):
                total = np.uint8(total ^ np.uint8(words[row, at] & masks[check, at]))
            syndrome = (syndrome << 1) | np.int64(_parity(total))
        _correct(words, row, syndrome, position, out, place)


@kernel
def encode(messages: NDArray[np.uint8], table: NDArray[np.uint32], k: int, checks: int, out: NDArray[np.uint8]) -> None:
    """Writes each packed message, bits beyond the k-th cleared, followed by its check bits."""
    for row in range(messages.shape[0]):
        parity = np.uint32(0)
        for at in range(messages.shape[1]):
            byte = messages[row, at]
            if at == k >> 3:
                byte &= np.uint8(0xFF00 >> (k & 7))
            parity ^= table[at, byte]
            out[row, at] = byte
        for at in range(messages.shape[1], out.shape[1]):
            out[row, at] = 0
        for check in range(checks):
            if (parity >> np.uint32(checks - 1 - check)) & np.uint32(1):
                bit = k + check
                out[row, bit >> 3] |= np.uint8(128 >> (bit & 7))
