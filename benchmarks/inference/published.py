"""Published private tests beside ours, all for one replaced row and at the same price.

Each published test is given its critical value from a simulation of its own law at the true null: what it would need
to estimate, it is told. Ours estimates everything from its noisy counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import log
from typing import Any

import numpy as np
from scipy import stats

from bruit.apps.studies.inference import LEVEL, axis, laplace_noise
from bruit.central.ranks.rank_sums import RankNoises
from bruit.central.ranks.records import Person
from bruit.channels import IntegerNoise
from bruit.core.guarantee import Guarantee
from bruit.core.losses import DiscreteGaussian, DiscreteLaplace
from bruit.core.neighbours import EACH_ROW, REPLACE_ONE
from bruit.inference import Evidence, anova, independence, mann_whitney, slope_test
from bruit.inference.noise_laws import AddedNoise
from bruit.inference.noisy_counts import Block, Cells
from bruit.inference.residual_tests import Contrasts, compare_shares, residual_test
from bruit.inference.totals import Totals
from bruit.tables import among

Sample = tuple[np.ndarray, np.ndarray]
"""A group and a value for each person."""


@dataclass(frozen=True)
class Comparison:
    """Samples under the null and the alternative, a published statistic (large rejects) and our test's p-value."""

    sample: Callable[[int, np.random.Generator, bool], Sample]
    published: Callable[[Sample, float, np.random.Generator], float]
    ours: Callable[[Sample, float, np.random.Generator], float]

    def power_of_published(self, people: int, epsilon: float, times: int) -> float:
        """The power with the critical value of the test's own null law."""
        rng = np.random.default_rng(people)
        null, other = (
            np.array([self.published(self.sample(people, rng, real), epsilon, rng) for _ in range(times)])
            for real in (False, True)
        )
        return float((other > np.quantile(null, 1 - LEVEL)).mean())

    def power_of_ours(self, people: int, epsilon: float, times: int, *, real: bool = True) -> float:
        """How often our test rejects, under the alternative or, where nothing is `real`, under the null."""
        rng = np.random.default_rng(people + real)
        found = [self.ours(self.sample(people, rng, real), epsilon, rng) for _ in range(times)]
        return float(np.mean(np.array(found) <= LEVEL))


# ---------------------------------------------------------------- our side: one histogram by group and cell
def histogram(rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int], law: AddedNoise, rng: Any) -> Cells:
    counts = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1]).astype(float)
    noisy = counts + law.rehearse((1, counts.size), rng)[0]
    return Cells((axis("group", shape[0]), axis("cell", shape[1])), (Block(noisy.reshape(shape), law),))


def cut(values: np.ndarray, low: float, high: float, cells: int) -> np.ndarray:
    """The nearest of so many equally spaced values from low to high, as a declared grid makes it."""
    steps = np.rint((np.clip(values, low, high) - low) / (high - low) * (cells - 1))
    return np.asarray(steps.astype(np.int64))


def by_group(test: Callable[[Cells], Any], groups: int, low: float, high: float, cells: int) -> Any:
    def ours(sample: Sample, epsilon: float, rng: np.random.Generator) -> float:
        law = AddedNoise(laplace_noise(epsilon, REPLACE_ONE))
        group, values = sample
        return float(test(histogram(group, cut(values, low, high, cells), (groups, cells), law, rng)).p_value)

    return ours


# ---------------------------------------------------------------- Mann–Whitney and Kruskal–Wallis [Couch et al. 2019]
def shifted(deviation: float, means: tuple[float, ...]) -> Callable[[int, np.random.Generator, bool], Sample]:
    def sample(people: int, rng: np.random.Generator, real: bool) -> Sample:
        group = np.arange(people) % len(means)
        centre = np.array(means)[group] if real else np.full(people, np.mean(means))
        return group, rng.normal(centre, deviation)

    return sample


def couch_mann_whitney(sample: Sample, epsilon: float, rng: np.random.Generator) -> float:
    """U with Laplace noise of scale (n - m*) / (0.35 ε), m* a low bound of the smaller group at 0.65 ε, δ = 1e-6."""
    group, values = sample
    n, size = len(group), int((group == 0).sum())
    noisy = size + rng.laplace(0, 1 / (0.65 * epsilon))
    least = max(0.0, np.ceil(noisy + log(2e-6) / (0.65 * epsilon)))
    ranks = stats.rankdata(values)[group == 0].sum()
    u = ranks - size * (size + 1) / 2
    lower = min(u, size * (n - size) - u)
    return float(-(lower + rng.laplace(0, (n - min(least, n / 2)) / (0.35 * epsilon))))


