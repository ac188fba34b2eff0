"""Bounds on what an attacker may come to believe after seeing an answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from bruit.core.numbers import LARGEST_LOG, Exact, as_float, exactly, log_of
from bruit.errors import InvalidArgument, NotPrivate

if TYPE_CHECKING:
    import polars

PRIORS = (0.01, 0.02, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.98, 0.99)
EPSILONS = (0.01, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 3.0)


@dataclass(frozen=True)
class Belief:
    """The range in which an attacker's belief in a fact about one person can lie after an answer."""

    prior: float
    epsilon: float
    low: float
    high: float


def belief(prior: Exact, epsilon: Exact, *, delta: Exact = 0) -> Belief:
    """The range of an attacker's belief after an epsilon-private answer, from the belief `prior` before it.

    p / (p + e^epsilon (1 - p)) <= p' <= p / (p + e^-epsilon (1 - p))        [Wood et al. 2018, Section IV.C]

    The bounds are attained (Warner's coin: 1/2 becomes 3/4 at epsilon = ln 3). They hold for every answer, which is
    what a delta takes away: with one, an answer may prove the fact.
    """
    start, spent = _prior(prior), _epsilon(epsilon)
    if exactly(delta, "delta") != 0:
        raise NotPrivate(
            f"delta={delta}: with a delta some answers may prove the fact, so no bound holds for every answer; "
            "give delta=0, or read the trade-off from epsilon(loss, delta=...)"
        )
    return Belief(float(start), spent, _after(start, -spent), _after(start, spent))


def belief_table(priors: Sequence[Exact] = PRIORS, epsilons: Sequence[Exact] = EPSILONS) -> polars.DataFrame:
    """One tidy row for each prior and each epsilon: prior, epsilon, low, high."""
    import polars

    rows = [belief(prior, epsilon) for prior in priors for epsilon in epsilons]
    return polars.DataFrame([vars(row) for row in rows])


def premium(fair: Exact, epsilon: Exact) -> float:
    """The most an expected cost can grow because one's data was used: 2000 at epsilon 0.01 is at most 2020.10.

    E' <= e^epsilon E for a cost that is never negative; infinite where the bound is beyond every float
    """
    cost, spent = exactly(fair, "fair"), _epsilon(epsilon)
    if cost < 0:
        raise InvalidArgument(f"fair={fair}: the premium must be at least 0; the bound does not hold for negative ones")
    if cost == 0:
        return 0.0
    log_bound = log_of(cost) + spent
    if log_bound > LARGEST_LOG:
        return math.inf
    return float(cost) * math.exp(spent) if spent < LARGEST_LOG else math.exp(log_bound)


def _after(prior: Fraction, evidence: float) -> float:
    """The belief after evidence of that log-likelihood ratio, written so that nothing overflows."""
    if prior in (0, 1):
        return float(prior)
    odds = log_of(prior) - log_of(1 - prior) + evidence
    return 1 / (1 + math.exp(-odds)) if odds > 0 else math.exp(odds) / (1 + math.exp(odds))


def _prior(value: Exact) -> Fraction:
    number = exactly(value, "prior")
    if not 0 <= number <= 1:
        raise InvalidArgument(f"prior={value} must be from 0 to 1: how strongly the fact is believed before the answer")
    return number


def _epsilon(value: Exact) -> float:
    """An epsilon as a float; one beyond every float promises nothing and is infinite."""
    number: Fraction = exactly(value, "epsilon")
    if number < 0:
        raise InvalidArgument(f"epsilon={value} must not be negative")
    return as_float(number)
