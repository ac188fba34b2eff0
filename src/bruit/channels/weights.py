"""Rigorous upper bounds on the privacy loss of a law given by integer weights."""

from __future__ import annotations

import math
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from typing import Final

from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument

ONE: Final = 1 << 52
"""Probabilities are integers out of this; a double holds each of them exactly, and so does JavaScript."""

LARGEST_EPSILON: Final = 36
"""ln(2^52) is 36.04: integer weights out of 2^52 cannot tell a larger loss from an infinite one."""

_PRECISE: Final = Context(prec=80)
_STEP: Final = Decimal("1e-40")


def log_above(numerator: int, denominator: int) -> Fraction:
    """An upper bound on ln(numerator / denominator), at most 2e-40 too high; exactly 0 for equal numbers.

    `decimal` rounds ln correctly at 80 digits, so the difference of two is wrong by far less than 1e-40.
    """
    if numerator == denominator:
        return Fraction(0)
    difference = _PRECISE.subtract(_PRECISE.ln(Decimal(numerator)), _PRECISE.ln(Decimal(denominator)))
    return Fraction(_PRECISE.add(difference, _STEP).quantize(_STEP, rounding=ROUND_CEILING, context=_PRECISE))


def loss_of(numerator: int, denominator: int) -> Fraction | float:
    """The loss of a likelihood ratio numerator / denominator >= 1, rounded up; infinite for denominator 0."""
    return math.inf if denominator == 0 else log_above(numerator, denominator)


def checked_epsilon(epsilon: Exact) -> Fraction:
    """Converts epsilon to an exact rational; refuses one that is not positive or too large for integer weights."""
    number = exactly(epsilon, "epsilon")
    if not 0 < number <= LARGEST_EPSILON:
        raise InvalidArgument(
            f"epsilon={epsilon} must be above 0 and at most {LARGEST_EPSILON}; useful values are 0.1 to 10"
        )
    return number


def share(epsilon: Fraction, others: int) -> int:
    """The least integer weight at or just above 2^52 / (e^epsilon + others)."""
    power = _PRECISE.exp(_PRECISE.divide(Decimal(epsilon.numerator), Decimal(epsilon.denominator)))
    return math.ceil(Fraction(ONE) / (Fraction(power) + others))
