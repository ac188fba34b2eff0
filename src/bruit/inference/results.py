"""What inference says: an estimate with an interval for the population, or the evidence of a test."""

from __future__ import annotations

from dataclasses import dataclass

from bruit.core.guarantee import Guarantee
from bruit.core.intervals import Interval


@dataclass(frozen=True)
class Estimate:
    """An estimate of something about the population; sampling and noise are both in its interval.

    `guarantees` are those of the sources: what was made of them costs nothing more.
    """

    what: str
    value: float
    interval: Interval
    guarantees: tuple[Guarantee, ...] = ()

    @property
    def low(self) -> float:
        """The low end of the interval."""
        return float(self.interval.low)

    @property
    def high(self) -> float:
        """The high end of the interval."""
        return float(self.interval.high)

    def __str__(self) -> str:
        level = f"{100 * self.interval.confidence:g} %"
        return f"{self.what}: {self.value:.4g}, from {self.low:.4g} to {self.high:.4g} ({level}, population)"


@dataclass(frozen=True)
class Evidence:
    """How surprising the noisy counts would be if nothing were there: a p-value is at most x with chance at most x."""

    what: str
    statistic: float
    p_value: float
    guarantees: tuple[Guarantee, ...] = ()

    def __str__(self) -> str:
        return f"{self.what}: p = {self.p_value:.3g}"
