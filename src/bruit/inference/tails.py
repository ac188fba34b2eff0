"""Tails of a normal law plus noise of a known characteristic function, and the intervals they give."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from scipy import special

from bruit.core.tails import lower_tail
from bruit.inference.noise_laws import Floats
from bruit.inference.noisy_counts import Cells

STEPS: Final = 5
"""Steps of false position: the ends are then within a thousandth of the width."""


def two_sided_tail(
    distance: Floats, normal: Floats, heavy: Floats, log_characteristic: Callable[[Floats], Floats]
) -> Floats:
    """P(|S| >= distance) for S a normal variable plus independent noise, entry by entry.

    `normal` and `heavy` are the two variances; `log_characteristic` takes frequencies, one column a term, and answers
    for the noise.
    """
    below = lower_tail(
        -np.abs(distance),
        np.sqrt(np.maximum(normal + heavy, 1e-300)),
        lambda frequencies: log_characteristic(frequencies) - normal[:, None] * frequencies**2 / 2,
    )
    return np.asarray(np.minimum(2 * below, 1))


def invert(
    tail: Callable[[Floats], Floats], centre: float, step: float, bounds: tuple[float, float], confidence: float
) -> tuple[float, float]:
    """The values around the centre whose tail is at least 1 - confidence; a side that never falls is its bound.

    `step` is about half of the width: the search begins there.
    """
    level, ends = 1 - confidence, np.array(bounds, float)
    centre = float(np.clip(centre, *bounds))
    near = np.clip(centre + np.array([-3.0, 3.0]) * step, *bounds)
    outer = np.where(tail(near) < level, near, ends)
    falls = np.isfinite(outer) & (tail(np.where(np.isfinite(outer), outer, near)) < level)
    inner = np.array([centre, centre])
    found = _fall(tail, inner, np.where(falls, outer, near), level)
    low, high = np.where(falls, found, ends)
    return float(low), float(high)


def _fall(tail: Callable[[Floats], Floats], inner: Floats, outer: Floats, level: float) -> Floats:
    """Where the tail passes the level between two places, side by side, by false position.

    It works on the normal quantile of the tail, which is nearly a straight line of the place.
    """

    def excess(place: Floats) -> Floats:
        return np.asarray(special.ndtri(np.clip(tail(place), 1e-15, 1) / 2) - special.ndtri(level / 2))

    above, below = excess(inner), excess(outer)
    for _ in range(STEPS):
        place = inner + np.clip(above / np.maximum(above - below, 1e-300), 0.01, 0.99) * (outer - inner)
        now = excess(place)
        up = now > 0
        inner, above = np.where(up, place, inner), np.where(up, now, above)
        outer, below = np.where(up, outer, place), np.where(up, below, now)
    return np.asarray(inner + above / np.maximum(above - below, 1e-300) * (outer - inner))


def tail_of_weights(
    counts: Cells, weights: Floats, distance: Floats | None = None, *, sampling: Floats | None = None
) -> Floats:
    """How surprising weighted sums of counts are whose mean is zero: rows of weights, one entry a cell.

    The people are a sample: the variance of a sum is that of its weights over them, unless `sampling` knows it.
    """
    flat = weights.reshape(weights.shape[0], -1)
    values = counts.values.reshape(-1)
    chance = flat**2 @ values if sampling is None else sampling
    normal = np.maximum(chance, 0) + counts.normal_part(flat)
    heavy = np.maximum(counts.noise_variance(flat) - counts.normal_part(flat), 0)
    away = flat @ values if distance is None else distance

    def log_characteristic(frequencies: Floats) -> Floats:
        return counts.log_characteristic(frequencies[..., None] * flat[:, None, :])

    return two_sided_tail(away, normal, heavy, log_characteristic)
