"""Estimates from yes-or-no support: how often a report supports the true answer, and how often a wrong one.

That is all an estimate needs to know of a channel whose errors are alike: each category sees a binary channel of its
own, held or not -> supported or not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.errors import InvalidArgument


@dataclass(frozen=True)
class Support:
    """The chances that a report supports the respondent's own answer (`true`) and any other one (`false`).

    Numbers, or one for each category. A share f of the respondents is seen as s = false + (true - false) f.
    [Wang et al. 2017, "pure" protocols]
    """

    true: float | NDArray[np.float64]
    false: float | NDArray[np.float64]

    def __post_init__(self) -> None:
        if np.any(np.asarray(self.gap) == 0):
            raise InvalidArgument(
                "reports that support right and wrong answers alike say nothing: take a larger epsilon"
            )

    @property
    def gap(self) -> float | NDArray[np.float64]:
        """The factor by which the noise shrinks shares: true - false."""
        return self.true - self.false

    def mix(self, shares: ArrayLike) -> NDArray[np.float64]:
        """The expected share of reports that support a category, from the share of respondents who hold it."""
        return np.asarray(self.false + self.gap * np.asarray(shares, float))

    def unmix(self, supported: ArrayLike, *, out_of: float = 1.0) -> NDArray[np.float64]:
        """Unbiased shares of respondents from shares of supporting reports: (s - false) / (true - false).

        Given counts of reports `out_of` so many, the counts of respondents: (c - N false) / (true - false).
                                                                                                 [docs/spec.md S0.2]
        """
        return np.asarray((np.asarray(supported, float) - out_of * self.false) / self.gap)

    def noise_variance(self, shares: ArrayLike, people: float) -> NDArray[np.float64]:
        """The variance of an estimated share that is due to the noise alone.

        (f p (1 - p) + (1 - f) q (1 - q)) / (n (p - q)^2)                                        [docs/spec.md S0.3]
        """
        return np.asarray(self._spread(shares, 1.0) / (people * self.gap**2))

    def counted_variance(self, held: ArrayLike, *, out_of: float) -> NDArray[np.float64]:
        """The variance of an estimated count due to the noise alone: (f p (1 - p) + (N - f) q (1 - q)) / (p - q)^2."""
        return np.asarray(self._spread(held, out_of) / self.gap**2)

    def _spread(self, held: ArrayLike, out_of: float) -> NDArray[np.float64]:
        f = np.asarray(held, float)
        return np.asarray(f * self.true * (1 - self.true) + (out_of - f) * self.false * (1 - self.false))

    def variance(self, shares: ArrayLike, people: int) -> NDArray[np.float64]:
        """The variance of an estimated share due to noise and sampling together: s (1 - s) / (n (p - q)^2)."""
        s = self.mix(shares)
        return np.asarray(s * (1 - s) / (people * self.gap**2))

    def worst_share(self) -> NDArray[np.float64]:
        """The population share whose estimate has the largest variance: half of the reports support it, or nearly."""
        return np.clip(self.unmix(0.5), 0, 1)
