"""The numbers a sampler may be asked with."""

from fractions import Fraction
from math import isfinite
from numbers import Rational

import numpy as np

from bruit.errors import InvalidArgument

Number = int | float | Fraction
"""A float is read as the shortest decimal that denotes it, so 0.1 is 1/10."""


def fraction(value: Number, name: str) -> Fraction:
    """The exact rational a caller meant, which must not be negative."""
    if isinstance(value, bool) or not isinstance(value, Rational | float | np.integer | np.floating):
        raise InvalidArgument(f"{name}={value!r} is not a number; give an int, a float or a Fraction")
    if not isinstance(value, Rational) and not isfinite(value):
        raise InvalidArgument(f"{name}={value}: give a finite number")
    number = Fraction(value) if isinstance(value, Rational) else Fraction(str(value))
    if number < 0:
        raise InvalidArgument(f"{name}={value} is negative; give a number of at least 0")
    return number


def whole(value: int, name: str, *, low: int = 0, high: int = 2**63 - 1) -> int:
    """An integer within its bounds."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InvalidArgument(f"{name}={value!r} is not an integer; give one from {low} to {high}")
    if not low <= value <= high:
        raise InvalidArgument(f"{name}={value} is out of range; give an integer from {low} to {high}")
    return int(value)
