"""Noise on integers: discrete Laplace or discrete Gaussian, its draws, its law and its quantiles."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp, expm1, inf, log, log1p, sqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.channels.channel import Channel
from bruit.core.arguments import confidence as checked_confidence
from bruit.core.losses import DiscreteGaussian, DiscreteLaplace
from bruit.core.neighbours import Neighbours
from bruit.core.numbers import log_of
from bruit.errors import InvalidArgument
from bruit.randomness import discrete_gaussian, discrete_laplace, generator

LARGEST_SCALE: Final = 2**53
"""Noise of a larger scale leaves the range of 64-bit integers."""

LEAST_SCALE: Final = 1e-300
"""Noise of a smaller scale is never seen."""

WIDE: Final = 1e6
"""A variance from which on the normal law gives the half-width of the discrete one."""

IntegerLoss = DiscreteLaplace | DiscreteGaussian


@dataclass(frozen=True)
class IntegerNoise(Channel):
    """The channel that adds independent discrete Laplace or Gaussian noise to integers, described by its loss.

    discrete Laplace    P(k) = (1 - a) / (1 + a) a^|k|,  a = exp(-1 / scale)             [Ghosh et al. 2009]
    discrete Gaussian   P(k) proportional to exp(-k^2 / (2 variance))     [Canonne, Kamath and Steinke 2020]
    """

    loss: IntegerLoss

    def __post_init__(self) -> None:
        if isinstance(self.loss, DiscreteLaplace):
            require_scale(self.loss.scale)
        else:
            require_variance(self.loss.variance)

    @classmethod
    def laplace(cls, epsilon: Fraction, *, sensitivity: int, neighbours: Neighbours) -> IntegerNoise:
        """The least discrete Laplace noise that is epsilon-private at a sensitivity.

        scale = sensitivity / epsilon                                            [Ghosh et al. 2009, Thm 3.2]
        """
        scale = sensitivity / epsilon
        require_scale(scale)
        return cls(DiscreteLaplace(scale, sensitivity=sensitivity, neighbours=neighbours))

    @property
    def epsilon(self) -> Fraction | float:
        """The pure epsilon of one use at the loss's sensitivity; infinite for Gaussian noise."""
        return self.loss.sensitivity / self.loss.scale if isinstance(self.loss, DiscreteLaplace) else inf

    def draw(self, size: int, *, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        """Independent draws of the noise alone."""
        if isinstance(self.loss, DiscreteLaplace):
            return discrete_laplace(self.loss.scale, size, rng=rng)
        return discrete_gaussian(self.loss.variance, size, rng=rng)

    def send(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """Adds noise to integers and keeps their shape; a Python int stays one."""
        if isinstance(values, int):
            return values + int(self.draw(1, rng=rng)[0])
        exact = np.asarray(values)
        return exact + self.draw(exact.size, rng=generator(rng)).reshape(exact.shape)

    def law(self, reach: int) -> NDArray[np.float64]:
        """The probabilities P(noise = k) for k from -reach to reach."""
        places = np.abs(np.arange(-reach, reach + 1))
        if isinstance(self.loss, DiscreteLaplace):
            ratio = ratio_of(float(self.loss.scale))
            return np.asarray((1 - ratio) / (1 + ratio) * ratio**places)
        mass = _gaussian_weights(max(float(self.loss.variance), LEAST_SCALE), reach)
        return np.asarray(mass[places] / (2 * mass.sum() - 1))

    def half_width(self, confidence: float) -> int:
        """The least t with P(|noise| <= t) >= confidence."""
        checked_confidence(confidence)
        if isinstance(self.loss, DiscreteLaplace):
            return _laplace_half_width(float(self.loss.scale), confidence)
        return _gaussian_half_width(max(float(self.loss.variance), LEAST_SCALE), confidence)

    def to_json(self) -> dict[str, Any]:
        """The loss in JSON types, which determines the law."""
        return {"kind": "integer noise", "loss": self.loss.to_json()}


def require_scale(scale: Fraction) -> None:
    """Refuses a noise scale that cannot be sampled, before anything is charged."""
    if scale >= LARGEST_SCALE:
        raise InvalidArgument(
            f"noise of a scale of 10^{log_of(scale) / log(10):.1f} is beyond 64 bits: give a larger epsilon, tighter "
            "bounds or a coarser grid"
        )


def require_variance(variance: Fraction) -> None:
    """Refuses Gaussian noise that cannot be sampled, before anything is charged."""
    require_scale(variance / LARGEST_SCALE)


def ratio_of(scale: float) -> float:
    """The ratio P(k + 1) / P(k) of discrete Laplace noise: exp(-1/scale), 0 where that underflows."""
    return exp(-1 / max(scale, LEAST_SCALE))


def laplace_variance(scale: float) -> float:
    """The variance of discrete Laplace noise: 2 a / (1 - a)^2, a = exp(-1/scale)."""
    rest = -expm1(-1 / max(scale, LEAST_SCALE))
    return 2 * (1 - rest) / rest**2


def laplace_log_characteristic(scale: float, frequencies: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logarithm of E exp(i t noise) of discrete Laplace noise: (1 - a)^2 / ((1 - a)^2 + 4 a sin^2(t / 2))."""
    return np.asarray(-np.log1p(2 * laplace_variance(scale) * np.sin(frequencies / 2) ** 2))


def _laplace_half_width(scale: float, confidence: float) -> int:
    """The least t with P(|k| > t) = 2 a^(t+1) / (1 + a) <= 1 - confidence, a = exp(-1/scale)."""
    needed = scale * (log(2) - log1p(ratio_of(scale)) - log(1 - confidence)) - 1
    return max(0, ceil(needed - 1e-9))


def _gaussian_half_width(variance: float, confidence: float) -> int:
    if variance > WIDE:
        # The sum up to t is the integral up to t + 1/2 within the last term, which moves t by less than that.
        edge, deviation = float(special.ndtri((1 + confidence) / 2)), sqrt(variance)
        return ceil(deviation * edge - 0.5 + edge / deviation)
    mass = _gaussian_weights(variance, 0)
    mass[1:] *= 2
    inside = np.cumsum(mass) / mass.sum()
    return int(np.searchsorted(inside, confidence))


def _gaussian_weights(variance: float, reach: int) -> NDArray[np.float64]:
    """exp(-k^2 / (2 variance)) of k = 0, 1, … up to where nothing is left of it, and at least up to the reach."""
    last = max(int(40 * variance**0.5) + 10, reach + 1)
    return np.asarray(np.exp(-0.5 * np.arange(last) ** 2 / variance))
