"""Means and variances from noisy sums, with intervals that are valid for any number of rows."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.channels import IntegerNoise
from bruit.core.losses import DiscreteLaplace

Floats = NDArray[np.float64]

ROUNDING = 1.5
"""A bound on how far quantiles of |discrete noise| lie from those of the continuous law: less than 3/2."""

GRID = 256
"""Places at which a set of means is searched."""

TABLE = 1024
"""Places between 0 and 1/2 at which the width of the noise of a share is computed."""


def mean_estimate(
    above: NDArray[np.int64], below: NDArray[np.int64], noise: IntegerNoise, confidence: float
) -> tuple[Floats, Floats, Floats]:
    """The mean's relative position and its interval, in which the position always lies."""
    low, high = mean_interval(above, below, noise, confidence)
    return np.clip(mean_share(above, below), low, high), low, high


def mean_share(above: NDArray[np.int64], below: NDArray[np.int64]) -> Floats:
    """The mean's relative position between its bounds, A / (A + B), clipped to [0, 1]; 1/2 where A + B <= 0."""
    whole = (above + below).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(whole > 0, np.clip(above / whole, 0, 1), 0.5)


def mean_interval(
    above: NDArray[np.int64], below: NDArray[np.int64], noise: IntegerNoise, confidence: float
) -> tuple[Floats, Floats]:
    """Fieller's confidence set of the relative mean t, where |(1 - t) A - t B| is within noise, widened to a grid.

    At the true share (1 - t) A - t B = (1 - t) Z - t Z' exactly, for the noise Z, Z' of the two ends.
    """
    widths = share_widths(noise, confidence)
    whole, widest = (above + below).astype(np.float64), widths[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(whole > 0, np.clip((above - widest) / whole, 0, 1), 0.0)
        last = np.where(whole > 0, np.clip((above + widest) / whole, 0, 1), 1.0)
    steps = np.linspace(0, 1, GRID + 1)
    shares = first[:, None] + (last - first)[:, None] * steps
    place = np.floor(np.minimum(shares, 1 - shares) * 2 * TABLE).astype(int)
    inside = np.abs(above[:, None] - shares * whole[:, None]) <= widths[place]
    inside[~inside.any(1)] = True  # noise beyond its width left no share at all: nothing is known
    least = np.maximum(inside.argmax(1) - 1, 0)
    greatest = np.minimum(GRID - inside[:, ::-1].argmax(1) + 1, GRID)
    rows = np.arange(len(shares))
    return shares[rows, least], shares[rows, greatest]


@lru_cache(maxsize=64)
def share_widths(noise: IntegerNoise, confidence: float) -> Floats:
    """Upper bounds on the half-width of (1 - t) Z - t Z' at a confidence, for t = 0, 1/2048, ..., 1/2.

    Both laws are those of continuous noise, whose size differs from that of whole noise by less than 3/2; widths fall
    from t = 0 to t = 1/2, so that the place below a share gives one that is wide enough.
    """
    shares = np.arange(TABLE + 1) / (2 * TABLE)
    if not isinstance(noise.loss, DiscreteLaplace):
        deviation = float(noise.loss.variance) ** 0.5
        return np.asarray(special.ndtri((1 + confidence) / 2) * deviation * np.hypot(1 - shares, shares) + ROUNDING)
    scale = float(noise.loss.scale)
    low, high = np.zeros(TABLE + 1), np.full(TABLE + 1, -np.log(1 - confidence) + 1.0)
    for _ in range(60):
        middle = (low + high) / 2
        wide = _difference_tail(middle, shares) <= 1 - confidence
        low, high = np.where(wide, low, middle), np.where(wide, middle, high)
    return np.asarray(high * scale + ROUNDING)


def _difference_tail(size: Floats, share: Floats) -> Floats:
    """P(|(1 - t) Y - t Y'| > size) for Laplace noise of scale one.

    (a^2 e^(-x/a) - b^2 e^(-x/b)) / (a^2 - b^2) with a = 1 - t, b = t; (1 + x / (2 a)) e^(-x/a) where they are equal
    """
    a, b = 1 - share, np.maximum(share, 1e-12)
    near = a - b < 1e-6
    apart = np.where(near, 1.0, a**2 - b**2)
    far = (a**2 * np.exp(-size / a) - b**2 * np.exp(-size / b)) / apart
    return np.where(near, (1 + size / (2 * a)) * np.exp(-size / a), far)


def variance_estimate(ends: NDArray[np.int64], noise: IntegerNoise, confidence: float) -> tuple[Floats, Floats, Floats]:
    """The variance in units of the squared width of the bounds and its interval, in which it always lies."""
    low, high = variance_interval(ends, noise, confidence)
    return np.clip(variance_share(ends), low, high), low, high


def variance_share(ends: NDArray[np.int64]) -> Floats:
    """The variance in units of the squared width of the bounds, from its three sums, clipped to [0, 1/4].

    With v = 2u - 1 for a value's place u between its bounds: E v^2 = (c0 - c1 + c2) / T, E v = (c2 - c0) / T.
    """
    c0, c1, c2 = ends.astype(np.float64)
    whole = c0 + c1 + c2
    with np.errstate(divide="ignore", invalid="ignore"):
        square, middle = (c0 - c1 + c2) / whole, (c2 - c0) / whole
        return np.where(whole > 0, np.clip((square - middle**2) / 4, 0, 0.25), 0.125)


def variance_interval(ends: NDArray[np.int64], noise: IntegerNoise, confidence: float) -> tuple[Floats, Floats]:
    """Bounds on the variance from intervals of its three noisy sums, each with a third of the error probability."""
    width = noise.half_width(1 - (1 - confidence) / 3)
    low, high = np.maximum(ends - width, 0).astype(np.float64), np.maximum(ends + width, 0).astype(np.float64)
    square_low = _share(low[0] + low[2], high[1], unknown=0.0)
    square_high = _share(high[0] + high[2], low[1], unknown=1.0)
    squares = 2 * square_low - 1, 2 * square_high - 1
    middle_low = _balance(low[2], high[0], low[1], high[1])
    middle_high = -_balance(low[0], high[2], low[1], high[1])
    ends_squared = np.maximum(middle_low**2, middle_high**2)
    least = np.where((middle_low <= 0) & (middle_high >= 0), 0, np.minimum(middle_low**2, middle_high**2))
    return np.clip((squares[0] - ends_squared) / 4, 0, 0.25), np.clip((squares[1] - least) / 4, 0, 0.25)


def _share(one: Floats, other: Floats, *, unknown: float) -> Floats:
    """The share of one number in two; nothing of nothing is unknown."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(one + other > 0, one / (one + other), unknown)


def _balance(up: Floats, down: Floats, low: Floats, high: Floats) -> Floats:
    """The least (up - down) / (up + down + between) over the bounds of what is between."""
    with np.errstate(divide="ignore", invalid="ignore"):
        between = np.where(up >= down, high, low)
        return np.where(up + down + between > 0, (up - down) / (up + down + between), -1.0)
