"""Accuracy theorems for private quantiles, as functions that check their hypotheses and report vacuous bounds.

They are the bounds of the report with its slips mended
[docs/spec.md S3.3, S3.4 and errata]: each of `quantiles` calls
has its share of epsilon, the grid adds a term, and a bound that reaches one is called vacuous.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, isfinite, log, pi, sqrt
from statistics import NormalDist
from typing import Literal

import numpy as np

from bruit.core.arguments import share
from bruit.errors import InvalidArgument

DECILES_ASKED = 9
POINTS = 200_001
ROOT = sqrt(2 * pi)


@dataclass(frozen=True)
class Bound:
    """A bound; if vacuous, `because` gives the reason and `value` the trivial bound."""

    value: float
    because: str = ""

    @property
    def vacuous(self) -> bool:
        """Whether the bound is trivial, since the theorem promises nothing for these arguments."""
        return bool(self.because)

    def __str__(self) -> str:
        return f"vacuous: {self.because}" if self.vacuous else f"at most {self.value:.4g}"


def above_threshold_accuracy(queries: int, *, epsilon: float, beta: float) -> float:
    """The accuracy alpha of AboveThreshold: how far from the threshold it may stop, with probability 1 - beta.

    alpha = 8 (log k + log(2 / beta)) / epsilon over k queries of sensitivity 1        [Dwork & Roth 2014, Thm 3.24]
    Every answer passed over is below threshold + alpha, the one found is above threshold - alpha.
    """
    _positive(epsilon=epsilon)
    _share(beta=beta)
    if queries < 1:
        raise InvalidArgument(f"queries={queries} must be at least 1")
    return 8 * (log(queries) + log(2 / beta)) / epsilon


def histogram_failure(
    law: Literal["uniform", "normal"],
    probability: float,
    *,
    gamma: float,
    rows: int,
    epsilon: float,
    steps: int,
    beta: float,
    quantiles: int = DECILES_ASKED,
) -> Bound:
    """The probability that the histogram method misses [d - gamma - (b-a)/steps, d + gamma], d the true quantile.

    beta + mu + eta: AboveThreshold strays by more than alpha, fewer than alpha records lie between d and its
    surroundings, the sample's quantile is off by more than gamma / 2. The uniform law is that of [0, 1]; the normal one
    is standard, its data within the bounds [a, b] of the method.                                    [docs/spec.md S3.3]
    """
    _positive(gamma=gamma, rows=rows)
    _share(probability=probability)
    alpha = above_threshold_accuracy(steps, epsilon=epsilon / quantiles, beta=beta)
    if law == "uniform":
        return _uniform(probability, gamma, rows, alpha, beta)
    if law == "normal":
        return _normal(probability, gamma, rows, alpha, beta)
    raise InvalidArgument(f"law={law!r}; choose uniform or normal")


def _uniform(probability: float, gamma: float, rows: int, alpha: float, beta: float) -> Bound:
    if gamma >= max(probability, 1 - probability):
        return Bound(0.0)  # the whole of [0, 1]
    if 2 * alpha > rows * gamma:
        return Bound(1.0, f"2 alpha = {2 * alpha:.4g} is above n gamma = {rows * gamma:.4g}")
    return _describe(beta + float(_uniform_tails(np.array(gamma), rows, alpha)))


def _uniform_tails(gamma: np.ndarray, rows: int, alpha: float) -> np.ndarray:
    """Mu = 2 exp(-n gamma/4 (1 - 2 alpha/(n gamma))^2), eta = 2 exp(-n gamma^2 / 12)."""
    mu = 2 * np.exp(-rows * gamma / 4 * (1 - 2 * alpha / (rows * gamma)) ** 2)
    return np.asarray(mu + 2 * np.exp(-rows * gamma**2 / 12))


def _normal(probability: float, gamma: float, rows: int, alpha: float, beta: float) -> Bound:
    """The formulas at the mirrored decile of the upper half, where the report's steps hold."""
    upper = max(probability, 1 - probability)
    place, tenth = NormalDist().inv_cdf(upper), 10 * upper
    if gamma > place:
        return Bound(1.0, f"gamma = {gamma:.4g} is above the distance {place:.4g} of the quantile from the median")
    if place * gamma + gamma**2 / 4 > log(2):
        return Bound(1.0, f"d gamma + gamma^2 / 4 is above log 2 for gamma = {gamma:.4g}")
    inside = exp(-((place + gamma) ** 2) / 2) - 2 * alpha * ROOT / (rows * gamma)
    if inside <= 0:
        return Bound(1.0, f"fewer than alpha = {alpha:.4g} records are expected beside the quantile")
    mu = 2 * exp(-rows * gamma / (4 * ROOT) * inside**3)
    density = exp(-(place**2))
    eta = exp(-rows * gamma**2 / tenth**2 * (upper - gamma / (2 * ROOT)) * density)
    eta += exp(-5 * gamma**2 * tenth * rows / (16 * pi * (tenth + 5 * gamma / ROOT) ** 2) * density)
    return _describe(beta + mu + eta)


