"""Kernels for remainders modulo a binary polynomial, bit by bit and byte by byte."""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel


@kernel
def sums_of_columns(bits: NDArray[np.uint8], columns: NDArray[np.uint64], sums: NDArray[np.uint64]) -> None:
    """sums[word] is the exclusive or of columns[i] over the bits (words, length) that are 1."""
    for word in range(bits.shape[0]):
        total = np.uint64(0)
        for i in range(bits.shape[1]):
            total ^= columns[i] & (np.uint64(0) - np.uint64(bits[word, i]))
        sums[word] = total


@kernel
def run_bytes(content: NDArray[np.uint8], table: NDArray[np.uint64], width: int, reflected: int, start: int) -> int:
    """The CRC register of `width` bits after all bytes; table[b] is the register after byte b from zero.

    A register that is reflected has its highest power in its lowest bit and shifts right. One shorter than eight bits
    is kept in the upper bits of a byte unless it is reflected; `start` and the result stand at the same place.
    """
    register = np.uint64(start)
    byte = np.uint64(255)
    if reflected:
        for i in range(content.size):
            register = table[(register ^ np.uint64(content[i])) & byte] ^ (register >> np.uint64(8))
        return int(register)
    top = np.uint64(max(width, 8) - 8)
    mask = ~np.uint64(0) >> np.uint64(64 - max(width, 8))
    for i in range(content.size):
        at = ((register >> top) ^ np.uint64(content[i])) & byte
        register = (table[at] ^ (register << np.uint64(8))) & mask
    return int(register)
