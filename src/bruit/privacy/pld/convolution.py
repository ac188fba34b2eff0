"""Composes privacy loss distributions on one grid by FFT convolution, and reads off epsilon and delta.

The sum is taken on the integers modulo N by a fast Fourier transform, after an exponential tilt that moves the losses
near the answer to the middle of the floating-point range. What wraps round only adds mass, except the mass above the
window, which a Chernoff bound on the grid masses covers. docs/accounting.md proves it.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import fft
from scipy.linalg import blas

from bruit.errors import NotPrivate
from bruit.privacy.accounting.gaussian import UNIT_ROUNDOFF
from bruit.privacy.pld.loss_grid import LossGrid

Floats = NDArray[np.float64]

SLACK = 1e-6
"""The share of delta given to each of: infinite losses, and the mass above the window."""

OUTSIDE = math.log(1e-9)
"""The tilted mass that may wrap round at each end."""

MOST_POINTS = 2**24
"""The longest transform: a little over a gigabyte."""

BLOCK = 2**16
"""Losses whose decayed sums are solved for at a time."""

NEGLIGIBLE = -80.0
"""Frequencies below e^NEGLIGIBLE are left out; they are part of the stated error."""


@dataclass(frozen=True)
class TradeOff:
    """Upper bounds on the delta (hockey-stick divergence) of a composition at every epsilon from zero on.

    At epsilon in (losses[j-1], losses[j]] the divergence is tail[j] - e^(epsilon - losses[j]) scaled[j], plus `lost`
    (infinite losses and mass above the window) and `rounding[j]` (the transform's stated error).
    """

    losses: Floats
    tail: Floats
    scaled: Floats
    rounding: Floats
    lost: float

    def delta(self, epsilon: float) -> float:
        """The delta at an epsilon."""
        j = int(np.searchsorted(self.losses, epsilon))
        if j == len(self.losses):
            return min(1.0, self.lost)
        stick = float(self.tail[j] - math.exp(epsilon - self.losses[j]) * self.scaled[j])
        return min(1.0, max(stick, 0.0) + self.lost + float(self.rounding[j]))

    def epsilon(self, delta: float) -> float:
        """The least epsilon whose delta is at most the one asked; infinite where the grid has none."""
        shrink = math.exp(self.losses[0] - self.losses[1]) if len(self.losses) > 1 else 1.0
        at_losses = np.append(self.tail[1:] - shrink * self.scaled[1:], 0.0)
        enough = np.flatnonzero(at_losses + self.rounding + self.lost <= delta)
        if not len(enough):
            return math.inf
        j = int(enough[0])
        if j == 0:
            return float(self.losses[0])
        allowed = delta - self.lost - float(self.rounding[j])
        if allowed <= 0 or self.scaled[j] <= 0:
            return float(self.losses[j])
        inner = float(self.losses[j]) + math.log(max(float(self.tail[j]) - allowed, 1e-300) / float(self.scaled[j]))
        return min(max(inner, float(self.losses[j - 1])), float(self.losses[j]))

    def grid_error(self, epsilon: float) -> float:
        """An estimate of how much discretisation adds to epsilon, for each connected part of the grid.

        One part's divergence is interpolated in e^epsilon, which adds (step^2 / 12) times its second derivative; summed
        over the other parts that is the P-density of the whole, and e^epsilon times the Q-tail is the slope of delta.
        """
        j = min(max(int(np.searchsorted(self.losses, epsilon)), 2), len(self.losses) - 4)
        if j < 2 or self.scaled[j] <= 0:
            return 0.0
        step = float(self.losses[1] - self.losses[0])
        return step / 12 * float(self.tail[j - 2] - self.tail[j + 3]) / 5 / float(self.scaled[j])


def trade_off(parts: list[tuple[LossGrid, int]], delta: float, tilts: Floats, moments: Floats) -> TradeOff:
    """Composes grids of one step, each a number of times; the result is sharpest near `delta`.

    `tilts` grow and may start below zero; `moments` is the sum of count * log-moments of each grid on them. Any tilts
    give a valid bound; good ones surround the best Chernoff tilt.
    """
    step = parts[0][0].step
    chosen = _narrowest_tilt(tilts, moments, delta, 4096 * step)
    up = tilts > 0
    high = max(float(np.min((moments[up] - math.log(SLACK * delta)) / tilts[up])), chosen.high)
    most = sum(times * grid.last for grid, times in parts)
    least = sum(times * grid.first for grid, times in parts)
    last = math.ceil(min(high / step, most))
    points = fft.next_fast_len(max(min(math.ceil(last - chosen.low / step) + 1, most - least + 1), 64), real=True)
    if points > MOST_POINTS:
        raise NotPrivate(
            f"so many repeats of so small a loss need {points} points, the most is {MOST_POINTS}; "
            "ask by='rdp', by='zcdp' or by='gdp'"
        )
    if points >= most - least + 1:  # everything fits: nothing wraps round
        last = most
    above = SLACK * delta if last < most else 0.0
    lost = above + float(sum(times * grid.infinite for grid, times in parts))
    if last < 0:
        return TradeOff(np.zeros(1), np.zeros(1), np.zeros(1), np.zeros(1), lost)
    tilted, error = _tilted_sum(parts, chosen.tilt, points)
    window = np.arange(last - points + 1, last + 1)
    tilted = np.roll(tilted, -int((window[0] - least) % points))
    return _untilt(window, tilted, error, chosen, step, lost)


def window(tilts: Floats, moments: Floats, delta: float) -> float:
    """An estimate of the width of the loss window that the convolution needs, before a grid step is chosen."""
    chosen = _narrowest_tilt(tilts, moments, delta, 0.0)
    high = min(chosen.high, 1e300) if math.isfinite(chosen.low) else -chosen.low
    return max(float(np.min((moments - math.log(SLACK * delta)) / tilts)), high) - chosen.low


def best_chernoff(tilts: Floats, moments: Floats, delta: float) -> tuple[int, float]:
    """The index of the tilt with the least Chernoff bound on epsilon, and that bound."""
    orders = tilts + 1
    bound = (moments - math.log(delta) + tilts * np.log(tilts / orders) - np.log(orders)) / tilts
    best = int(np.argmin(bound))
    return best, max(float(bound[best]), 0.0)


@dataclass(frozen=True)
class _Tilt:
    """A tilt, the log-moment there, and a window outside of which little tilted mass lies."""

    tilt: float
    height: float
    low: float
    high: float


def _narrowest_tilt(tilts: Floats, moments: Floats, delta: float, enough: float) -> _Tilt:
    """The Chernoff-best tilt, or the nearest to it whose tilted sum fits a much narrower window.

    Mass of the tilted sum outside the window wraps round and only loosens the bound. The Chernoff-best tilt can sit
    where the tilted sum has two far lumps, bulk and rare large losses: there a smaller tilt is much narrower.
    """
    gaps, rises = tilts - tilts[:, None], moments - moments[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        high = np.where(gaps > 0, (rises - OUTSIDE) / gaps, np.inf).min(axis=1)
        low = np.where(gaps < 0, (rises - OUTSIDE) / gaps, -np.inf).max(axis=1)
    first = int(np.searchsorted(tilts, 0, side="right"))
    preferred, guide = best_chernoff(tilts[first:], moments[first:], delta)
    preferred += first
    width = np.where((tilts > 0) & (moments - tilts * guide - math.log(delta) <= 12), high - low, np.inf)
    width[preferred] = high[preferred] - low[preferred]
    narrow = np.flatnonzero(width <= max(1.5 * width.min(), enough))
    best = int(narrow[np.argmin(np.abs(narrow - preferred))])
    return _Tilt(float(tilts[best]), float(moments[best]), float(low[best]), float(high[best]))


def _tilted_sum(parts: list[tuple[LossGrid, int]], tilt: float, points: int) -> tuple[Floats, float]:
    """The tilted, normalised sum modulo `points` starting at the lowest possible loss, and a bound on its error.

    A coefficient of a transform of non-negative masses of sum 1 errs by at most 4 u log2(N) (a tree of sums that deep);
    a power c of it by c times that over its size, relatively; the inverse transform adds the errors of all.
    """
    depth = 4 * UNIT_ROUNDOFF * math.log2(points)
    transforms = [fft.rfft(_fold(_tilt(grid, tilt), points)) for grid, _ in parts]
    live = np.arange(points // 2 + 1)
    for transform, (_, times) in zip(transforms, parts, strict=True):
        size = np.abs(transform[live]) + depth
        live = live[size > math.exp(NEGLIGIBLE / times)]
    log_size, log_power, relative = np.zeros(len(live)), np.zeros(len(live), complex), np.full(len(live), 2 * depth)
    for transform, (_, times) in zip(transforms, parts, strict=True):
        kept = transform[live]
        size = np.abs(kept) + depth
        log_size += times * np.log(size)
        relative += times * (depth / size + 8 * UNIT_ROUNDOFF * (1 + np.abs(np.log(size))))
        log_power += times * np.log(np.where(kept == 0, 1e-300, kept))
    spectrum = np.zeros(points // 2 + 1, complex)
    spectrum[live] = np.exp(log_power)
    missed = (points + 2) * math.exp(NEGLIGIBLE)
    with np.errstate(over="ignore"):  # an error without bound leaves the largest loss as the answer
        error = (2 * float(np.sum(np.exp(log_size) * np.minimum(relative, 2.0))) + missed) / points
    return fft.irfft(spectrum, points), error


def _tilt(grid: LossGrid, tilt: float) -> Floats:
    with np.errstate(divide="ignore"):
        exponents = tilt * grid.losses + np.log(grid.masses)
    tilted = np.exp(exponents - exponents.max())
    return np.asarray(tilted / tilted.sum())


def _fold(masses: Floats, points: int) -> Floats:
    """The masses added up modulo `points`, as a circular convolution sees them."""
    padded = np.zeros(-(-len(masses) // points) * points)
    padded[: len(masses)] = masses
    return np.asarray(padded.reshape(-1, points).sum(axis=0))


def _decayed_sums(mass: Floats, decay: float) -> Floats:
    """The sums s[j] = mass[j] + decay * s[j+1], from the top: they solve a triangular band of ones and -decay."""
    band, sums = np.empty((2, min(len(mass), BLOCK)), order="F"), mass.copy()
    band[0], band[1] = -decay, 1.0
    for end in range(len(mass), 0, -BLOCK):
        part = sums[max(end - BLOCK, 0) : end]
        part[-1] += decay * sums[end] if end < len(mass) else 0.0
        part[:] = blas.dtbsv(1, band[:, : len(part)], part, diag=1)
    return sums


def _untilt(
    window: NDArray[np.int64], tilted: Floats, error: float, chosen: _Tilt, step: float, lost: float
) -> TradeOff:
    """The hockey-stick divergences at losses from zero on, by one sum and one recurrence from the top."""
    kept = window >= 0
    losses = np.asarray(window[kept] * step, np.float64)
    scale = np.exp(np.minimum(chosen.height - chosen.tilt * losses, 700))
    mass = np.maximum(tilted[kept], 0) * scale
    tail = np.cumsum(mass[::-1])[::-1]
    # e^loss times the Q-mass at or above each loss by recurrence: a product would overflow past losses of 700
    scaled = _decayed_sums(mass, math.exp(-step))
    summed = 4 * UNIT_ROUNDOFF * len(losses) * tail
    rounding = error / -math.expm1(-chosen.tilt * step) * scale + summed
    return TradeOff(losses, tail, scaled, rounding, lost)
