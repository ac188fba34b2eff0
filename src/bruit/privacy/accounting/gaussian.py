"""The exact delta of Gaussian noise at an epsilon, and the epsilon at a delta."""

import math
from fractions import Fraction
from functools import cache

import numpy as np
from scipy import optimize, special

from bruit.core.numbers import SMALLEST, rounded_up

UNIT_ROUNDOFF = 2.0**-53

DEEPEST = -38.0
"""Below it the normal law has less mass than the smallest float."""

LARGEST_SHIFT = 1e150
"""Its square is still a float; beyond it no epsilon is."""

PURE_SLOPE = Fraction(1_253_314_137_315_500_252, 10**18)
"""Just above sqrt(pi / 2), the shift of a pure epsilon over epsilon as that goes to zero; elsewhere it is less."""

TINY = Fraction(1, 10**8)
"""Below it the shift and its tangent differ by less than 2^-60, relatively."""

NARROW = 0.5
"""Below this shift the slope of the Mills ratio is integrated: two ratios so near differ in few digits."""


def gaussian_delta(shift: float, epsilon: float) -> float:
    """The exact delta at which N(shift, 1) and N(0, 1) are epsilon-close, plus its rounding error; never zero.

    Phi(s/2 - e/s) - exp(e) Phi(-s/2 - e/s)                              [Balle & Wang 2018, Theorem 8]

    Both terms carry the density at a = s/2 - e/s, so that in the tail they are subtracted as Mills ratios.
    """
    # Both arguments are moved by what their floats may have lost, as a slightly smaller epsilon would move them.
    half, ratio = shift / 2, epsilon / shift
    lost = 2 * UNIT_ROUNDOFF * (half + ratio)
    near, far = half - ratio + lost, -half - ratio + lost
    if math.isinf(ratio) or near < DEEPEST:
        return SMALLEST
    density = math.exp(-near * near / 2) / math.sqrt(2 * math.pi)
    if shift < NARROW:
        return max(density * _rise_of_mills(near, shift) * (1 + (1 + near * near) * 32 * UNIT_ROUNDOFF), SMALLEST)
    larger, smaller = _mills(near), _mills(far)
    if near > 5:
        return min(1.0, float(special.ndtr(near)) - density * smaller + 8 * UNIT_ROUNDOFF)
    return max(
        density * (larger - smaller + 8 * UNIT_ROUNDOFF * larger) * (1 + near * near * 8 * UNIT_ROUNDOFF), SMALLEST
    )


def gaussian_epsilon(shift: float, delta: float) -> float:
    """The least epsilon at which N(shift, 1) and N(0, 1) are (epsilon, delta)-close, never below the true one."""
    if gaussian_delta(shift, 0.0) <= delta:
        return 0.0
    if shift > LARGEST_SHIFT:
        return math.inf
    enough = shift * shift / 2 + shift * math.sqrt(2 * math.log(1 / delta))  # the tail of the loss alone

    def excess(epsilon: float) -> float:
        reached = gaussian_delta(shift, epsilon)
        return (math.log(reached) if reached > 0 else -1e9) - math.log(delta)

    epsilon: float = optimize.brentq(excess, 0.0, enough * (1 + 1e-9) + 1e-300, xtol=1e-300, rtol=1e-14)
    growth = 1e-14
    while gaussian_delta(shift, epsilon) > delta:
        epsilon, growth = epsilon * (1 + growth), 2 * growth
    return epsilon


def pure_shift(epsilon: Fraction) -> Fraction:
    """The least mu, rounded up, such that every epsilon-DP mechanism is mu-GDP (Gaussian DP).

    -2 Phi^-1(1 / (1 + e^epsilon)) = sqrt(8) erf^-1(tanh(epsilon / 2)): the trade-off of the two-point law is two
    chords of this convex curve. For a tiny epsilon the tangent at zero is nearer than a float.
    """
    if epsilon < TINY:
        return PURE_SLOPE * epsilon
    size = float(epsilon)
    if size < 1:
        return rounded_up(math.sqrt(8) * float(special.erfinv(math.tanh(size / 2))))
    return rounded_up(-2 * float(special.ndtri_exp(-size - math.log1p(math.exp(-size)))))


def bounded_range_shift(epsilon: Fraction) -> Fraction:
    """The least mu, rounded up, such that every choice of bounded range epsilon is mu-GDP (Gaussian DP).

    Likelihood ratios lie in [e^(t - epsilon), e^t] for some t, so the trade-off lies above two chords whose corner
    (q, 1 - p) has logit(p) - logit(q) = epsilon. Phi^-1 rises fastest against the logit at one half, so
    Phi^-1(p) - Phi^-1(q) is largest for the symmetric corner, that of a pure epsilon / 2; and a convex curve below the
    corner is below the chords.                                              [cf. Dong, Durfee & Rogers 2020]
    """
    return pure_shift(epsilon / 2)


def _mills(x: float) -> float:
    """Phi(x) over its density."""
    return math.sqrt(math.pi / 2) * float(special.erfcx(-x / math.sqrt(2)))


def _rise_of_mills(x: float, width: float) -> float:
    """How much the Mills ratio m rises from x - width to x, for a small width: the integral of m' = 1 + x m."""
    places = ((x - width * share, weight) for share, weight in _legendre())
    return width * sum(weight * (1 + place * _mills(place)) for place, weight in places)


@cache
def _legendre() -> list[tuple[float, float]]:
    """The nodes and weights of a Gauss-Legendre rule on [0, 1]."""
    nodes, weights = np.polynomial.legendre.leggauss(12)
    return list(zip(((1 + nodes) / 2).tolist(), (weights / 2).tolist(), strict=True))
