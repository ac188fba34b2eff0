"""The widest confidence intervals of a mean or variance for a given number of rows, from public numbers alone.

Noisy ends lie within their half-widths of exact ones, and exact ends are those of some values between the bounds. The
interval of a release is followed over all of these, by the same functions that make it.
"""

from __future__ import annotations

from itertools import product
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from bruit.central.questions.ratios import GRID, share_widths, variance_interval
from bruit.channels import IntegerNoise

Floats = NDArray[np.float64]

POINTS: Final = 17
"""How many means, and how many second moments of each, are tried at once."""

ZOOMS: Final = 5
"""How often the search goes on around the best of them: each time over an eighth of the width."""

MARGIN: Final = 1.02
"""What the search adds for the values between those that were tried."""


def widest_mean_share(noise: IntegerNoise, rows: int, steps: int, confidence: float) -> float:
    """The largest half-width of the mean of `rows` rows, in units of the width of its bounds.

    The set of shares t with |A - t (A + B)| <= w(t) <= w(0) is at most 2 w(0) / (A + B) long, and two steps of its grid
    longer; A + B is at least rows * steps less both noises.
    """
    off = noise.half_width(1 - (1 - confidence) / 2)
    least = rows * steps - 2 * off
    if least <= 0:
        return 0.5
    return min(0.5, float(share_widths(noise, confidence)[0]) / least * (1 + 2 / GRID))


def widest_variance_share(noise: IntegerNoise, rows: int, steps: int, confidence: float) -> float:
    """The largest half-width of the variance of `rows` rows, in units of the squared width of its bounds.

    With u the place of a value between its bounds, the ends are sums of (1 - u)^2, 2 u (1 - u) and u^2: they follow
    from the mean m of u, and its second moment, which lies between m^2 and m.
    """
    off = noise.half_width(1 - (1 - confidence) / 3)
    found, (low, high), (bottom, top) = 0.0, (0.0, 1.0), (0.0, 1.0)
    for _ in range(ZOOMS):
        first, part = np.meshgrid(np.linspace(low, high, POINTS), np.linspace(bottom, top, POINTS))
        second = first**2 + part * (first - first**2)
        exact = rows * float(steps) ** 2 * np.stack([1 - 2 * first + second, 2 * (first - second), second])
        widths = _widths(exact.reshape(3, -1), off, noise, confidence)
        best = int(widths.argmax())
        found = max(found, float(widths[best]))
        low, high = _around(first.reshape(-1)[best], high - low)
        bottom, top = _around(part.reshape(-1)[best], top - bottom)
    return min(found * MARGIN, 0.125)


def _widths(exact: Floats, off: float, noise: IntegerNoise, confidence: float) -> Floats:
    """The widest interval of each column of exact ends, over noises at their half-widths and none."""
    widest = np.zeros(exact.shape[1])
    for sides in product((-1, 0, 1), repeat=3):
        ends = cast("NDArray[np.int64]", exact + np.array(sides)[:, None] * off)
        low, high = variance_interval(ends, noise, confidence)
        widest = np.maximum(widest, (high - low) / 2)
    return widest


def _around(centre: float, width: float) -> tuple[float, float]:
    return max(centre - width / 8, 0.0), min(centre + width / 8, 1.0)
