"""Finite fields GF(2^m), whose elements are integers and whose addition is exclusive or."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.errors import InvalidArgument

PRIMITIVE = {
    2: 0x7,
    3: 0xB,
    4: 0x13,
    5: 0x25,
    6: 0x43,
    7: 0x89,
    8: 0x11D,
    9: 0x211,
    10: 0x409,
    11: 0x805,
    12: 0x1053,
    13: 0x201B,
    14: 0x4443,
    15: 0x8003,
    16: 0x1100B,
}
"""A primitive polynomial for each m, its coefficients the bits of a number, the highest degree first."""


@dataclass(frozen=True)
class Field:
    """The field GF(2^bits) modulo a primitive polynomial; `exp` and `log` are tables of the powers of its root α = 2.

    `step` counts in powers of α^step instead, another primitive element (CCSDS takes the eleventh power).
    """

    bits: int
    polynomial: int
    step: int = 1

    def __post_init__(self) -> None:
        if not 2 <= self.bits <= 16:
            raise InvalidArgument(f"bits={self.bits}: the fields have from 2 to 16 bits")
        if self.polynomial.bit_length() != self.bits + 1:
            raise InvalidArgument(f"polynomial={self.polynomial:#x} must have degree {self.bits}")
        if np.unique(self.exp[: self.order]).size < self.order:
            raise InvalidArgument(
                f"polynomial={self.polynomial:#x}, step={self.step}: the powers of the generator do not reach all "
                f"{self.order} elements; take a primitive polynomial such as {PRIMITIVE[self.bits]:#x} "
                f"and a step without common factor with {self.order}"
            )

    @property
    def size(self) -> int:
        """How many elements there are, 2^bits."""
        return 1 << self.bits

    @property
    def order(self) -> int:
        """Order of the multiplicative group, 2^bits − 1."""
        return self.size - 1

    @cached_property
    def exp(self) -> NDArray[np.uint16]:
        """Powers of the generator for two periods, then zeros, so that the logarithm of 0 can be 2·order."""
        powers = np.empty(self.order, np.int64)
        element = 1
        for power in range(self.order):
            powers[power] = element
            element <<= 1
            element ^= self.polynomial if element & self.size else 0
        stepped = powers[np.arange(2 * self.order) * self.step % self.order]
        table = np.concatenate([stepped, np.zeros(2 * self.order + 1, np.int64)]).astype(np.uint16)
        table.flags.writeable = False
        return table

    @cached_property
    def log(self) -> NDArray[np.int32]:
        """The discrete logarithm of each element; for 0 so large a number that every product with it is 0."""
        log = np.full(self.size, 2 * self.order, np.int32)
        log[self.exp[: self.order]] = np.arange(self.order, dtype=np.int32)
        log.flags.writeable = False
        return log

    def power(self, exponent: ArrayLike) -> NDArray[np.uint16]:
        """The generator to the given integer powers, negative ones included."""
        return np.asarray(self.exp[np.asarray(exponent) % self.order])

    def multiply(self, left: ArrayLike, right: ArrayLike) -> NDArray[np.uint16]:
        """Products, element by element."""
        return np.asarray(self.exp[self.log[np.asarray(left)] + self.log[np.asarray(right)]])

    def inverse(self, value: ArrayLike) -> NDArray[np.uint16]:
        """Reciprocals, element by element; 0 has none and gives 0."""
        values = np.asarray(value)
        return np.where(values == 0, np.uint16(0), self.exp[(self.order - self.log[values]) % self.order])

    def evaluate(self, polynomial: ArrayLike, point: ArrayLike) -> NDArray[np.uint16]:
        """The value of a polynomial, highest degree first, at each point, by Horner's rule."""
        value = np.zeros(np.shape(point), np.uint16)
        for coefficient in np.asarray(polynomial, np.uint16):
            value = self.multiply(value, point) ^ coefficient
        return value

    def convolve(self, left: ArrayLike, right: ArrayLike) -> NDArray[np.uint16]:
        """The product of two polynomials."""
        first, second = np.asarray(left), np.asarray(right)
        product = np.zeros(first.size + second.size - 1, np.uint16)
        for at, coefficient in enumerate(first):
            product[at : at + second.size] ^= self.multiply(coefficient, second)
        return product


@lru_cache(maxsize=64)
def field(bits: int, polynomial: int | None = None, step: int = 1) -> Field:
    """The field of 2^bits elements, by the usual polynomial where none is stated."""
    if polynomial is None and bits not in PRIMITIVE:
        raise InvalidArgument(f"bits={bits}: the fields have from 2 to 16 bits")
    return Field(bits, PRIMITIVE[bits] if polynomial is None else polynomial, step)
