"""Counts read back through a channel."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Unmixed:
    """Unbiased estimates of the counts sent, with the variance that the channel added to each.

    The variance is that of the estimate around the counts of the people who answered; sampling them from a population
    adds its own.
    """

    value: NDArray[np.float64]
    variance: NDArray[np.float64]
    _inverse: NDArray[np.float64] | None = field(default=None, repr=False)
    _observed: NDArray[np.float64] | None = field(default=None, repr=False)
    _symmetric: tuple[float, float] | None = field(default=None, repr=False)

    @classmethod
    def through(cls, inverse: NDArray[np.float64], observed: NDArray[np.float64]) -> Unmixed:
        """From an inverse B (outputs, inputs): value c B, covariance estimated by B' diag(c) B - diag(value).

        Given the inputs, Cov = sum over x of n_x (B' diag(W_x) B - e_x e_x'), and c and the value are unbiased for
        what they replace.
        """
        value = observed @ inverse
        return cls(value, observed @ inverse**2 - value, inverse, observed)

    @classmethod
    def symmetric(cls, observed: NDArray[np.float64], keep: float, other: float) -> Unmixed:
        """For a symmetric channel in time k.

        (c - N q) / (p - q), variance (f p (1 - p) + (N - f) q (1 - q)) / (p - q)^2          [SPEC S0.2, S0.3]
        """
        total, gap = observed.sum(), keep - other
        value = (observed - total * other) / gap
        variance = (value * keep * (1 - keep) + (total - value) * other * (1 - other)) / gap**2
        return cls(value, variance, None, observed, (keep, other))

    def covariance(self) -> NDArray[np.float64]:
        """The estimated covariance matrix of the estimates."""
        assert self._observed is not None
        inverse = self._inverse
        if inverse is None:
            assert self._symmetric is not None
            keep, other = self._symmetric
            inverse = (np.eye(len(self.value)) - other) / (keep - other)
        return np.asarray(inverse.T @ (self._observed[:, None] * inverse) - np.diag(self.value))
