"""Integer noise that pays for one release: which loss a budget buys, its draws and its quantiles."""

from fractions import Fraction
from math import ceil, exp, log, log1p, sqrt

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger import Budget
from bruit.privacy import Approximate, DiscreteGaussian, DiscreteLaplace, Neighbours, Pure
from bruit.privacy.numbers import log_of
from bruit.randomness import discrete_gaussian, discrete_laplace

LARGEST_SCALE = 2**53
"""Noise of a larger scale leaves the range of 64-bit integers."""

LEAST_SCALE = 1e-300
"""Noise of a smaller scale is never seen."""

WIDE = 1e6
"""A variance from which on the normal law gives the half-width of the discrete one."""

IntegerNoise = DiscreteLaplace | DiscreteGaussian


def laplace_noise(epsilon: Fraction, sensitivity: int, neighbours: Neighbours) -> DiscreteLaplace:
    """The least discrete Laplace noise that a pure epsilon allows.

    scale = sensitivity / epsilon                                                [Ghosh et al. 2009, Thm 3.2]
    """
    scale = sensitivity / epsilon
    require_scale(scale)
    return DiscreteLaplace(scale, sensitivity=sensitivity, neighbours=neighbours)


def require_scale(scale: Fraction) -> None:
    """Refuses noise that no draw can be made of, before anything is charged."""
    if scale >= LARGEST_SCALE:
        raise InvalidArgument(
            f"noise of a scale of 10^{log_of(scale) / log(10):.1f} is beyond 64 bits: give a larger epsilon, tighter "
            "bounds or a coarser grid"
        )


def bought_noise(budget: Budget, *, each: int, entries: int = 1) -> IntegerNoise:
    """The noise a budget buys for integers of which one person moves at most `entries`, by at most `each`.

    l1 = entries * each, l2^2 = entries * each^2                                  [docs/rules.md, rule 6]
    """
    loss, sensitivity = budget.loss, entries * each
    if isinstance(loss, Pure | Approximate):
        return laplace_noise(budget.epsilon, sensitivity, budget.neighbours)
    if isinstance(loss, DiscreteLaplace) and loss.sensitivity >= sensitivity:
        return loss
    wide_enough = isinstance(loss, DiscreteGaussian) and loss.squared_sensitivity >= entries * each**2
    if isinstance(loss, DiscreteGaussian) and wide_enough and loss.entries >= entries:
        return loss
    raise NotPrivate(
        f"a budget of {type(loss).__name__} cannot pay for {entries} integers of l1 sensitivity {sensitivity}; "
        "give DiscreteLaplace or DiscreteGaussian of at least that sensitivity, or an epsilon"
    )


def draw(loss: IntegerNoise, size: int, *, rng: np.random.Generator) -> NDArray[np.int64]:
    """Independent draws of the noise that the loss describes."""
    if isinstance(loss, DiscreteLaplace):
        return discrete_laplace(loss.scale, size, rng=rng)
    return discrete_gaussian(loss.variance, size, rng=rng)


def half_width(loss: IntegerNoise, confidence: float) -> int:
    """The least t with P(|noise| <= t) >= confidence."""
    require_confidence(confidence)
    if isinstance(loss, DiscreteLaplace):
        require_scale(loss.scale)
        return laplace_half_width(float(loss.scale), confidence)
    require_scale(loss.variance / LARGEST_SCALE)
    return _gaussian_half_width(max(float(loss.variance), LEAST_SCALE), confidence)


def require_confidence(confidence: float) -> None:
    """Refuses a confidence that is no share."""
    if not 0 < confidence < 1:
        raise InvalidArgument(f"confidence={confidence} must lie between 0 and 1, for example 0.95")


def laplace_half_width(scale: float, confidence: float) -> int:
    """The least t with P(|k| > t) = 2 a^(t+1) / (1 + a) <= 1 - confidence, a = exp(-1/scale)."""
    needed = scale * (log(2) - log1p(ratio_of(scale)) - log(1 - confidence)) - 1
    return max(0, ceil(needed - 1e-9))


def ratio_of(scale: float) -> float:
    """How much less likely each further step is: exp(-1/scale); nothing is left of noise below every float."""
    return exp(-1 / max(scale, LEAST_SCALE))


def _gaussian_half_width(variance: float, confidence: float) -> int:
    if variance > WIDE:
        # The sum up to t is the integral up to t + 1/2 within the last term, which moves t by less than that.
        edge, deviation = float(special.ndtri((1 + confidence) / 2)), sqrt(variance)
        return ceil(deviation * edge - 0.5 + edge / deviation)
    reach = int(40 * variance**0.5) + 10
    mass = np.exp(-0.5 * np.arange(reach) ** 2 / variance)
    mass[1:] *= 2
    inside = np.cumsum(mass) / mass.sum()
    return int(np.searchsorted(inside, confidence))
