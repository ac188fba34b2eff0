"""The most likely solution of noisy linear equations, shrunk as much as the equations themselves ask for."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

VARIANCES = np.geomspace(1e-4, 1e3, 29)
"""The variances of a scaled slope that are tried."""

WIDE = 2.0
"""The deviation of the natural logarithm of a slope's variance before the data."""

ROUNDS = 4


def most_likely(
    matrix: Floats, right: Floats, disturbance: Callable[[Floats], Floats], *, free: float, usual: float
) -> Floats:
    """The theta of matrix @ theta = right + noise under normal noise and a normal prior of the best variance.

    theta = S A (V + A S A)^-1 b,  S = diag(free, v, ..., v),  V = disturbance(theta before); v has the largest
    likelihood of b ~ N(0, V + A S A) times a wide prior around `usual`: empirical Bayes   [Efron & Morris 1973]
    """
    theta: Floats = np.zeros(len(right))
    for _ in range(ROUNDS):
        noise = disturbance(theta)
        priors = [np.diag(np.r_[free, np.full(len(right) - 1, variance)]) for variance in VARIANCES]
        surprise = 0.5 * (np.log(VARIANCES / usual) / WIDE) ** 2
        fits = np.array([_evidence(noise + matrix @ prior @ matrix, right) for prior in priors])
        prior = priors[int(np.argmax(fits - surprise))]
        total = noise + matrix @ prior @ matrix
        theta = np.asarray(prior @ matrix @ np.linalg.lstsq(total, right, rcond=None)[0])
    return theta


def _evidence(covariance: Floats, right: Floats) -> float:
    """The log-likelihood of the right side under a normal law around zero."""
    values, vectors = np.linalg.eigh(covariance)
    values = np.maximum(values, 1e-12)
    return float(-0.5 * (np.log(values) + (vectors.T @ right) ** 2 / values).sum())
