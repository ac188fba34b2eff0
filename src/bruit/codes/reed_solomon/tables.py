"""The tables that the Reed–Solomon kernels read."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bruit.codes.block.binary_field import Field
from bruit.codes.reed_solomon._kernels import REGISTER, Tables


@lru_cache(maxsize=64)
def generator_polynomial(field: Field, checks: int, first_root: int) -> NDArray[np.uint16]:
    """The generator polynomial ∏ (x + α^(first_root + i)), highest degree first."""
    generator = np.ones(1, np.uint16)
    for i in range(checks):
        generator = field.convolve(generator, [1, int(field.power(first_root + i))])
    generator.flags.writeable = False
    return generator


@lru_cache(maxsize=16)
def short_tables(field: Field, checks: int, first_root: int) -> Tables:
    """The look-up tables of the kernels for up to 256 elements; values outside the field multiply to 0."""
    every = np.arange(256)
    known = every * (every < field.size)
    mul = np.asarray(field.multiply(known[:, None], known[None, :]), np.uint8)
    feed = np.zeros((4, 256, REGISTER), np.uint8)  # what byte f followed by s more bytes leaves in the register
    feed[0, :, :checks] = mul[:, generator_polynomial(field, checks, first_root)[1:]]
    for s in range(1, 4):
        feed[s, :, :-1] = feed[s - 1, :, 1:]
        feed[s] ^= feed[0][feed[s - 1, :, 0]]
    degrees, columns = np.arange(REGISTER + 1), np.arange(REGISTER)
    powers = np.stack([mul[:, field.power(j * columns)] for j in degrees])
    step = np.stack([mul[int(field.power(REGISTER * j))] for j in degrees])
    return Tables(
        _words(feed),
        _words(powers),
        field.power(np.arange(256)).astype(np.uint8),
        mul.reshape(-1),
        field.inverse(known).astype(np.uint8),
        step.reshape(-1),
        field.power(first_root * columns).astype(np.uint8),
        field.power((1 - first_root) * np.arange(256)).astype(np.uint8),
    )


def _words(table: NDArray[np.uint8]) -> NDArray[np.uint64]:
    return np.ascontiguousarray(table).view(np.uint64).reshape(-1)
