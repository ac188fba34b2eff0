"""Parses the probabilities of quantiles as exact fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument

DECILES = tuple(Fraction(i, 10) for i in range(1, 10))
"""The nine deciles."""

Probabilities = Sequence[Exact] | Exact
"""One probability, or several in increasing order."""

FINEST = 10**6
"""A probability is read as the nearest fraction with at most this denominator, so that 0.30000000000000004 is 3/10."""


def as_probabilities(asked: Probabilities) -> tuple[Fraction, ...]:
    """The probabilities as exact fractions, checked to be inside (0, 1) and increasing."""
    several = [asked] if isinstance(asked, int | float | str | Fraction) else list(asked)
    exact = tuple(map(_fraction, several))
    if not exact or not all(0 < p < 1 for p in exact):
        raise InvalidArgument(
            f"probabilities={_shown(several)}: give at least one, each above 0 and below 1, such as bruit.DECILES"
        )
    if any(later <= earlier for earlier, later in pairwise(exact)):
        raise InvalidArgument(f"probabilities={_shown(several)} must increase")
    return exact


def _fraction(asked: Exact) -> Fraction:
    """The nearest fraction that is not too fine; NumPy's numbers count as Python's."""
    if isinstance(asked, Fraction) and asked.denominator <= FINEST:
        return asked
    plain = asked.item() if hasattr(asked, "item") else asked
    return exactly(plain, "probability").limit_denominator(FINEST)


def _shown(several: list[Exact]) -> str:
    return ", ".join(map(str, several[:12])) + (", ..." if len(several) > 12 else "")
