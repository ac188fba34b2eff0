"""Integer noise that pays for one release: which loss a budget buys, its draws and its quantiles."""

from fractions import Fraction
from math import ceil, exp, log, log1p

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger import Budget
from bruit.privacy import Approximate, DiscreteGaussian, DiscreteLaplace, Neighbours, Pure
from bruit.randomness import discrete_gaussian, discrete_laplace

LARGEST_SCALE = 2**53
"""Noise of a larger scale leaves the range of 64-bit integers."""

IntegerNoise = DiscreteLaplace | DiscreteGaussian


def laplace_noise(epsilon: Fraction, sensitivity: int, neighbours: Neighbours) -> DiscreteLaplace:
    """The least discrete Laplace noise that a pure epsilon allows.

    scale = sensitivity / epsilon                                                [Ghosh et al. 2009, Thm 3.2]
    """
    scale = sensitivity / epsilon
    if scale >= LARGEST_SCALE:
        raise InvalidArgument(
            f"epsilon={float(epsilon):.3g} for integers that one person moves by {sensitivity} asks for noise beyond "
            "64 bits; give a larger epsilon, tighter bounds or a coarser grid"
        )
    return DiscreteLaplace(scale, sensitivity=sensitivity, neighbours=neighbours)


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
        return laplace_half_width(float(loss.scale), confidence)
    return _gaussian_half_width(float(loss.variance), confidence)


def require_confidence(confidence: float) -> None:
    """Refuses a confidence that is no share."""
    if not 0 < confidence < 1:
        raise InvalidArgument(f"confidence={confidence} must lie between 0 and 1, for example 0.95")


def laplace_half_width(scale: float, confidence: float) -> int:
    """The least t with P(|k| > t) = 2 a^(t+1) / (1 + a) <= 1 - confidence, a = exp(-1/scale)."""
    needed = scale * (log(2) - log1p(exp(-1 / scale)) - log(1 - confidence)) - 1
    return max(0, ceil(needed - 1e-9))


def _gaussian_half_width(variance: float, confidence: float) -> int:
    reach = int(40 * variance**0.5) + 10
    mass = np.exp(-0.5 * np.arange(reach) ** 2 / variance)
    mass[1:] *= 2
    inside = np.cumsum(mass) / mass.sum()
    return int(np.searchsorted(inside, confidence))
