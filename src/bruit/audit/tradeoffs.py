"""Families of trade-off curves: the least type II error of telling two neighbours apart at each type I error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.errors import InvalidArgument

Numbers = NDArray[np.float64]


class TradeOffs(Protocol):
    """A family of symmetric trade-off functions f, indexed by a strength from 0; a stronger one allows more loss."""

    @property
    def measure(self) -> str:
        """The name of the strength, such as epsilon or mu."""

    @property
    def delta(self) -> float:
        """The delta that all curves of the family share; 0 where the family has none."""

    def least(self, strength: Numbers, chance: Numbers) -> Numbers:
        """The least chance of an event on one data set if it has `chance` on a neighbour: f(1 - chance).

        It rises with the chance and falls with the strength.                       [Dong, Roth & Su 2022]
        """


@dataclass(frozen=True)
class GaussianTradeOff:
    """The curves of telling N(mu, 1) from N(0, 1), f(x) = Phi(Phi^-1(1 - x) - mu).        [Dong, Roth & Su 2022]"""

    measure: str = "mu"
    delta: float = 0.0

    def least(self, strength: Numbers, chance: Numbers) -> Numbers:
        shifted: Numbers = special.ndtr(special.ndtri(chance) - strength)
        return shifted


@dataclass(frozen=True)
class ApproximateTradeOff:
    """The trade-off curves of (epsilon, delta)-privacy at one delta.   [Wasserman & Zhou 2010]"""

    delta: float = 0.0

    def __post_init__(self) -> None:
        if not (math.isfinite(self.delta) and 0 <= self.delta < 1):
            raise InvalidArgument(f"delta={self.delta} must be at least 0 and below 1")

    @property
    def measure(self) -> str:
        return "epsilon"

    def least(self, strength: Numbers, chance: Numbers) -> Numbers:
        falling = np.exp(-strength) * (chance - self.delta)
        steep = 1 - self.delta - np.exp(strength) * (1 - chance)
        return np.maximum(np.maximum(falling, steep), 0.0)


GAUSSIAN = GaussianTradeOff()
