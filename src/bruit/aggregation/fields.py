"""The two prime fields of Prio3, and their constants for the kernels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Pair = tuple[np.uint64, np.uint64]
"""A field element as low and high word."""

_WORD: Final = 2**64
_GENERATOR: Final = 7
"""Generates the whole multiplicative group of both fields [draft-irtf-cfrg-vdaf-20, section 6.1.3]."""


@dataclass(frozen=True)
class PrimeField:
    """The integers modulo a prime p with 2^two_adicity dividing p - 1; an element is `size` bytes, little-endian."""

    name: str
    modulus: int
    size: int
    two_adicity: int

    def root(self, order: int) -> int:
        """An element of the given multiplicative order, a power of two up to 2^two_adicity."""
        return pow(_GENERATOR, (self.modulus - 1) // order, self.modulus)

    def inverse(self, value: int) -> int:
        """The inverse of an element that is not zero."""
        return pow(value, -1, self.modulus)

    @property
    def words(self) -> tuple[np.uint64, np.uint64, np.uint64]:
        """The modulus in two words, and -1/p mod 2^64 for Montgomery's reduction."""
        low, high = pair(self.modulus)
        return low, high, np.uint64(-pow(self.modulus, -1, _WORD) % _WORD)

    def montgomery(self, value: int) -> int:
        """The value in Montgomery form, times 2^128 mod p."""
        return value * _WORD**2 % self.modulus

    def encode(self, values: Iterable[int]) -> bytes:
        """Encodes field elements as bytes."""
        return b"".join(value.to_bytes(self.size, "little") for value in values)

    def decode(self, data: bytes) -> tuple[int, ...] | None:
        """Decodes field elements from bytes; None if bytes are missing or an element is not below the modulus."""
        if len(data) % self.size:
            return None
        starts = range(0, len(data), self.size)
        values = tuple(int.from_bytes(data[at : at + self.size], "little") for at in starts)
        return values if all(value < self.modulus for value in values) else None

    def signed(self, value: int) -> int:
        """The integer nearest to zero with this residue, since noise may make a count negative."""
        return value - self.modulus if value > self.modulus // 2 else value


FIELD64: Final = PrimeField("Field64", 2**32 * 4294967295 + 1, 8, 32)
FIELD128: Final = PrimeField("Field128", 2**66 * 4611686018427387897 + 1, 16, 66)


def pair(value: int) -> Pair:
    """Splits a number below 2^128 into (low word, high word)."""
    return np.uint64(value % _WORD), np.uint64(value // _WORD)


def pairs(values: Sequence[int]) -> NDArray[np.uint64]:
    """Splits numbers below 2^128 into rows of (low word, high word)."""
    return np.array([pair(value) for value in values], np.uint64).reshape(len(values), 2)


def integers(rows: NDArray[np.uint64]) -> tuple[int, ...]:
    """Joins rows of (low word, high word) into integers."""
    return tuple(int(low) | int(high) << 64 for low, high in rows)
