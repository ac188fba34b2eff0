"""The shuffle model: reports without their senders have a smaller epsilon (privacy amplification by shuffling)."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import scipy
from numpy.typing import NDArray

from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption, Guarantee
from bruit.core.neighbours import REPLACE_ONE
from bruit.core.numbers import Exact, exactly, probability
from bruit.errors import InvalidArgument

LEAST, MOST = Fraction(1, 10**9), Fraction(100)
"""The local epsilons that shuffling is computed for; others keep their own guarantee."""

LOST = 1e-14
"""What differences of tails near one may lose to rounding."""


def shuffled_delta(local_epsilon: float, people: int, epsilon: float) -> float:
    """An upper bound of delta at the given epsilon for n shuffled reports of a local_epsilon-private protocol.

    With C ~ Bin(n - 1, e^-e0), A ~ Bin(C, 1/2) and D ~ Bern(e^e0 / (e^e0 + 1)), the shuffled reports of two
    neighbouring crowds are no easier to tell apart than (A + D, C - A + 1 - D) and (A + 1 - D, C - A + D).
    [Feldman, McMillan & Talwar 2021, Theorem 3.1]
    Given C = c the likelihood ratio rises with the first count, so the divergence is a difference of binomial tails.
    """
    others = scipy.stats.binom(people - 1, math.exp(-local_epsilon))
    low, high = int(others.ppf(1e-15)), int(others.isf(1e-15))
    c = np.arange(max(0, low - 1), min(people - 1, high + 1) + 1)
    outside = float(others.cdf(c[0] - 1) + others.sf(c[-1]))
    keep = math.exp(local_epsilon) / (math.exp(local_epsilon) + 1)
    ratio = math.exp(epsilon)
    # P(a) / Q(a) >= e^epsilon from this first count on
    first = np.ceil((c + 1) * (ratio * keep - (1 - keep)) / ((2 * keep - 1) * (1 + ratio)))

    def gained(start: NDArray[np.float64]) -> NDArray[np.float64]:
        at_least, more = scipy.stats.binom.sf(start - 1, c, 0.5), scipy.stats.binom.sf(start - 2, c, 0.5)
        one, other = keep * more + (1 - keep) * at_least, (1 - keep) * more + keep * at_least
        return np.asarray(one - ratio * other)

    best = np.maximum.reduce([gained(first - 1), gained(first), gained(first + 1), np.zeros(len(c))])
    return min(1.0, float(others.pmf(c) @ best) * (1 + 1e-9) + outside + LOST)


def shuffled(local_epsilon: Exact, people: int, *, delta: Exact) -> Guarantee:
    """The privacy guarantee of n shuffled reports of a local_epsilon-private protocol, at the given delta.

    The number of answers is public and one respondent's answer is replaced. The others hide them: n counts those who
    follow the noise, not reports that were made up. Never worse than the local guarantee.
    """
    local, allowed = exactly(local_epsilon, "local_epsilon"), probability(delta, "delta")
    if local <= 0 or allowed == 0:
        raise InvalidArgument(f"local_epsilon={local_epsilon}, delta={delta}: both must be above zero")
    people = whole(people, "people")
    steps = 100_000  # of local / 100 000, the upper end always kept
    low, high = (0 if LEAST <= local <= MOST else steps - 1), steps
    while high - low > 1:
        middle = (low + high) // 2
        good = shuffled_delta(float(local), people, float(local) * middle / steps) <= allowed
        low, high = (low, middle) if good else (middle, high)
    assumed = (Assumption.TRUSTED_SHUFFLER, Assumption.PUBLIC_SIZE, Assumption.OTHERS_FOLLOW)
    amplified = local * Fraction(high, steps)
    return Guarantee(
        amplified, allowed if high < steps else Fraction(0), REPLACE_ONE, "one respondent", "shuffling", assumed
    )
