"""Exact rational numbers: parsed from arguments, rounded up, and converted to floats."""

import re
import sys
from dataclasses import fields
from decimal import ROUND_FLOOR, Context, Decimal
from enum import StrEnum
from fractions import Fraction
from math import exp, inf, isfinite, isqrt, log
from typing import Any

import numpy as np

from bruit.errors import InvalidArgument, NotPrivate

Exact = int | float | str | Fraction
"""What a caller may write for an exact number; NumPy's numbers are read as Python's."""

MOST_DIGITS = 4000
"""Digits of a numerator or denominator that is kept: Python writes integers of up to 4300 as text."""

LOGARITHM_PLACES = 12
"""Decimal places of a logarithm that is written as one."""

SHOWN = 12
"""Digits of a rational number that is printed."""

_LOGARITHM = re.compile(r"\s*ln\s*(?:\((\d[^()]{0,40})\)|(\d[^()]{0,40}?))\s*$")
_EXPONENT = re.compile(r"[eE]([-+]?[\d_]+)\s*$")


def exactly(value: Exact, name: str) -> Fraction:
    """The rational number that a caller meant: a float is read as its shortest decimal, so 0.1 is 1/10.

    A text may be a decimal, a fraction "1/3", or a logarithm "ln 3", which is rounded down: reading never raises an ε.
    """
    if isinstance(value, str) and (inside := _LOGARITHM.match(value)):
        return _logarithm(inside[1] or inside[2], name)
    if isinstance(value, np.integer | np.floating):
        value = int(value) if isinstance(value, np.integer) else _shortest(value)
    if isinstance(value, bool) or not isinstance(value, int | float | str | Fraction):
        raise InvalidArgument(f"{name}={value!r} is not a number; give an int, a float, a Fraction or a decimal text")
    if isinstance(value, float) and not isfinite(value):
        raise InvalidArgument(f"{name}={value}: give a finite number")
    exponent = _EXPONENT.search(value) if isinstance(value, str) else None
    if exponent and len(exponent[1].lstrip("+-0")) > len(str(MOST_DIGITS)):
        raise InvalidArgument(_too_long(name))
    try:
        number = Fraction(repr(float(value))) if isinstance(value, float) else Fraction(value)
    except (ValueError, ZeroDivisionError) as error:
        raise InvalidArgument(f"{name}={value!r:.60} is not a number; write it like '0.5', '1/2' or 'ln 3'") from error
    if max(abs(number.numerator), number.denominator) > 10**MOST_DIGITS:
        raise InvalidArgument(_too_long(name))
    return number


def _logarithm(text: str, name: str) -> Fraction:
    """The natural logarithm of a number above zero, rounded down to LOGARITHM_PLACES places."""
    number = positive(text, f"the number under the ln of {name}")
    context = Context(prec=40)
    found = context.ln(context.divide(Decimal(number.numerator), Decimal(number.denominator)))
    return Fraction(found.quantize(Decimal(1).scaleb(-LOGARITHM_PLACES), ROUND_FLOOR))


def _shortest(value: np.floating[Any]) -> float | str:
    """The shortest decimal that denotes a NumPy float of its own width: np.float32(0.1) means 1/10 too."""
    return str(value) if np.isfinite(value) else float(value)


def _too_long(name: str) -> str:
    return f"{name} has more than {MOST_DIGITS} digits; give a number that is nearer to one"


def positive(value: Exact, name: str) -> Fraction:
    """Converts a number to an exact rational, or refuses one that is not above zero."""
    number = exactly(value, name)
    if number <= 0:
        raise InvalidArgument(f"{name}={value} must be above zero")
    return number


def probability(value: Exact, name: str) -> Fraction:
    """Converts a number to an exact rational, or refuses one outside [0, 1)."""
    number = exactly(value, name)
    if not 0 <= number < 1:
        raise InvalidArgument(f"{name}={value} must be at least 0 and below 1")
    return number


SMALLEST = sys.float_info.min
"""The smallest positive float of full precision: what is above zero is never computed as less."""

LARGEST_LOG = log(sys.float_info.max)
"""The logarithm of the largest float."""

ROUNDING = 2.0**-46
"""What a short floating-point formula may lose, relatively: 128 units in the last place."""


def as_float(value: Fraction) -> float:
    """The nearest float, infinite where the number is beyond every float."""
    try:
        return float(value)
    except OverflowError:
        return inf if value > 0 else -inf


def log_of(value: Fraction) -> float:
    """The natural logarithm of a number above zero, also of one that no float can hold."""
    small = sys.float_info.min < value < sys.float_info.max
    return log(value) if small else log(value.numerator) - log(value.denominator)


def rounded_up(value: float) -> Fraction:
    """A rational at or above a floating-point price; an infinite price is refused."""
    if not isfinite(value):
        raise NotPrivate("no finite price: the noise is too small, or δ is, for the accountant that was asked")
    return Fraction(value + abs(value) * ROUNDING)


def exp_above(exponent: Fraction) -> Fraction:
    """A rational at or above e to a power; the exponent as a float is off by up to its last place."""
    return rounded_up(exp(exponent) * (1 + abs(float(exponent)) * 2.0**-51))


def root(value: Fraction) -> Fraction:
    """A rational at or above the square root of the value, within a relative 2^-60."""
    shift = max(0, 128 - value.numerator.bit_length() + value.denominator.bit_length()) // 2 * 2
    return Fraction(isqrt((value.numerator << shift) // value.denominator) + 1, 1 << shift // 2) if value else value


class Rational(Fraction):
    """A rational number that prints as a decimal: 1/10 is 0.1. What is computed from it is a Fraction again."""

    __slots__ = ()

    def __repr__(self) -> str:
        return _decimal(self)


class ShowsDecimals:
    """A dataclass that prints its rational numbers as decimals: ε = 1/10 is 0.1, not Fraction(1, 10)."""

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "__repr__" not in vars(cls):
            cls.__repr__ = ShowsDecimals.__repr__  # type: ignore[method-assign]  # before a dataclass makes its own

    def __repr__(self) -> str:
        shown = (f"{each.name}={_decimal(getattr(self, each.name))}" for each in fields(self) if each.repr)  # type: ignore[arg-type]
        return f"{type(self).__name__}({', '.join(shown)})"


def _decimal(value: object) -> str:
    if isinstance(value, StrEnum):
        return str(value)
    if not isinstance(value, Fraction):
        return repr(value)
    return f"{Context(prec=SHOWN).divide(Decimal(value.numerator), Decimal(value.denominator)):.{SHOWN}g}"
