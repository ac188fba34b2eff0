"""Intervals for means and shares of the population, their differences and their ratios."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from statistics import NormalDist
from typing import Final

import numpy as np

from bruit.core.arguments import confidence as checked_confidence
from bruit.core.intervals import Covers, Interval
from bruit.errors import InvalidArgument
from bruit.inference.noise_laws import Floats
from bruit.inference.results import Estimate
from bruit.inference.sources import Source, group_totals, share_totals, value_totals
from bruit.inference.tails import invert, two_sided_tail
from bruit.inference.totals import Totals

MOST_SKEW: Final = 0.2
"""The skewness of a sum up to which its normal interval is trusted: n > 25 G^2 people whose values have the skewness G.
                                                                                            [Cochran 1977, sec. 2.15]"""

ROUNDS: Final = 8
"""Rounds in which means under a relation and their variances are found from each other."""

SKEWED: Final = "few people and skew values: it may hold less often than stated"


def mean(source: Source, *, confidence: float = 0.95) -> Estimate:
    """The mean of a column of numbers over the population that the people were drawn from.

    At the true mean m, sum - m * number is zero but for chance and noise, whatever the number: the interval holds every
    m at which it is no larger than both make it.                                                         [Fieller 1954]
    """
    return _one("mean", value_totals(source), confidence)


def proportion(source: Source, answer: str, *, confidence: float = 0.95) -> Estimate:
    """The share of the population that has an answer; without noise it is the score interval.   [Wilson 1927]"""
    return _one(f"share of {answer}", share_totals(source, answer), confidence)


def difference(
    source: Source, other: Source | None = None, *, answer: str | None = None, confidence: float = 0.95
) -> Estimate:
    """How much larger the mean, or with `answer` the share, of the first group is than that of the second.

    The groups are two sources, or the two rows of one source whose first column is the group.
    """
    first, second = group_totals(source, other, answer)
    span = (first.low - second.high, first.high - second.low)
    return _two("difference", (first, second), lambda at: (np.ones_like(at), at), span, confidence)


def ratio(
    source: Source, other: Source | None = None, *, answer: str | None = None, confidence: float = 0.95
) -> Estimate:
    """How many times as large the mean, or with `answer` the share, of the first group is as that of the second."""
    first, second = group_totals(source, other, answer)
    if min(first.low, second.low) < 0:
        raise InvalidArgument("a ratio needs values that are not below zero: state other bounds, or ask the difference")
    return _two("ratio", (first, second), lambda at: (at, np.zeros_like(at)), (0.0, inf), confidence)


def tail_of_mean(totals: Totals, means: Floats) -> Floats:
    """How surprising the totals are at each mean."""
    weights, law = totals.weights(means), totals.block.law
    return two_sided_tail(
        totals.total - means * totals.people,
        totals.normal(means),
        totals.heavy(means),
        lambda frequencies: law.log_characteristic(frequencies[..., None] * weights[:, None, :]),
    )


def tail_of_relation(groups: tuple[Totals, Totals], times: Floats, shift: Floats) -> Floats:
    """How surprising two groups are where the mean of the first is times * that of the second + shift.

    Variances are taken at the likeliest means that stand in that relation.
    """
    first, second = groups
    means = _restricted(groups, times, shift)
    scales = np.ones_like(times) / first.people, -times / second.people
    parts = list(zip(groups, means, scales, strict=True))
    weights = [one.weights(at) * scale[:, None] for one, at, scale in parts]
    normal = sum(one.normal(at) * scale**2 for one, at, scale in parts)
    heavy = sum(one.heavy(at) * scale**2 for one, at, scale in parts)

    def log_characteristic(frequencies: Floats) -> Floats:
        each = (
            one.block.law.log_characteristic(frequencies[..., None] * weight[:, None, :])
            for one, weight in zip(groups, weights, strict=True)
        )
        return np.asarray(sum(each))

    distance = first.total / first.people - times * (second.total / second.people) - shift
    return two_sided_tail(distance, np.asarray(normal), np.asarray(heavy), log_characteristic)


def _one(what: str, totals: Totals, confidence: float) -> Estimate:
    checked_confidence(confidence)
    ends = (totals.low, totals.high)
    if totals.is_counted:
        step = _normal(confidence) * _variance(totals) ** 0.5 / totals.people
        ends = invert(lambda means: tail_of_mean(totals, means), totals.mean, step, ends, confidence)
    return _estimate(what, totals.mean, ends, confidence, (totals,))


def _two(
    what: str,
    groups: tuple[Totals, Totals],
    relation: Callable[[Floats], tuple[Floats, Floats]],
    bounds: tuple[float, float],
    confidence: float,
) -> Estimate:
    """The interval of a relation of two means: first = times * second + shift."""
    checked_confidence(confidence)
    first, second = groups
    floor = 1e-3 * second.high
    centre = first.mean - second.mean if what == "difference" else first.mean / max(second.mean, floor)
    if not (first.is_counted and second.is_counted):
        return _estimate(what, centre, bounds, confidence, groups)
    spread = [_variance(one) / one.people**2 for one in groups]
    if what == "ratio":
        spread = [each / max(second.mean, floor) ** 2 for each in (spread[0], spread[1] * centre**2)]
        bounds = (0.0, 1e3 * first.high / floor)
    step = _normal(confidence) * sum(spread) ** 0.5
    low, high = invert(lambda at: tail_of_relation(groups, *relation(at)), centre, step, bounds, confidence)
    high = inf if what == "ratio" and high >= bounds[1] else high
    return _estimate(what, centre, (low, high), confidence, groups)


def _restricted(groups: tuple[Totals, Totals], times: Floats, shift: Floats) -> tuple[Floats, Floats]:
    """The likeliest means that satisfy first = times * second + shift: nearest to the estimates by the variances there.

    Of two shares they are those of a score interval, and so are the variances.              [Miettinen & Nurminen 1985]
    """
    first, second = groups
    spread = [np.full(times.shape, _variance(one, least_people=1.0) / one.people**2) for one in groups]
    gap = first.mean - times * second.mean - shift
    for _ in range(ROUNDS):
        own = np.maximum(spread[0], 1e-300) + times**2 * spread[1]
        lower = np.clip(second.mean + gap * times * spread[1] / own, second.low, second.high)
        upper = np.clip(times * lower + shift, first.low, first.high)
        spread = [_spread(one, at) for one, at in zip(groups, (upper, lower), strict=True)]
    return upper, lower


def _spread(totals: Totals, means: Floats) -> Floats:
    """The variance of the estimate at each mean, a tenth of a person inside the bounds: at one two values have none."""
    inside = 0.1 * (totals.high - totals.low) / totals.people
    at = np.clip(means, totals.low + inside, totals.high - inside)
    return np.asarray((totals.normal(at) + totals.heavy(at)) / totals.people**2)


def _variance(totals: Totals, *, least_people: float = 0.0) -> float:
    """The variance of sum - mean * number at the estimated mean.

    With `least_people` the mean is first drawn to the middle of the bounds, as if so many more people stood there: a
    share of none of twenty people is no certainty.                                          [Agresti & Coull 1998]
    """
    middle = (totals.low + totals.high) / 2
    at = np.array([(totals.people * totals.mean + least_people * middle) / (totals.people + least_people)])
    return float((totals.normal(at) + totals.heavy(at))[0])


def _normal(confidence: float) -> float:
    return NormalDist().inv_cdf((1 + confidence) / 2)


def _estimate(
    what: str, value: float, ends: tuple[float, float], confidence: float, groups: tuple[Totals, ...]
) -> Estimate:
    interval = Interval(np.array(ends[0]), np.array(ends[1]), confidence, Covers.POPULATION)
    guarantees = tuple(dict.fromkeys(g for one in groups for g in one.guarantees))
    skew = any(one.is_counted and abs(one.skewness) > MOST_SKEW for one in groups)
    return Estimate(what, value, interval, guarantees, SKEWED if skew else "")
