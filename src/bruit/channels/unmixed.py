"""Unbiased estimates of the counts sent through a channel, from the counts received."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bruit.channels.support import Support


@dataclass(frozen=True)
class Unmixed:
    """Unbiased estimates of the counts sent, with the variance that the channel's noise gives each.

    The variance is that of the estimate around the counts of the people who answered; sampling them from a population
    adds its own.
    """

    value: NDArray[np.float64]
    variance: NDArray[np.float64]
    _inverse: NDArray[np.float64] | None = field(default=None, repr=False)
    _observed: NDArray[np.float64] | None = field(default=None, repr=False)
    _support: Support | None = field(default=None, repr=False)

    @classmethod
    def through(cls, inverse: NDArray[np.float64], observed: NDArray[np.float64]) -> Unmixed:
        """Estimates counts c by an inverse B of the law: c B, with covariance B' diag(c) B - diag(c B).

        Given the inputs, Cov = sum over x of n_x (B' diag(W_x) B - e_x e_x'), and c and the value are unbiased for
        what they replace.
        """
        value = observed @ inverse
        return cls(value, observed @ inverse**2 - value, inverse, observed)

    @classmethod
    def from_support(cls, observed: NDArray[np.float64], support: Support) -> Unmixed:
        """Estimates the counts sent through a symmetric channel in closed form, in time linear in the symbols."""
        total = float(observed.sum())
        value = support.unmix(observed, out_of=total)
        return cls(value, support.counted_variance(value, out_of=total), None, observed, support)

    def covariance(self) -> NDArray[np.float64]:
        """The estimated covariance matrix of the estimates."""
        assert self._observed is not None
        inverse = self._inverse
        if inverse is None:
            assert self._support is not None
            inverse = self._support.unmix(np.eye(len(self.value)))
        return np.asarray(inverse.T @ (self._observed[:, None] * inverse) - np.diag(self.value))
