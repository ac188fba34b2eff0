"""Unbiased estimates of counts from the noisy marginals themselves, with exactly known variance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bruit.synthetic.gibbs import Measured

Weights = Mapping[int, NDArray[np.float64]]
"""For each column of a question, how much each of its cells counts: 0 or 1 for a count."""


@dataclass(frozen=True)
class Estimate:
    """A value and the variance of its noise."""

    value: float
    variance: float


@dataclass(frozen=True)
class Measurements:
    """All noisy marginals of a synthesis; `size` is the number of rows where that is public."""

    measured: tuple[Measured, ...]
    sizes: tuple[int, ...]
    size: int | None

    @cached_property
    def total(self) -> Estimate:
        """The number of rows: public, or the precision-weighted mean of the marginals' totals."""
        if self.size is not None:
            return Estimate(float(self.size), 0.0)
        precision = np.array([1 / (one.variance * one.noisy.size) for one in self.measured])
        totals = np.array([one.noisy.sum() for one in self.measured], float)
        return Estimate(float((precision * totals).sum() / precision.sum()), float(1 / precision.sum()))

    def linear(self, weights: Weights) -> Estimate | None:
        """Estimates the sum over rows of the product of cell weights; None if no marginal holds all those columns.

        With weights 0 and 1 it is a count. A marginal of noisy counts y, total T and C cells says w.y - m T, m being
        the mean weight: uncorrelated with T, of variance v |w - m|^2. To these, weighed by their precision, the total
        of all marginals adds m N.                                      [generalised least squares, the total known]
        """
        if not weights:
            return self.total
        parts = [self._part(one, weights) for one in self.measured if set(weights) <= set(one.clique)]
        if not parts:
            return None
        centred, variance, mean = (np.array(column) for column in zip(*parts, strict=True))
        precision = 1 / np.maximum(variance, 1e-12)
        precision /= precision.sum()
        lean = float(precision @ mean)
        value = float(precision @ centred) + lean * self.total.value
        return Estimate(value, float(precision**2 @ variance) + lean**2 * self.total.variance)

    def _part(self, one: Measured, weights: Weights) -> tuple[float, float, float]:
        """The centred sum of one marginal, its variance and the mean weight."""
        inside = one.noisy.reshape([self.sizes[i] for i in one.clique]).astype(np.float64)
        total, mean, square = float(inside.sum()), 1.0, 1.0
        for axis, i in reversed(list(enumerate(one.clique))):
            weight = weights[i] if i in weights else np.ones(self.sizes[i])
            inside = np.tensordot(inside, weight, ([axis], [0]))
            mean, square = mean * float(weight.mean()), square * float((weight**2).sum())
        return float(inside) - mean * total, one.variance * max(square - one.noisy.size * mean**2, 0.0), mean
