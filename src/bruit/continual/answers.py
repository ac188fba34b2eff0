"""Answers from the noisy totals of a stream: a value per label, its interval and its noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.core import Covers, Interval, Outcome

METHOD = "correlated discrete Gaussian"


@dataclass(frozen=True)
class Answer:
    """The numbers of one release; `low` is None where there is no interval, as for keys found in the data."""

    value: NDArray[Any]
    low: NDArray[np.float64] | None
    high: NDArray[np.float64] | None
    noise: float
    confidence: float
    labels: tuple[str, ...]

    def outcome(self, details: Mapping[str, Any], *, single: bool) -> Outcome[Any]:
        """The answer as an outcome to release; with `single`, a plain number instead of an array of one."""
        value = self.value.item() if single else self.value
        return Outcome(value, METHOD, self.labels, self._interval(single=single), self.noise, dict(details))

    def _interval(self, *, single: bool) -> Interval | None:
        if self.low is None or self.high is None:
            return None
        ends = [np.array(end.item()) if single else end for end in (self.low, self.high)]
        return Interval(ends[0], ends[1], self.confidence, Covers.TABLE)


def around(values: NDArray[Any], width: float, confidence: float, labels: tuple[str, ...], *, positive: bool) -> Answer:
    """Values with intervals of one half-width; with `positive`, no interval goes below zero."""
    low, high = (np.asarray(values, np.float64) + side for side in (-width, width))
    if positive:
        low, high = np.maximum(low, 0.0), np.maximum(high, 0.0)
    return Answer(values, low, high, float(width), confidence, labels)


def ratios(
    ends: NDArray[Any], width: float, confidence: float, labels: tuple[str, ...], *, between: tuple[float, float]
) -> Answer:
    """Means from noisy pairs ends[i] = (Σ (x - low), Σ (high - x)), which fix both the sum and the number of rows.

    An interval is the range of the ratio while each of the two totals stays within `width`.
    """
    low, span = between[0], between[1] - between[0]
    above, below = np.asarray(ends, np.float64).T
    value = low + span * _share(above, below)
    least = low + span * _share(above - width, below + width)
    most = low + span * _share(above + width, below - width)
    noise = float(np.maximum(most - value, value - least).max())
    return Answer(value, least, most, noise, confidence, labels)


def _share(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    """The share of the first in both, where neither is negative; the middle where nothing is left of them."""
    above, below = np.maximum(above, 0.0), np.maximum(below, 0.0)
    both = above + below
    return np.where(both > 0, above / np.where(both > 0, both, 1.0), 0.5)
