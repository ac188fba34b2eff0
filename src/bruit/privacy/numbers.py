"""Numbers that are stored and added exactly."""

from fractions import Fraction
from math import isfinite

from bruit.errors import InvalidArgument, NotPrivate

Exact = int | float | str | Fraction
"""What a caller may write for an exact number."""


def exactly(value: Exact, name: str) -> Fraction:
    """The rational a caller meant: a float is read as the shortest decimal that denotes it, so 0.1 is 1/10."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise InvalidArgument(f"{name}={value!r} is not a number; give an int, a float, a Fraction or a decimal text")
    if isinstance(value, float) and not isfinite(value):
        raise InvalidArgument(f"{name}={value}: give a finite number")
    try:
        return Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidArgument(f"{name}={value!r} is not a number; write it like '0.5' or '1/2'") from error


def positive(value: Exact, name: str) -> Fraction:
    """An exact number above zero."""
    number = exactly(value, name)
    if number <= 0:
        raise InvalidArgument(f"{name}={value} must be above zero")
    return number


def probability(value: Exact, name: str) -> Fraction:
    """An exact number from zero up to, but not including, one."""
    number = exactly(value, name)
    if not 0 <= number < 1:
        raise InvalidArgument(f"{name}={value} must be at least 0 and below 1")
    return number


ROUNDING = 2.0**-46
"""What a short floating-point formula may lose, relatively: 128 units in the last place."""


def rounded_up(value: float) -> Fraction:
    """A rational at or above a price that was computed in floating point; an infinite price is refused."""
    if not isfinite(value):
        raise NotPrivate("no finite price: the noise is too small, or δ is, for the accountant that was asked")
    return Fraction(value + abs(value) * ROUNDING)
