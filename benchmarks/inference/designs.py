"""Whether an interval covers the truth, or a test rejects, on noisy tables of samples of the study's populations."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from scipy import stats

from bruit.apps.studies.inference import (
    EPSILONS,
    FIVE,
    LEVEL,
    NULLS,
    OTHER,
    PEOPLE,
    SHARES,
    TOGETHER,
    association,
    median,
    noisy_tables,
)
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours
from bruit.inference import Cells
from bruit.inference.association import Pair
from bruit.inference.means import tail_of_mean, tail_of_relation
from bruit.inference.quantiles import cell_edges, tail_of_quantile
from bruit.inference.totals import Totals, totals_of

__all__ = ["EPSILONS", "HARDER", "INTERVALS", "NULLS", "SIZES", "coverage", "size", "tables"]

SIZES = PEOPLE["full"]

SKEW = np.diff(stats.lognorm.cdf(np.arange(21) + 0.5, 1), prepend=0)
SKEW[-1] = 1 - SKEW[:-1].sum()
"""Log-normal values, rounded and clipped to 0 ... 20: of skewness 3.6, in cells that are mostly empty."""


def tables(
    shares: np.ndarray, people: int, epsilon: float, times: int, seed: int, neighbours: Neighbours = ADD_OR_REMOVE_ONE
) -> Iterator[Cells]:
    """Noisy histograms of so many samples."""
    return noisy_tables(shares, people, epsilon, times, np.random.default_rng(seed), neighbours)


# ---------------------------------------------------------------- coverage
def covers_mean(counts: Cells) -> bool:
    totals = totals_of(counts, counts.axes[0].numbers)
    truth = float(FIVE @ np.arange(5))
    return not totals.is_counted or bool(tail_of_mean(totals, np.array([truth]))[0] >= LEVEL)


def covers_mean_of_skew_values(counts: Cells) -> bool:
    totals = totals_of(counts, counts.axes[0].numbers)
    truth = float(SKEW @ np.arange(SKEW.size))
    return not totals.is_counted or bool(tail_of_mean(totals, np.array([truth]))[0] >= LEVEL)


def covers_proportion(counts: Cells) -> bool:
    totals = totals_of(counts, np.array([1.0, 0.0]), two_valued=True)
    return not totals.is_counted or bool(tail_of_mean(totals, np.array([0.3]))[0] >= LEVEL)


def _covers_relation(groups: tuple[Totals, Totals], times: float, shift: float) -> bool:
    first, second = groups
    known = first.is_counted and second.is_counted
    return not known or bool(tail_of_relation(groups, np.array([times]), np.array([shift]))[0] >= LEVEL)


def _groups(counts: Cells, *, two_valued: bool) -> tuple[Totals, Totals]:
    values = np.array([1.0, 0.0]) if two_valued else counts.axes[1].numbers
    first, second = (totals_of(counts.group(place), values, two_valued=two_valued) for place in (0, 1))
    return first, second


def covers_difference(counts: Cells) -> bool:
    values = np.arange(5)
    return _covers_relation(_groups(counts, two_valued=False), 1.0, float((FIVE - OTHER) @ values))


def covers_equal_means(counts: Cells) -> bool:
    return _covers_relation(_groups(counts, two_valued=False), 1.0, 0.0)


def covers_difference_of_shares(counts: Cells) -> bool:
    return _covers_relation(_groups(counts, two_valued=True), 1.0, 0.1)


def covers_ratio_of_shares(counts: Cells) -> bool:
    return _covers_relation(_groups(counts, two_valued=True), 1.5, 0.0)


def covers_quantile(counts: Cells) -> bool:
    edges = cell_edges(counts.axes[0].numbers)
    return bool(tail_of_quantile(counts, edges, 0.5, np.array([median(FIVE)]))[0] >= LEVEL)


def covers_correlation(counts: Cells) -> bool:
    pair = Pair(counts)
    return not pair.is_known or bool(pair.tail_of_correlation(np.array([association(TOGETHER)[0]]))[0] >= LEVEL)


def covers_slope(counts: Cells) -> bool:
    pair = Pair(counts)
    return not pair.is_known or bool(pair.tail_of_slope(np.array([association(TOGETHER)[1]]))[0] >= LEVEL)


INTERVALS: dict[str, tuple[np.ndarray, Callable[[Cells], bool]]] = {
    "mean": (FIVE, covers_mean),
    "mean of skew values": (SKEW, covers_mean_of_skew_values),
    "proportion": (np.array([0.3, 0.7]), covers_proportion),
    "difference of means": (np.stack([FIVE, OTHER]) / 2, covers_difference),
    "difference of shares": (SHARES, covers_difference_of_shares),
    "ratio of shares": (SHARES, covers_ratio_of_shares),
    "quantile": (FIVE, covers_quantile),
    "correlation": (TOGETHER, covers_correlation),
    "slope": (TOGETHER, covers_slope),
}

HARDER: dict[str, tuple[np.ndarray, Callable[[Cells], bool]]] = {
    "difference of skew means, nine to one": (np.outer([0.9, 0.1], SKEW), covers_equal_means),
}
"""Held more often than stated where people are few."""


def coverage(name: str, people: int, epsilon: float, times: int) -> float:
    """The share of samples whose interval holds the truth of the population."""
    shares, covers = (INTERVALS | HARDER)[name]
    seed = people + round(1000 * epsilon)
    return float(np.mean([covers(counts) for counts in tables(shares, people, epsilon, times, seed)]))


# ---------------------------------------------------------------- tests
def size(name: str, people: int, epsilon: float, times: int) -> float:
    """How often a test at the level rejects where rows and columns are independent."""
    shares, test = NULLS[name]
    seed = people + round(1000 * epsilon)
    return float(np.mean([test(counts).p_value <= LEVEL for counts in tables(shares, people, epsilon, times, seed)]))