def histogram_expected_error(
    probability: float,
    *,
    rows: int,
    epsilon: float,
    steps: int,
    beta: float,
    quantiles: int = DECILES_ASKED,
) -> Bound:
    """The expected distance of the histogram method from the true quantile of the uniform law on [0, 1].

    1/k + 2 alpha/n + integral from 2 alpha/n to max(d, 1-d) of min(1, beta + mu + eta)      [docs/spec.md S3.3, errata]
    """
    _positive(rows=rows)
    _share(probability=probability)
    alpha = above_threshold_accuracy(steps, epsilon=epsilon / quantiles, beta=beta)
    farthest, start = max(probability, 1 - probability), 2 * alpha / rows
    if start >= farthest:
        return Bound(farthest, f"2 alpha / n = {start:.4g} is beyond the farthest possible error {farthest:.4g}")
    gamma = np.linspace(start, farthest, POINTS)
    inner = np.minimum(1.0, beta + _uniform_tails(gamma, rows, alpha))
    # The integrand falls, so that the left ends of the steps give a sum above the integral.
    value = 1 / steps + start + float(inner[:-1].sum()) * (farthest - start) / (POINTS - 1)
    if value >= farthest:
        return Bound(farthest, f"the bound {value:.4g} is beyond the farthest possible error {farthest:.4g}")
    return Bound(value)


def inverse_sensitivity_failure(
    *,
    distance: float,
    gamma: float,
    smoothing: float,
    width: float,
    density: float,
    rows: int,
    epsilon: float,
    quantiles: int = DECILES_ASKED,
) -> Bound:
    """The probability that a smooth inverse-sensitivity quantile errs by more than 2 u + smoothing from the sample's.

    R/rho exp(-n p u eps/4) + 4 exp(-n gamma^2 p^2/8) + 2 gamma/u exp(-n p u/8), u = `distance`, rho = `smoothing`,
    R = `width` of the bounds, p the least `density` of the law within 2 gamma of its quantile, eps the share of one
    quantile; for a table of public size. Near an end only half of the smoothing lies inside: R/rho, not R/(2 rho).
                                                                   [Asi & Duchi 2020; docs/spec.md S3.4, errata]
    """
    _positive(distance=distance, gamma=gamma, smoothing=smoothing, width=width, rows=rows, epsilon=epsilon)
    if distance > gamma / 4:
        return Bound(1.0, f"distance = {distance:.4g} must be at most gamma / 4 = {gamma / 4:.4g}")
    if density <= 0:
        return Bound(1.0, "the density must be above zero all around the quantile")
    mass = rows * density * distance
    strays = width / smoothing * exp(-mass * epsilon / quantiles / 4)
    return _describe(strays + 4 * exp(-rows * (gamma * density) ** 2 / 8) + 2 * gamma / distance * exp(-mass / 8))


def _describe(chance: float) -> Bound:
    return Bound(chance) if chance < 1 else Bound(1.0, f"the terms add up to {chance:.4g}")


def _positive(**values: float) -> None:
    for name, value in values.items():
        if not (isfinite(value) and value > 0):
            raise InvalidArgument(f"{name}={value} must be above zero")


def _share(**values: float) -> None:
    for name, value in values.items():
        share(value, name)
