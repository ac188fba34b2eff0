"""How often a report supports the true answer, and how often a given wrong one: all that an estimate needs to know."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.errors import InvalidArgument


@dataclass(frozen=True)
class Support:
    """The chance that a report supports the respondent's answer (`true`), or another given one (`false`).

    Numbers, or one for each category. A share f of the respondents is seen as s = false + (true - false) f.
    [Wang et al. 2017, "pure" protocols]
    """

    true: float | NDArray[np.float64]
    false: float | NDArray[np.float64]

    @property
    def gap(self) -> float | NDArray[np.float64]:
        """By how much a share is shrunk: true - false."""
        return self.true - self.false

    def mix(self, shares: ArrayLike) -> NDArray[np.float64]:
        """The share of reports that support a category held by the given shares of respondents."""
        return np.asarray(self.false + self.gap * np.asarray(shares, float))

    def unmix(self, supported: ArrayLike) -> NDArray[np.float64]:
        """Unbiased shares of respondents from shares of supporting reports: (s - false) / (true - false)."""
        return np.asarray((np.asarray(supported, float) - self.false) / self.gap)

    def noise_variance(self, shares: ArrayLike, answers: int) -> NDArray[np.float64]:
        """The variance that the noise alone gives an estimated share: two binomial laws.

        (f p (1 - p) + (1 - f) q (1 - q)) / (n (p - q)^2)                                        [SPEC S0.3]
        """
        f = np.asarray(shares, float)
        spread = f * self.true * (1 - self.true) + (1 - f) * self.false * (1 - self.false)
        return np.asarray(spread / (answers * self.gap**2))

    def variance(self, shares: ArrayLike, answers: int) -> NDArray[np.float64]:
        """The variance of an estimated share of a population: s (1 - s) / (n (p - q)^2)."""
        s = self.mix(shares)
        return np.asarray(s * (1 - s) / (answers * self.gap**2))

    def worst_share(self) -> NDArray[np.float64]:
        """The share of a population whose estimate varies most: where s is closest to a half."""
        return np.clip(self.unmix(0.5), 0, 1)

    def __post_init__(self) -> None:
        if np.any(np.asarray(self.gap) == 0):
            raise InvalidArgument(
                "reports that support right and wrong answers alike say nothing: take a larger epsilon"
            )
