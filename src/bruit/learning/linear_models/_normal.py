"""The normal equations of least squares with noisy sums."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bruit.learning.linear_models._moments import Products
from bruit.learning.linear_models._shrinkage import most_likely

Floats = NDArray[np.float64]

FREE, USUAL = 0.25, 0.05
"""The variance of a scaled intercept, and the usual one of a slope: y rarely leaves half of its bounds."""

CLEAR = 3.0
"""How many deviations of its noise the least eigenvalue of X'X must have before coefficients have intervals."""


@dataclass(frozen=True)
class Normal:
    """The normal equations X'X theta = X'y with noise of known deviation in every sum.

    `rows` is the most rows that one person has: those of one may have one residual, those of two are independent.
    """

    products: Products
    rows: int = 1

    @property
    def gram(self) -> Floats:
        """The noisy X'X, its first column being that of ones."""
        return self.products.matrix[:-1, :-1]

    @property
    def right(self) -> Floats:
        """The noisy X'y."""
        return self.products.matrix[:-1, -1]

    @cached_property
    def positive(self) -> Floats:
        """The noisy X'X with its negative eigenvalues, which only noise can cause, set to a tiny positive number."""
        values, vectors = np.linalg.eigh(self.gram)
        return np.asarray((vectors * np.maximum(values, 1e-9)) @ vectors.T)

    def residual(self, theta: Floats) -> float:
        """The residual variance of a row, plus one standard deviation of its noise."""
        weights = np.append(theta, -1.0)
        squares = weights @ self.products.matrix @ weights
        fourth = np.sum(self.products.noisy * np.outer(weights**2, weights**2))
        spread = self.products.deviation * np.sqrt(2 * fourth)
        return float(max(squares + spread, 0.0) / max(self.gram[0, 0], 1.0)) + 1e-12

    def disturbance(self, theta: Floats) -> Floats:
        """The covariance of X'y - X'X theta, from the residuals and from the noise of both sums."""
        noise = self.products.of(np.append(theta, -1.0))[:-1, :-1]
        return np.asarray(self.residual(theta) * self.positive + noise)

    def shrunk(self) -> Floats:
        """The empirical-Bayes coefficients, shrunk by as much as the noisy sums suggest."""
        return most_likely(self.gram, self.right, self.disturbance, free=FREE, usual=USUAL)

    @cached_property
    def is_clear(self) -> bool:
        """Whether the smallest eigenvalue of X'X stands above the noise."""
        least = np.linalg.eigvalsh(self.gram)[0]
        return bool(least > CLEAR * self.products.deviation * np.sqrt(len(self.gram)))

    def plain(self) -> Floats:
        """The unshrunk solution, or zeros where noise swamps X'X."""
        found = np.linalg.solve(self.gram, self.right) if self.is_clear else np.zeros(len(self.right))
        return np.asarray(found, np.float64)

    def covariance(self) -> Floats:
        """A bound on the covariance of the unshrunk solution, G^-1 V G^-1; infinite where noise swamps X'X.

        Over the r rows of one person (sum x e)(sum x e)' <= r sum (x e)(x e)': the residuals' part counts r times.
        """
        if not self.is_clear:
            return np.full(self.gram.shape, np.inf)
        inverse = np.linalg.inv(self.gram)
        theta = self.plain()
        shared = (self.rows - 1) * self.residual(theta) * self.positive
        return np.asarray(inverse @ (self.disturbance(theta) + shared) @ inverse)
