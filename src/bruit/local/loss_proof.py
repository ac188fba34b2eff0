"""Proves from a protocol's integer weights that its privacy loss is at most the epsilon asked for."""

from __future__ import annotations

from fractions import Fraction

from bruit.channels import log_above
from bruit.errors import InvalidArgument, NotPrivate


def either_way(one: int, other: int) -> Fraction:
    """|ln(one / other)|, rounded up: the log-likelihood ratio of two integer weights."""
    return log_above(max(one, other), min(one, other))


def prove(loss: Fraction | float, epsilon: Fraction | float, *, gap: int) -> None:
    """Refuses a protocol whose loss exceeds epsilon, or whose weight `gap` gives the true answer no advantage.

    Weights are rounded towards privacy; at an absurdly small epsilon that leaves nothing, or less than nothing.
    """
    if gap <= 0 or loss <= 0:
        raise InvalidArgument(
            f"epsilon={float(epsilon):.3g} is too small for integers out of 2^52 to carry anything: "
            "take a larger epsilon or fewer answers"
        )
    if loss > epsilon:
        raise NotPrivate(
            f"this law loses {float(loss):.17g}, more than epsilon={float(epsilon):.17g}; do not use it, and report it"
        )
