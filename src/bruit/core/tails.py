"""Tails of a sum whose characteristic function is known: noise, the chance of who was drawn, or both together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

PERIOD: Final = 40.0
"""The law is wrapped around a circle of so many deviations: what lies half of it away is below 1e-12 for Laplace."""

TERMS: Final = 160
"""Terms of the Fourier series; the last has a frequency of 25 over the deviation."""

FARTHEST: Final = 12.0
"""Places of more deviations have a tail below 1e-7 and count as this one."""


def lower_tail(
    places: Floats, deviations: Floats, log_characteristic: Callable[[Floats], NDArray[np.inexact[Any]]]
) -> Floats:
    """P(S < place) + P(S = place) / 2 for sums S of mean zero with these standard deviations, entry by entry.

    `log_characteristic` takes frequencies t, one column a term, and answers the logarithm of E exp(i t S). On a circle
    of circumference L the law has the Fourier coefficients phi(2 pi j / L), so that
    P(-L/2 < S < x) = 1/2 + x / L + (1 / pi) sum over j of Re i phi(2 pi j / L) (exp(-2 pi i j x / L) - (-1)^j) / j.
    """
    at = np.clip(places / deviations, -FARTHEST, FARTHEST)
    steps = np.arange(1, TERMS + 1)
    angles = 2 * np.pi * steps / PERIOD
    phi = np.exp(log_characteristic(angles / deviations[:, None]))
    waves = 1j * phi * (np.exp(-1j * angles * at[:, None]) - (-1.0) ** steps)
    return np.asarray(np.clip(0.5 + at / PERIOD + (waves.real / steps).sum(1) / np.pi, 0, 1))