MANN_WHITNEY = Comparison(shifted(1.0, (0.0, 1.0)), couch_mann_whitney, by_group(mann_whitney, 2, -1, 2, 4))


def couch_kruskal_wallis(sample: Sample, epsilon: float, rng: np.random.Generator) -> float:
    """4 (n - 1) / n^2 times the sum of n_i |mean rank - (n + 1) / 2|, with Laplace noise of scale 8 / ε."""
    group, values = sample
    n, ranks = len(group), stats.rankdata(values)
    away = sum(abs((ranks[group == g] - (n + 1) / 2).sum()) for g in range(3))
    return float(4 * (n - 1) / n**2 * away + rng.laplace(0, 8 / epsilon))


def analysis_of_variance(cells: int, test: Callable[[Cells], Evidence] = anova) -> Comparison:
    """Three groups, one deviation apart, in the middle of the numbers from 0 to 1."""
    sample = shifted(0.15, (0.35, 0.5, 0.65))
    return Comparison(sample, couch_kruskal_wallis, by_group(test, 3, 0, 1, cells))


def by_rank_sums(sample: Sample, epsilon: float, rng: np.random.Generator) -> float:
    """The p-value of noisy rank sums of a public number of people, values to the thousandth."""
    group, values = sample
    places = np.unique(cut(values, 0, 1, 1001), return_inverse=True)[1]
    counts = np.zeros((3, places.max() + 1), np.int64)
    np.add.at(counts, (group, places), 1)
    noises = RankNoises(Person(1, exchanged=True, fixed_size=True), REPLACE_ONE, Fraction(str(epsilon)))
    groups = among(["a", "b", "c"], drop_others=True)
    asked = {"asked": {"rows": 1, "by": [{"name": "group", "domain": groups.to_json()}]}}
    paid = Guarantee(noises.epsilon, Fraction(0), REPLACE_ONE, EACH_ROW, "basic")
    return anova(noises.interpret(noises.send(counts, 1, rng)[0], asked).release(paid)).p_value


RANK_SUMS = Comparison(shifted(0.15, (0.35, 0.5, 0.65)), couch_kruskal_wallis, by_rank_sums)


BEST_WEIGHTS = np.diff(stats.norm.pdf([-np.inf, 1 / 6, 0.5, 5 / 6, np.inf], 0.5, 0.15))
"""By how much the shares of the four cells change where a group moves: the best scores where noise is everything."""


def anova_with_best_weights(table: Cells) -> Evidence:
    """The analysis of variance with scores that only who knows the answer has: what four cells can give."""
    contrasts = Contrasts(np.eye(table.shape[0])[:, :-1], BEST_WEIGHTS[:, None])
    return residual_test("analysis of variance", table, contrasts, None)


# ---------------------------------------------------------------- independence [Gaboardi et al. 2016]
LINKED = np.array([[0.16, 0.11, 0.07], [0.11, 0.12, 0.10], [0.07, 0.10, 0.16]])


def linked(people: int, rng: np.random.Generator, real: bool) -> Sample:
    table = LINKED if real else np.outer(LINKED.sum(1), LINKED.sum(0))
    places = rng.choice(9, people, p=table.reshape(-1))
    return places // 3, places % 3


def gaboardi(sample: Sample, epsilon: float, rng: np.random.Generator) -> float:
    """Pearson's statistic of counts with Laplace noise of scale 2 / ε, its critical value by simulation."""
    rows, columns = sample
    counts = np.bincount(rows * 3 + columns, minlength=9).reshape(3, 3) + rng.laplace(0, 2 / epsilon, (3, 3))
    expected = np.outer(counts.sum(1), counts.sum(0)) / counts.sum()
    return float(((counts - expected) ** 2 / np.maximum(expected, 1.0)).sum())


# ---------------------------------------------------------------- two proportions [Awan & Vadhan 2023]
def halves(people: int, rng: np.random.Generator, real: bool) -> Sample:
    group = np.arange(people) % 2
    shares = np.array([0.45, 0.55])[group] if real else np.full(people, 0.5)
    return group, (rng.random(people) < shares).astype(float)


def awan_vadhan(sample: Sample, epsilon: float, rng: np.random.Generator) -> float:
    """The difference of two shares of public sizes, each number with the canonical noise of ε.

    Canonical noise is discrete Laplace noise plus a uniform variable from -1/2 to 1/2.
    """
    group, values = sample
    noise = laplace_noise(epsilon)
    ratio = float(np.exp(-1 / float(noise.loss.scale)))  # type: ignore[union-attr]
    drawn = rng.geometric(1 - ratio, 2) - rng.geometric(1 - ratio, 2) + rng.uniform(-0.5, 0.5, 2)
    first, second = ((values[group == g].sum() + drawn[g]) / (group == g).sum() for g in (0, 1))
    return float(abs(first - second))


