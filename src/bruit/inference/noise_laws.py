"""How noise moved the counts that a statistic is made of: added integers, normal noise, or randomised reports.

A law answers three questions about a weighted sum of its counts: the variance of its normal part, the characteristic
function of the rest, and what would come out if the true counts had other means.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bruit.channels import IntegerNoise, Support, laplace_log_characteristic, laplace_variance, ratio_of
from bruit.core.losses import DiscreteLaplace

Floats = NDArray[np.float64]


class NoiseLaw(ABC):
    """The distribution of privacy noise on a group of counts: covariance, characteristic function, draws."""

    @abstractmethod
    def covariance(self, values: Floats) -> Floats:
        """The covariance matrix of the noise, estimated from the noisy counts where it depends on the true ones."""

    @abstractmethod
    def normal_part(self, weights: Floats, values: Floats) -> Floats:
        """The variance of the normal part of the noise of each row of weights."""

    @abstractmethod
    def log_characteristic(self, frequencies: Floats) -> Floats:
        """The logarithm of E exp(i sum of frequency * noise) of what is not normal, over the last axis."""

    @abstractmethod
    def draw(self, means: Floats, size: int, rng: np.random.Generator) -> Floats:
        """Noisy counts of so many other samples of people, one a row, whose true counts have these means."""


@dataclass(frozen=True)
class AddedNoise(NoiseLaw):
    """Independent discrete noise on each count, in steps of `unit`."""

    noise: IntegerNoise
    unit: float = 1.0

    @property
    def variance(self) -> float:
        """The variance of the noise of one count."""
        loss = self.noise.loss
        if not isinstance(loss, DiscreteLaplace):
            return float(loss.variance) * self.unit**2
        return laplace_variance(float(loss.scale)) * self.unit**2

    def covariance(self, values: Floats) -> Floats:
        return np.asarray(self.variance * np.eye(values.size))

    def normal_part(self, weights: Floats, values: Floats) -> Floats:
        del values
        if isinstance(self.noise.loss, DiscreteLaplace):
            return np.zeros(weights.shape[:-1])
        return np.asarray(self.variance * np.square(weights).sum(-1))

    def log_characteristic(self, frequencies: Floats) -> Floats:
        if not isinstance(self.noise.loss, DiscreteLaplace):
            return np.zeros(frequencies.shape[:-1])
        return np.asarray(laplace_log_characteristic(float(self.noise.loss.scale), frequencies * self.unit).sum(-1))

    def draw(self, means: Floats, size: int, rng: np.random.Generator) -> Floats:
        people = rng.poisson(means, (size, means.size))
        return np.asarray(people + self.rehearse(people.shape, rng) * self.unit)

    def rehearse(self, shape: tuple[int, int], rng: np.random.Generator) -> NDArray[np.int64]:
        """Noise of the same law, drawn fast: it hides nobody. Laplace noise is a difference of two geometric counts."""
        if not isinstance(self.noise.loss, DiscreteLaplace):
            return self.noise.draw(shape[0] * shape[1], rng=rng).reshape(shape)
        stop = 1 - ratio_of(float(self.noise.loss.scale))
        return np.asarray(rng.geometric(stop, shape) - rng.geometric(stop, shape))


@dataclass(frozen=True)
class NormalNoise(NoiseLaw):
    """Independent normal noise on each count: what several discrete Gaussian measurements add up to."""

    variance: float

    def covariance(self, values: Floats) -> Floats:
        return np.asarray(self.variance * np.eye(values.size))

    def normal_part(self, weights: Floats, values: Floats) -> Floats:
        del values
        return np.asarray(self.variance * np.square(weights).sum(-1))

    def log_characteristic(self, frequencies: Floats) -> Floats:
        return np.zeros(frequencies.shape[:-1])

    def draw(self, means: Floats, size: int, rng: np.random.Generator) -> Floats:
        return np.asarray(
            rng.poisson(means, (size, means.size)) + rng.normal(0, self.variance**0.5, (size, means.size))
        )


@dataclass(frozen=True)
class ReportNoise(NoiseLaw):
    """Randomised reports of `people` respondents, unmixed to counts; every category is supported by coins of its own.

    `one_place` where a report names exactly one category, as in k-ary randomised response; the counts of supporting
    reports are then multinomial, elsewhere two binomials each, given the true counts.
    """

    support: Support
    people: int
    one_place: bool

    def covariance(self, values: Floats) -> Floats:
        """Given the true counts: B' diag(c) B - diag(value) for one place, B the inverse; else two binomials each."""
        if not self.one_place:
            return np.asarray(np.diag(self.support.counted_variance(values, out_of=self.people)))
        inverse = self.support.unmix(np.eye(values.size))
        observed = self.support.gap * values + self.people * self.support.false
        return np.asarray(inverse.T @ (observed[:, None] * inverse) - np.diag(values))

    def normal_part(self, weights: Floats, values: Floats) -> Floats:
        return np.asarray(np.einsum("...i,ij,...j->...", weights, self.covariance(values), weights))

    def log_characteristic(self, frequencies: Floats) -> Floats:
        return np.zeros(frequencies.shape[:-1])

    def draw(self, means: Floats, size: int, rng: np.random.Generator) -> Floats:
        shares = np.maximum(means, 0) / np.maximum(means, 0).sum()
        if self.one_place:
            mixed = self.support.mix(shares)
            supported = rng.multinomial(self.people, mixed / mixed.sum(), size)
        else:
            held = rng.multinomial(self.people, shares, size)
            supported = rng.binomial(held, self.support.true) + rng.binomial(self.people - held, self.support.false)
        return self.support.unmix(supported, out_of=self.people)
