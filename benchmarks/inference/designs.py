"""Populations, noisy tables of samples of them, and whether an interval covers or a test rejects."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache

import numpy as np

from bruit.channels import IntegerNoise
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours
from bruit.inference import Evidence, anova, independence, mann_whitney, slope_test, two_proportions
from bruit.inference.association import Pair
from bruit.inference.means import tail_of_mean, tail_of_relation
from bruit.inference.noise_laws import AddedNoise
from bruit.inference.noisy_counts import Axis, Block, Cells
from bruit.inference.quantiles import cell_edges, tail_of_quantile
from bruit.inference.totals import Totals, totals_of

SIZES = (200, 1_000, 10_000, 100_000)
EPSILONS = (0.1, 0.3, 1.0, 3.0)
LEVEL = 0.05

FIVE = np.array([0.08, 0.22, 0.34, 0.24, 0.12])
"""Shares of a column of five values, 0 to 4: somewhat skewed."""

OTHER = np.array([0.12, 0.30, 0.30, 0.20, 0.08])
"""The same column in another group."""

SHARES = np.array([[0.15, 0.35], [0.10, 0.40]])
"""A yes or no by group."""


def joint() -> np.ndarray:
    """Two columns of three values that go together: correlation 0.34."""
    table = np.array([[4.0, 3.0, 1.0], [3.0, 6.0, 3.0], [1.0, 3.0, 4.0]])
    return np.asarray(table / table.sum())


@cache
def noise_of(epsilon: float, neighbours: Neighbours = ADD_OR_REMOVE_ONE) -> IntegerNoise:
    sensitivity = 1 if neighbours is ADD_OR_REMOVE_ONE else 2
    return IntegerNoise.laplace(Fraction(str(epsilon)), sensitivity=sensitivity, neighbours=neighbours)


def axis(name: str, size: int) -> Axis:
    return Axis(name, tuple(map(str, range(size))), np.arange(size, dtype=float))


def tables(
    shares: np.ndarray, people: int, epsilon: float, times: int, seed: int, neighbours: Neighbours = ADD_OR_REMOVE_ONE
) -> Iterator[Cells]:
    """Noisy histograms of so many samples."""
    rng, noise = np.random.default_rng(seed), noise_of(epsilon, neighbours)
    law = AddedNoise(noise)
    axes = tuple(axis(f"column {place}", size) for place, size in enumerate(shares.shape))
    counts = rng.multinomial(people, shares.reshape(-1), times) + law.rehearse((times, shares.size), rng)
    for row in counts:
        yield Cells(axes, (Block(row.astype(float).reshape(shares.shape), law),))


# ---------------------------------------------------------------- coverage
def covers_mean(counts: Cells) -> bool:
    totals = totals_of(counts, counts.axes[0].numbers)
    truth = float(FIVE @ np.arange(5))
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


def covers_difference_of_shares(counts: Cells) -> bool:
    return _covers_relation(_groups(counts, two_valued=True), 1.0, 0.1)


def covers_ratio_of_shares(counts: Cells) -> bool:
    return _covers_relation(_groups(counts, two_valued=True), 1.5, 0.0)


def covers_quantile(counts: Cells) -> bool:
    edges = cell_edges(counts.axes[0].numbers)
    below = np.concatenate([[0.0], np.cumsum(FIVE)])
    truth = float(np.interp(0.5, below, edges))
    return bool(tail_of_quantile(counts, edges, 0.5, np.array([truth]))[0] >= LEVEL)


def _moments() -> tuple[float, float]:
    table, values = joint(), np.arange(3)
    x, y = table.sum(1) @ values, table.sum(0) @ values
    products = table * np.outer(values - x, values - y)
    xx, yy = table.sum(1) @ (values - x) ** 2, table.sum(0) @ (values - y) ** 2
    return float(products.sum() / (xx * yy) ** 0.5), float(products.sum() / xx)


def covers_correlation(counts: Cells) -> bool:
    pair = Pair(counts)
    return not pair.is_known or bool(pair.tail_of_correlation(np.array([_moments()[0]]))[0] >= LEVEL)


def covers_slope(counts: Cells) -> bool:
    pair = Pair(counts)
    return not pair.is_known or bool(pair.tail_of_slope(np.array([_moments()[1]]))[0] >= LEVEL)


INTERVALS: dict[str, tuple[np.ndarray, Callable[[Cells], bool]]] = {
    "mean": (FIVE, covers_mean),
    "proportion": (np.array([0.3, 0.7]), covers_proportion),
    "difference of means": (np.stack([FIVE, OTHER]) / 2, covers_difference),
    "difference of shares": (SHARES, covers_difference_of_shares),
    "ratio of shares": (SHARES, covers_ratio_of_shares),
    "quantile": (FIVE, covers_quantile),
    "correlation": (joint(), covers_correlation),
    "slope": (joint(), covers_slope),
}


def coverage(name: str, people: int, epsilon: float, times: int) -> float:
    """The share of samples whose interval holds the truth of the population."""
    shares, covers = INTERVALS[name]
    seed = people + round(1000 * epsilon)
    return float(np.mean([covers(counts) for counts in tables(shares, people, epsilon, times, seed)]))


# ---------------------------------------------------------------- tests
def _independent(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.outer(rows / rows.sum(), columns / columns.sum())


NULLS: dict[str, tuple[np.ndarray, Callable[[Cells], Evidence]]] = {
    "independence": (_independent(np.array([3.0, 2.0, 2.0]), np.array([5.0, 3.0, 1.0])), independence),
    "two proportions": (
        _independent(np.array([1.0, 1.0]), np.array([3.0, 7.0])),
        lambda counts: two_proportions(counts, answer="0"),
    ),
    "Mann–Whitney": (_independent(np.array([1.0, 1.0]), FIVE), mann_whitney),
    "analysis of variance": (_independent(np.array([1.0, 1.0, 1.0]), FIVE), anova),
    "slope": (_independent(np.array([2.0, 3.0, 2.0]), np.array([2.0, 3.0, 2.0])), slope_test),
}


def size(name: str, people: int, epsilon: float, times: int) -> float:
    """How often a test at the level rejects where rows and columns are independent."""
    shares, test = NULLS[name]
    seed = people + round(1000 * epsilon)
    return float(np.mean([test(counts).p_value <= LEVEL for counts in tables(shares, people, epsilon, times, seed)]))
