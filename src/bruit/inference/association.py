"""How two numbers go together in the population: correlation, slope, and a test of the slope."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import inf
from statistics import NormalDist

import numpy as np

from bruit.core.arguments import confidence as checked_confidence
from bruit.core.intervals import Covers, Interval
from bruit.inference.noise_laws import Floats
from bruit.inference.noisy_counts import Cells
from bruit.inference.residual_tests import residual_test, slope_contrasts
from bruit.inference.results import Estimate, Evidence
from bruit.inference.sources import Source, cells
from bruit.inference.tails import invert, tail_of_weights


def correlation(source: Source, *, confidence: float = 0.95) -> Estimate:
    """Pearson's correlation of two columns of numbers in the population, from their noisy table of counts."""
    pair = pair_of(source)
    return _estimate("correlation", pair, pair.correlation, pair.tail_of_correlation, (-1.0, 1.0), confidence)


def slope(source: Source, *, confidence: float = 0.95) -> Estimate:
    """By how much the second column grows for each unit of the first: the least-squares line of the population."""
    pair = pair_of(source)
    return _estimate("slope", pair, pair.slope, pair.tail_of_slope, (-pair.steepest, pair.steepest), confidence)


def slope_test(source: Source, *, rng: np.random.Generator | None = None) -> Evidence:
    """Whether the slope of the least-squares line of the population is other than zero.

    The p-value is the larger of two: by the spread of the products themselves, which holds whatever the spread around
    the line, and by tables that are drawn with independent columns, which holds for few people.
    """
    pair = pair_of(source)
    robust = float(pair.tail_of_slope(np.array([0.0]))[0])
    drawn = residual_test("slope", pair.counts, slope_contrasts(pair.counts), rng)
    return Evidence("slope", pair.slope, max(robust, drawn.p_value), pair.counts.guarantees)


@dataclass(frozen=True)
class Pair:
    """The centred second moments of two columns, rid of what the noise of their means adds on average."""

    counts: Cells

    @cached_property
    def deviations(self) -> tuple[Floats, Floats]:
        """How far the value of each cell lies from the mean, of the first column and of the second."""
        values, number = self.counts.values, max(self.counts.people, 1.0)
        x, y = self.counts.axes[0].numbers, self.counts.axes[1].numbers
        first = x - np.clip(values.sum(1) @ x / number, x.min(), x.max())
        second = y - np.clip(values.sum(0) @ y / number, y.min(), y.max())
        return np.broadcast_to(first[:, None], values.shape), np.broadcast_to(second[None, :], values.shape)

    @cached_property
    def moments(self) -> tuple[float, float, float]:
        """Sums of squares of the first column, of products, and of squares of the second.

        Their means are noisy too: noise of covariance C in the two sums takes C / number from the centred products.
        """
        first, second = self.deviations
        centred = np.stack([first.reshape(-1), second.reshape(-1)])
        noise = centred @ self.counts.covariance() @ centred.T / max(self.counts.people, 1.0)
        values, pairs = self.counts.values, ((first, first, 0, 0), (first, second, 0, 1), (second, second, 1, 1))
        xx, xy, yy = (float((values * a * b).sum() + noise[i, j]) for a, b, i, j in pairs)
        return xx, xy, yy

    @property
    def is_known(self) -> bool:
        """Whether the people stand out of their noise by half a deviation, and both columns vary by more than that."""
        xx, _, yy = self.moments
        everybody = np.ones(self.counts.values.size)
        if self.counts.people <= max(float(self.counts.noise_variance(everybody)) ** 0.5 / 2, 1.0):
            return False
        squares = np.stack([(part**2).reshape(-1) for part in self.deviations])
        return bool(np.all(np.array([xx, yy]) > np.sqrt(self.counts.noise_variance(squares))))

    @property
    def steepest(self) -> float:
        """The largest slope that values on these grids can have."""
        first, second = (axis.numbers for axis in self.counts.axes)
        return float(np.ptp(second) / np.diff(np.sort(first)).min())

    @property
    def slope(self) -> float:
        """The slope of the least-squares line."""
        xx, xy, _ = self.moments
        return float(np.clip(xy / xx, -self.steepest, self.steepest)) if xx > 0 else 0.0

    @property
    def correlation(self) -> float:
        """Pearson's correlation."""
        xx, xy, yy = self.moments
        return float(np.clip(xy / (xx * yy) ** 0.5, -1, 1)) if xx > 0 and yy > 0 else 0.0

    def tail_of_slope(self, at: Floats) -> Floats:
        """How surprising the counts are at each slope b: the sum of (x - mx)(y - my - b (x - mx)) is zero there."""
        (first, second), (xx, xy, _) = self.deviations, self.moments
        weights = first * second - at[:, None, None] * first**2
        return tail_of_weights(self.counts, weights, xy - at * xx)

    def tail_of_correlation(self, at: Floats) -> Floats:
        """How surprising the counts are at each correlation r: the mean of uv - r (u^2 + v^2) / 2 is zero there."""
        (first, second), (xx, xy, yy) = self.deviations, self.moments
        number = max(self.counts.people, 1.0)
        u, v = first / (xx / number) ** 0.5, second / (yy / number) ** 0.5
        weights = u * v - at[:, None, None] * (u**2 + v**2) / 2
        return tail_of_weights(self.counts, weights, number * (xy / (xx * yy) ** 0.5 - at))


def pair_of(source: Source) -> Pair:
    """Two columns of numbers of a source."""
    found = cells(source)
    found.require_axes(2, "two columns of numbers")
    for axis in found.axes:
        axis.numbers  # noqa: B018  categories are refused here
    return Pair(found)


def _estimate(
    what: str,
    pair: Pair,
    value: float,
    tail: Callable[[Floats], Floats],
    bounds: tuple[float, float],
    confidence: float,
) -> Estimate:
    checked_confidence(confidence)
    ends = (-inf, inf) if what == "slope" else bounds
    if pair.is_known:
        ends = invert(tail, value, _step(tail, value, bounds, confidence), bounds, confidence)
    interval = Interval(np.array(ends[0]), np.array(ends[1]), confidence, Covers.POPULATION)
    return Estimate(what, value, interval, pair.counts.guarantees)


def _step(tail: Callable[[Floats], Floats], value: float, bounds: tuple[float, float], confidence: float) -> float:
    """About half of the width: where a small step away has tail t, the deviation is the step over that quantile."""
    away = (bounds[1] - bounds[0]) * np.geomspace(1e-4, 0.5, 12)
    tails = np.clip(tail(value + away), 1e-9, 1 - 1e-9)
    place = int(np.argmax(tails < 0.5)) if (tails < 0.5).any() else 11
    return float(away[place] / NormalDist().inv_cdf(1 - tails[place] / 2) * NormalDist().inv_cdf((1 + confidence) / 2))
