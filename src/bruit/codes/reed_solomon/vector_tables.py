"""Look-up tables of the vector kernels, in the field representation that the GFNI instructions use."""

from functools import cache, lru_cache

import numpy as np
from numpy.typing import NDArray

from bruit.codes._vector_code import processor_has
from bruit.codes.block.binary_field import Field
from bruit.codes.reed_solomon._vector_kernels import CHECKS, LANES, PART, PARTS, ROWS

PROCESSOR = 0x11B
"""The polynomial modulo which GFNI multiplies; it is not primitive, but 3 generates its field.       [Intel 2018]"""

FEATURES = ("gfni", "avx2")


@cache
def has_vectors() -> bool:
    """Whether this processor can multiply 32 field elements in one instruction (GFNI)."""
    return processor_has(*FEATURES)


def _powers_of_three() -> NDArray[np.int64]:
    powers = [1]
    for _ in range(254):
        element = powers[-1] ^ powers[-1] << 1
        powers.append(element ^ PROCESSOR if element & 256 else element)
    return np.array(powers)


@cache
def _image(polynomial: int) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """The isomorphism between a field of 256 elements and the one of the processor's instruction, and its inverse.

    α goes to a root of its polynomial there; the powers of α follow.
    """
    powers = _powers_of_three()
    logs = np.zeros(256, np.int64)
    logs[powers] = np.arange(255)
    for step in range(1, 255):
        images = powers[np.arange(255) * step % 255]
        value = np.bitwise_xor.reduce([images[d] for d in range(9) if polynomial >> d & 1])
        if value == 0 and np.unique(images).size == 255:
            break
    into = np.zeros(256, np.uint8)
    element = 1
    for image in images:
        into[element] = image
        element <<= 1
        element ^= polynomial if element & 256 else 0
    back = np.zeros(256, np.uint8)
    back[into] = np.arange(256)
    return into, back


def _matrix(into: NDArray[np.uint8]) -> int:
    """The map as GFNI reads it: byte 7 − i of the number holds the bits that add up to bit i of the image."""
    rows = [sum(((int(into[1 << bit]) >> i) & 1) << bit for bit in range(8)) for i in range(8)]
    return sum(row << (8 * (7 - i)) for i, row in enumerate(rows))


@lru_cache(maxsize=16)
def vector_tables(field: Field, checks: int, first_root: int) -> NDArray[np.uint8]:
    """The tables of the vector kernels as one array in memory order.

    First what `_syndromes` multiplies by: matrices of β^(51(4 − a)), then rows of β^(50 − b), for the powers β of α
    from the first root b0 on. After POINTS come the powers of α, inverses, x^b0 and x^(b0 + checks) at every point x
    = α^c, and the way back.
    """
    into, back = _image(field.polynomial)
    roots, columns, degrees = first_root + np.arange(LANES), np.arange(256), np.arange(ROWS)[:, None]
    matrices, rows = np.zeros(CHECKS // 8, np.uint64), np.zeros((LANES, 2 * LANES), np.uint8)
    for residue in range(PARTS):
        for part in range(PARTS):
            factor = field.power(PART * (PARTS - 1 - part) * roots[residue])
            matrices[PARTS * residue + part] = _matrix(into[field.multiply(factor, columns)])
    rows[:, :PART] = into[field.power(roots[:, None] * np.arange(PART - 1, -1, -1))]
    inverse = np.zeros(256, np.uint8)
    inverse[into] = into[field.inverse(columns)]
    scales = [into[field.power(b * columns)] for b in (first_root, first_root + checks)]
    points = into[field.power(degrees * columns)].reshape(-1)
    first = [matrices.astype("<u8").view(np.uint8), rows.reshape(-1)]
    return np.concatenate([*first, points, into[field.power(columns)], inverse, *scales, back])
