"""Questions before anyone is asked: numbers in, numbers out, no data touched."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from bruit.errors import InvalidArgument
from bruit.local.support import Support


def two_sided(confidence: float) -> float:
    """The standard normal quantile that leaves 1 - confidence on both sides together."""
    if not 0.5 < confidence < 1:
        raise InvalidArgument(f"confidence={confidence} must lie above 0.5 and below 1; 0.95 is usual")
    return float(-ndtri((1 - confidence) / 2))


def expected_error(support: Support, answers: int, *, share: float | None, confidence: float) -> float:
    """The half-width of the interval of one share of a population: z sqrt(s (1 - s) / n) / (p - q)."""
    if isinstance(answers, bool) or answers < 1:
        raise InvalidArgument(f"answers={answers!r}: at least one person must answer")
    return two_sided(confidence) * math.sqrt(_variance(support, share) / answers)


def answers_for(support: Support, error: float, *, share: float | None, confidence: float) -> int:
    """The least number of answers whose expected error is at most `error`."""
    return max(1, math.ceil(_variance(support, share) * (two_sided(confidence) / _checked(error)) ** 2))


def epsilon_for(error_at: Callable[[float], float], error: float) -> float:
    """The least epsilon, rounded up to four decimals, at which the error is at most `error`."""
    low, high = 1, 200_000  # ten-thousandths
    if error_at(high / 10_000) > _checked(error):
        raise InvalidArgument(f"error={error} is out of reach at any epsilon up to {high // 10_000}: ask more people")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if error_at(middle / 10_000) <= error else (middle, high)
    return high / 10_000


def _variance(support: Support, share: float | None) -> float:
    if share is not None and not 0 <= share <= 1:
        raise InvalidArgument(f"share={share} must lie from 0 to 1")
    return float(np.max(support.variance(support.worst_share() if share is None else share, 1)))


def _checked(error: float) -> float:
    if not 0 < error <= 1:
        raise InvalidArgument(f"error={error} must be above 0 and at most 1: the half-width of a share")
    return error