def public_sizes(sample: Sample, epsilon: float, rng: np.random.Generator) -> float:
    """Two numbers of a public size, as `central.mean(size=...)` releases them."""
    group, values = sample
    law = AddedNoise(
        IntegerNoise(DiscreteLaplace(1 / laplace_noise(epsilon).epsilon, sensitivity=1, neighbours=REPLACE_ONE))
    )
    totals = []
    for g in (0, 1):
        noisy = values[group == g].sum(keepdims=True) + law.rehearse((1, 1), rng)[0]
        matrix, offsets = np.array([[0.0], [1.0], [1.0]]), np.array([(group == g).sum(), 0.0, 0.0])
        totals.append(Totals(Block(noisy, law), matrix, offsets, 0.0, 1.0, two_valued=True))
    return compare_shares(*totals).p_value


# ---------------------------------------------------------------- slope [Alabi & Vadhan 2022], at rho = ε^2 / 2
def line(people: int, rng: np.random.Generator, real: bool) -> Sample:
    x = rng.random(people)
    y = 0.5 + (0.3 * (x - 0.5) if real else 0) + rng.normal(0, 0.2, people)
    return x, np.clip(y, 0, 1)


def alabi_vadhan(sample: Sample, epsilon: float, rng: np.random.Generator) -> float:
    """The F statistic of five noisy sums of numbers from 0 to 1, a fifth of rho each."""
    x, y = sample
    n, rho = len(x), epsilon**2 / 2
    sums = np.array([x.sum(), y.sum(), (x * x).sum(), (x * y).sum(), (y * y).sum()])
    sx, sy, sxx, sxy, syy = sums + rng.normal(0, (5 / (2 * rho)) ** 0.5, 5)
    xx, xy, yy = sxx - sx**2 / n, sxy - sx * sy / n, syy - sy**2 / n
    left = (yy - xy**2 / xx) / (n - 2) if xx > 0 else 0.0
    return float(xy**2 / xx / left) if left > 0 else 0.0


def our_slope(sample: Sample, epsilon: float, rng: np.random.Generator) -> float:
    """A histogram of three by three cells with discrete Gaussian noise of the same rho."""
    noise = IntegerNoise(
        DiscreteGaussian(
            2 / laplace_noise(epsilon).epsilon ** 2, squared_sensitivity=2, entries=2, neighbours=REPLACE_ONE
        )
    )
    x, y = (cut(part, 0, 1, 3) for part in sample)
    return float(slope_test(histogram(x, y, (3, 3), AddedNoise(noise), rng)).p_value)


def our_independence(sample: Sample, epsilon: float, rng: np.random.Generator) -> float:
    law = AddedNoise(laplace_noise(epsilon, REPLACE_ONE))
    return independence(histogram(*sample, (3, 3), law, rng)).p_value


COMPARISONS = {
    "Mann–Whitney, 4 cells": ("Couch et al. 2019", MANN_WHITNEY),
    "analysis of variance, rank sums": ("Couch et al. 2019, Kruskal–Wallis", RANK_SUMS),
    "analysis of variance, 2 cells": ("Couch et al. 2019, Kruskal–Wallis", analysis_of_variance(2)),
    "analysis of variance, 4 cells": ("Couch et al. 2019, Kruskal–Wallis", analysis_of_variance(4)),
    "analysis of variance, 4 cells, best weights": (
        "Couch et al. 2019, Kruskal–Wallis",
        analysis_of_variance(4, anova_with_best_weights),
    ),
    "independence, 3 by 3": ("Gaboardi et al. 2016", Comparison(linked, gaboardi, our_independence)),
    "two proportions": ("Awan & Vadhan 2023", Comparison(halves, awan_vadhan, public_sizes)),
    "slope, 3 by 3": ("Alabi & Vadhan 2022", Comparison(line, alabi_vadhan, our_slope)),
}
"""Each test of ours, the published one and how both are run."""

PEOPLE = {
    "Mann–Whitney, 4 cells": {0.1: 1000, 1.0: 120},
    "analysis of variance, rank sums": {0.1: 500, 1.0: 65},
    "analysis of variance, 2 cells": {0.1: 500, 1.0: 65},
    "analysis of variance, 4 cells": {0.1: 500, 1.0: 65},
    "analysis of variance, 4 cells, best weights": {0.1: 500, 1.0: 65},
    "independence, 3 by 3": {0.1: 1300, 1.0: 220},
    "two proportions": {0.1: 1500, 1.0: 800},
    "slope, 3 by 3": {0.1: 800, 1.0: 120},
}
"""So many people at each price that the published test sees the difference about three times in four, or ours does."""
