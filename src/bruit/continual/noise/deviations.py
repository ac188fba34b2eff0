"""Standard deviations and half-widths of totals, differences, windows and trends of a stream, in closed form."""

from __future__ import annotations

from math import ceil, sqrt

import numpy as np
import scipy
from numpy.typing import NDArray
from scipy import special

from bruit.continual.factorisation import Factor
from bruit.continual.plan import StreamPlan

Floats = NDArray[np.float64]

FLOATS = 1 + 1e-6
"""A safety factor, far above the rounding error of these formulas and the distance of discrete from normal noise."""


def total_deviation(plan: StreamPlan, period: int) -> float:
    """The standard deviation of the total of a period, in units of the data: σ/U √(Σ_{k<t} b_k²)."""
    return plan.deviation * sqrt(_squares(plan.factor, period))


def change_deviation(plan: StreamPlan, since: int, until: int) -> float:
    """The standard deviation of the difference of two totals: σ/U √(Σ_k (b_k - b_(k-w))²), w = until - since."""
    if since == 0:
        return total_deviation(plan, until)
    (weights, poles), apart = plan.factor.arrays, until - since
    after = weights @ poles ** (apart - 1)  # b_w
    moved = weights * (poles**apart - 1)
    rest = moved @ _geometric(plan.factor.pairs, since - 1) @ moved
    return plan.deviation * sqrt(_squares(plan.factor, apart) + float((after - 1) ** 2 + rest))


def weighted_deviation(plan: StreamPlan, weights: Floats) -> float:
    """The standard deviation of a weighted sum of totals, Σ_t weights[t-1] · total_t: ‖Bᵀ weights‖ σ/U."""
    n = len(weights)
    spread = scipy.signal.fftconvolve(weights[::-1], plan.factor.b(n))[:n]
    return plan.deviation * float(np.sqrt(spread @ spread))


def total_half_width(plan: StreamPlan, period: int, confidence: float) -> int:
    """The least integer half-width that covers the noise of one published (rounded) total at a confidence.

    |round w| <= h where |w| < h + 1/2.
    """
    return max(0, ceil(_quantile(confidence) * total_deviation(plan, period) * FLOATS - 0.5))


def change_half_width(plan: StreamPlan, since: int, until: int, confidence: float) -> int:
    """The least integer half-width that covers the noise of a difference of two published totals.

    |round w - round w'| <= h where |w - w'| <= h.
    """
    if since == 0:
        return total_half_width(plan, until, confidence)
    return max(0, ceil(_quantile(confidence) * change_deviation(plan, since, until) * FLOATS))


def weighted_half_width(plan: StreamPlan, weights: Floats, confidence: float) -> float:
    """The half-width that covers the noise of a weighted sum of published totals, their rounding included."""
    return _quantile(confidence) * weighted_deviation(plan, weights) * FLOATS + float(np.abs(weights).sum()) / 2


def slope_weights(until: int, window: int) -> Floats:
    """The weights of totals 1 … until in the least-squares slope over the last `window` totals."""
    places = np.arange(window) - (window - 1) / 2
    return np.concatenate([np.zeros(until - window), places / (places @ places)])


def _quantile(confidence: float) -> float:
    return float(special.ndtri((1 + confidence) / 2))


def _squares(factor: Factor, period: int) -> float:
    """Σ_{k<t} b_k²."""
    weights, _ = factor.arrays
    return float(1 + weights @ _geometric(factor.pairs, period - 1) @ weights)


def _geometric(ratio: Floats, terms: int) -> Floats:
    """Σ ratio^k for k < terms."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(ratio == 1, float(terms), -np.expm1(terms * np.log(ratio)) / (1 - ratio))
