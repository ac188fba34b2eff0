"""Counts and sums by group, the groups declared or found."""

from __future__ import annotations

from fractions import Fraction
from math import ceil, expm1, log, log1p

import numpy as np
from numpy.typing import NDArray

from bruit.central.asking import asked
from bruit.central.histograms import histogram, histogram_sensitivity, labels_of
from bruit.central.moments import sum_sensitivity
from bruit.central.noise import (
    IntegerNoise,
    bought_noise,
    draw,
    half_width,
    laplace_noise,
    ratio_of,
    require_confidence,
)
from bruit.central.paying import equal_part, pay, require_price
from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger import Budget
from bruit.privacy import ADD_OR_REMOVE_ONE, Approximate, Covers, DiscreteLaplace, Interval, Neighbours, Release
from bruit.privacy.numbers import SMALLEST, log_of
from bruit.tables import Column, Table, UndeclaredColumn, draw_key, require_one_table
from bruit.tables.exact import found_groups, group_totals

NEARLY_ONE = 1 - 2.0**-53
"""The largest float below one."""


def group_by(
    by: Column | UndeclaredColumn,
    *,
    values: Column | None = None,
    budget: Budget | None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Release[NDArray[np.float64]] | Release[NDArray[np.int64]]:
    """Counts, or sums of `values`, by group.

    The groups are those that the column's domain declares; a column without a domain gives the groups that are found,
    of which only those with a noisy count above a threshold are shown, at the price of a delta.
    """
    if isinstance(by, UndeclaredColumn):
        if values is not None:
            raise InvalidArgument("sums by group need declared groups: give by=table[...].among([...])")
        return _found(by, budget, confidence, rng)
    if values is None:
        return histogram(by, budget=budget, confidence=confidence, rng=rng)
    return _sums(by, values, budget, confidence, rng)


def threshold_for(*, epsilon: Fraction, delta: Fraction, groups: int, rows: int, sensitivity: int) -> int:
    """The least count that a group needs so that one person's own groups stay hidden.

    A group that only one person has counts at most `rows`; each of the person's `groups` groups passes with probability
    at most p, (1 - p)^groups >= 1 - delta.                    [Korolova et al. 2009, Thm 1; Wilson et al. 2020, Sec. 4]
    """
    scale = float(sensitivity / epsilon)
    # P(noise >= t) = a^t / (1 + a) for t >= 1, a = exp(-1/scale)
    above = -scale * (_log_chance(delta, groups) + log1p(ratio_of(scale)))
    return rows + max(1, ceil(above + 1e-9))


def _log_chance(delta: Fraction, groups: int) -> float:
    """The ln of the largest p with (1 - p)^groups >= 1 - delta; of delta / groups where delta is below every float."""
    if delta < SMALLEST:
        return log_of(delta) - log(groups)
    return log(-expm1(log1p(-min(float(delta), NEARLY_ONE)) / groups))


def sums_noise(by: Column, values: Column, price: Budget) -> IntegerNoise:
    """The noise of a sum by group: one person moves `groups` sums, or twice as many when exchanged for another."""
    people = 1 if price.neighbours is ADD_OR_REMOVE_ONE else 2
    entries = people * by.table.bounds[0]
    return bought_noise(price, each=sum_sensitivity(values, ADD_OR_REMOVE_ONE), entries=entries)


def found_noise(
    table: Table, epsilon: Fraction, delta: Fraction, neighbours: Neighbours
) -> tuple[DiscreteLaplace, int]:
    """The noise of the count of a found group, and the count it needs to be shown."""
    groups, rows = table.bounds
    sensitivity, _ = histogram_sensitivity(groups, rows, neighbours)
    noise = laplace_noise(epsilon, sensitivity, neighbours)
    least = threshold_for(epsilon=epsilon, delta=delta, groups=groups, rows=rows, sensitivity=sensitivity)
    return noise, least


def _sums(
    by: Column, values: Column, budget: Budget | None, confidence: float, rng: np.random.Generator | None
) -> Release[NDArray[np.float64]]:
    what = "central.group_by"
    price = require_price(budget, by.table, what)
    require_one_table([by, values])
    labels, grid = labels_of((by,)), float(values.numbers.grid)
    loss = sums_noise(by, values, price)
    width = half_width(loss, confidence)
    charge, source = pay(price, loss, what=what, rng=rng)
    exact = group_totals(by, values, key=draw_key(source))
    noisy = values.numbers.decode(exact + draw(loss, exact.size, rng=source))
    release = Release(
        value=noisy,
        guarantee=charge.guarantee,
        method=type(loss).__name__,
        labels=labels,
        interval=Interval(noisy - width * grid, noisy + width * grid, confidence, Covers.TABLE),
        noise=width * grid,
        details=asked(by.table, values, by=(by,)),
    )
    return charge.finish(release)


def _found(
    column: UndeclaredColumn, budget: Budget | None, confidence: float, rng: np.random.Generator | None
) -> Release[NDArray[np.int64]]:
    what = "central.group_by"
    require_confidence(confidence)
    price = require_price(budget, column.table, what)
    epsilon = equal_part(price, 1, what)
    if price.delta == 0:
        raise NotPrivate("groups that nobody declared need a delta: give budget=ledger.budget(epsilon=..., delta=...)")
    noise, least = found_noise(column.table, epsilon, price.delta, price.neighbours)
    loss = Approximate(epsilon, price.delta, neighbours=price.neighbours)
    charge, source = pay(price, loss, what=what, rng=rng)
    names, exact = found_groups(column, key=draw_key(source))
    noisy = exact + draw(noise, len(names), rng=source)
    shown = np.flatnonzero(noisy >= least)
    width = half_width(noise, confidence)
    low, high = (np.maximum(noisy[shown] + side, 0).astype(np.float64) for side in (-width, width))
    release = Release(
        value=noisy[shown],
        guarantee=charge.guarantee,
        method="stable histogram",
        labels=tuple(names[place] for place in shown),
        interval=Interval(low, high, confidence, Covers.TABLE),
        noise=float(width),
        details={"threshold": least, "noise": "discrete Laplace", **asked(column.table, by=(column,))},
    )
    return charge.finish(release)
