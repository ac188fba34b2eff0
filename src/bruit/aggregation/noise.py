"""Noise of two collectors: each adds full discrete Laplace noise, so the published sum carries both."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import exp, expm1, sqrt

import numpy as np
from numpy.typing import NDArray

from bruit.aggregation.circuits import Circuit
from bruit.core import REPLACE_ONE, DiscreteLaplace, Exact
from bruit.core.numbers import positive
from bruit.errors import InvalidArgument
from bruit.randomness import discrete_laplace


@dataclass(frozen=True)
class TwoLaplaceNoises:
    """The sum d of two independent discrete Laplace noises of one scale; a = exp(-1 / scale).

    P(d) = ((1-a)/(1+a))^2 a^|d| (|d| + (1+a^2)/(1-a^2)), the law convolved with itself. A collector that takes its own
    noise off still faces the other's, so the pure epsilon against it is sensitivity / scale, and no less against the
    world, because the ratio of the tail tends to exp(1/scale). Geometric noise is the best at a pure epsilon
    [Ghosh et al. 2009].
    """

    scale: Fraction

    @classmethod
    def of(cls, circuit: Circuit, epsilon: Exact) -> TwoLaplaceNoises:
        """The noise that makes an answer epsilon-private against either collector: scale = sensitivity / epsilon."""
        return cls(circuit.sensitivity / positive(epsilon, "epsilon"))

    @property
    def ratio(self) -> float:
        """The ratio a = exp(-1 / scale) of successive probabilities of one of the noises."""
        return exp(-1 / float(self.scale))

    @property
    def _gap(self) -> float:
        """1 - a without cancellation."""
        return -expm1(-1 / float(self.scale))

    @property
    def _centre(self) -> float:
        a = self.ratio
        return (1 + a * a) / (self._gap * (1 + a))

    @property
    def _height(self) -> float:
        return (self._gap / (1 + self.ratio)) ** 2

    @property
    def deviation(self) -> float:
        """The standard deviation 2 sqrt(a) / (1 - a)."""
        return 2 * sqrt(self.ratio) / self._gap

    @property
    def mean_absolute_error(self) -> float:
        """The mean of |d|, in closed form from the law P(d)."""
        a, gap = self.ratio, self._gap
        return 2 * self._height * (a * (1 + a) / gap**3 + self._centre * a / gap**2)

    def law(self, reach: int) -> NDArray[np.float64]:
        """The probabilities P(d) for d from -reach to reach."""
        steps = np.abs(np.arange(-reach, reach + 1))
        return np.asarray(self._height * np.exp(-steps / float(self.scale)) * (steps + self._centre), np.float64)

    def beyond(self, reach: int) -> float:
        """The tail probability P(|d| > reach), in closed form."""
        a, gap, first = self.ratio, self._gap, reach + 1
        tail = exp(-first / float(self.scale)) * ((first + self._centre) / gap + a / gap**2)
        return 2 * self._height * tail

    def half_width(self, confidence: float) -> int:
        """The least t with P(|d| <= t) >= confidence."""
        if not 0 < confidence < 1:
            raise InvalidArgument(f"confidence={confidence} must lie between 0 and 1, for example 0.95")
        high = 1
        while self.beyond(high) > 1 - confidence:
            high *= 2
        low = -1
        while high - low > 1:  # P(|d| > high) <= 1 - confidence < P(|d| > low)
            middle = (low + high) // 2
            low, high = (low, middle) if self.beyond(middle) <= 1 - confidence else (middle, high)
        return high

    def loss(self, circuit: Circuit) -> DiscreteLaplace:
        """The loss that one collector charges: that of its own noise, for replacing one answer."""
        return DiscreteLaplace(self.scale, sensitivity=circuit.sensitivity, neighbours=REPLACE_ONE)

    def draw_one(self, size: int, *, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        """Draws one collector's noise for `size` totals, exact on integers."""
        return discrete_laplace(self.scale, size, rng=rng)


def expected_error(circuit: Circuit, *, epsilon: Exact, confidence: float = 0.95) -> int:
    """The half-width of the noise of both collectors on each entry of the sum, at a confidence.

    >>> from bruit.aggregation import CountCircuit
    >>> expected_error(CountCircuit(), epsilon=1)
    4
    """
    return TwoLaplaceNoises.of(circuit, epsilon).half_width(confidence)
