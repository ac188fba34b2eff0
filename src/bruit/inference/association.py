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
    the line, and by tables that are drawn with independent columns, which holds for few people. It is 1 where the
    interval of the slope is everything.
    """
    pair = pair_of(source)
    robust = float(pair.tail_of_slope(np.array([0.0]))[0]) if pair.is_known else 1.0
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
    def noise_of_sums(self) -> Floats:
        """The covariance of the noise in the two centred sums."""
        centred = np.stack([part.reshape(-1) for part in self.deviations])
        return np.asarray(centred @ self.counts.covariance() @ centred.T)

    @cached_property
    def moments(self) -> tuple[float, float, float]:
        """Sums of squares of the first column, of products, and of squares of the second.

        Their means are noisy too: noise of covariance C in the two sums takes C / number from the centred products.
        """
        first, second = self.deviations
        noise = self.noise_of_sums / max(self.counts.people, 1.0)
        values, pairs = self.counts.values, ((first, first, 0, 0), (first, second, 0, 1), (second, second, 1, 1))
        xx, xy, yy = (float((values * a * b).sum() + noise[i, j]) for a, b, i, j in pairs)
        return xx, xy, yy

    @property
    def is_known(self) -> bool:
        """Whether people exceed half a deviation of their noise, and both columns vary by more than theirs."""
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
        xx, xy, _ = self.moments
        slopes = at[:, None, None]
        return self._tail(lambda first, second: first * second - slopes * first**2, xy - at * xx)

    def tail_of_correlation(self, at: Floats) -> Floats:
        """How surprising the counts are at each correlation r: the mean of uv - r (u^2 + v^2) / 2 is zero there."""
        xx, xy, yy = self.moments
        number = max(self.counts.people, 1.0)
        scales = (xx / number) ** 0.5, (yy / number) ** 0.5

        def weigh(first: Floats, second: Floats) -> Floats:
            u, v = first / scales[0], second / scales[1]
            return np.asarray(u * v - at[:, None, None] * (u**2 + v**2) / 2)

        return self._tail(weigh, number * (xy / (xx * yy) ** 0.5 - at))

    def _tail(self, weigh: Callable[[Floats, Floats], Floats], distance: Floats) -> Floats:
        """The tail of sums whose weights are taken from the deviations.

        Distances from means that are noisy are too large on average, and so is the spread that they give the sum: what
        one deviation of that noise, along either of its axes, adds to it is taken away, but no more than three
        quarters of the whole.
        """
        spread = self._spread(weigh, np.zeros(2))
        strength, axes = np.linalg.eigh(self.noise_of_sums)
        shifts = (axes * np.sqrt(np.maximum(strength, 0))).T / max(self.counts.people, 1.0)
        added = sum((self._spread(weigh, s) + self._spread(weigh, -s)) / 2 - spread for s in shifts)
        kept = np.sqrt(np.clip(1 - added / np.maximum(spread, 1e-300), 0.25, 1))
        return tail_of_weights(self.counts, kept[:, None, None] * weigh(*self.deviations), distance)

    def _spread(self, weigh: Callable[[Floats, Floats], Floats], shift: Floats) -> Floats:
        """The variance of each weighted sum by sampling and noise, if the true means are off by `shift`."""
        first, second = self.deviations
        flat = weigh(first - shift[0], second - shift[1]).reshape(-1, first.size)
        sampled = np.maximum(flat**2 @ self.counts.values.reshape(-1), 0)
        return np.asarray(sampled + self.counts.noise_variance(flat))


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
    """A first guess of the interval's half-width: from the tail at a small step away, as if the law were normal."""
    away = (bounds[1] - bounds[0]) * np.geomspace(1e-4, 0.5, 12)
    tails = np.clip(tail(value + away), 1e-9, 1 - 1e-9)
    place = int(np.argmax(tails < 0.5)) if (tails < 0.5).any() else 11
    return float(away[place] / NormalDist().inv_cdf(1 - tails[place] / 2) * NormalDist().inv_cdf((1 + confidence) / 2))
