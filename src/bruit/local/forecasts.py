"""Expected errors and required numbers of people, computed before a survey without any data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.special import ndtri

from bruit.channels import Support
from bruit.core.arguments import whole
from bruit.errors import InvalidArgument
from bruit.local.estimation.binomial import clopper_pearson

_MOST_ANSWERS: Final = 1 << 40


def two_sided(confidence: float) -> float:
    """The standard normal quantile z with P(|Z| > z) = 1 - confidence."""
    if not 0.5 < confidence < 1:
        raise InvalidArgument(f"confidence={confidence} must lie above 0.5 and below 1; 0.95 is usual")
    return float(-ndtri((1 - confidence) / 2))


def expected_error(support: Support, people: int, *, share: float | None, confidence: float) -> float:
    """The half-width, before clipping, of the exact interval of a share at its expected count.

    About z sqrt(s (1 - s) / n) / (p - q); by default at the share with the widest interval.
    """
    two_sided(confidence)
    people = checked_people(people)
    if share is not None and not 0 <= share <= 1:
        raise InvalidArgument(f"share={share} must lie from 0 to 1")
    seen = support.mix(support.worst_share() if share is None else share)
    low, high = clopper_pearson(seen * people, people, 1 - confidence)
    return float(np.max((high - low) / np.abs(support.gap))) / 2


def share_error(error: float) -> float:
    """Checks that a half-width for a share is above 0 and at most 1, and returns it."""
    if not 0 < error <= 1:
        raise InvalidArgument(f"error={error} must be above 0 and at most 1: the half-width of a share")
    return error


def least_people(error_at: Callable[[int], float], error: float) -> int:
    """The least number of people at which the decreasing function `error_at` is at most `error`."""
    if not error > 0:
        raise InvalidArgument(f"error={error} must be above 0: the half-width of an interval")
    low, high = 0, 1
    while error_at(high) > error:
        low, high = high, 2 * high
        if high > _MOST_ANSWERS:
            raise InvalidArgument(f"error={error} is out of reach of 2^40 people: allow a larger error or epsilon")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error_at(middle) <= error else (middle, high)
    return high


def epsilon_for(error_at: Callable[[float], float], error: float) -> float:
    """The least epsilon, rounded up to four decimals, at which `error_at` is at most `error`."""
    if not error > 0:
        raise InvalidArgument(f"error={error} must be above 0: the half-width of an interval")
    low, high = 1, 200_000  # ten-thousandths
    if error_at(high / 10_000) > error:
        raise InvalidArgument(f"error={error} is out of reach at any epsilon up to {high // 10_000}: ask more people")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error_at(middle / 10_000) <= error else (middle, high)
    return high / 10_000


def checked_people(people: int) -> int:
    """Checks a number of people who will answer, and returns it."""
    return whole(people, "people", why="at least one person must answer")
