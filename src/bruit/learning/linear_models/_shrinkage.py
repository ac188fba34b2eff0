"""Empirical-Bayes solution of noisy linear equations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

VARIANCES = np.geomspace(1e-4, 1e3, 22)
"""The variances of a scaled slope that are tried."""

WIDE = 2.0
"""The deviation of the natural logarithm of a slope's variance before the data."""

ROUNDS = 3


def most_likely(
    matrix: Floats, right: Floats, disturbance: Callable[[Floats], Floats], *, free: float, usual: float
) -> Floats:
    """The posterior mean of theta in matrix @ theta = right + noise, under a normal prior of most likely variance.

    theta = S A (V + A S A)^-1 b,  S = diag(free, v, ..., v),  V = disturbance(theta before); v has the largest
    likelihood of b ~ N(0, V + A S A) times a wide prior around `usual`: empirical Bayes   [Efron & Morris 1973]
    """
    theta: Floats = np.zeros(len(right))
    priors = np.zeros((len(VARIANCES), len(right)))
    priors[:, 0], priors[:, 1:] = free, VARIANCES[:, None]
    spreads = (matrix * priors[:, None]) @ matrix
    surprise = 0.5 * (np.log(VARIANCES / usual) / WIDE) ** 2
    for _ in range(ROUNDS):
        values, vectors = np.linalg.eigh(disturbance(theta) + spreads)
        values, turned = np.maximum(values, 1e-12), np.einsum("vij,i->vj", vectors, right)
        fits = -0.5 * (np.log(values) + turned**2 / values).sum(axis=1) - surprise
        best = int(np.argmax(fits))
        theta = np.asarray(priors[best] * (matrix @ (vectors[best] @ (turned[best] / values[best]))))
    return theta
