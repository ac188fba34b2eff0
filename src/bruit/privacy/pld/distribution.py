"""Privacy loss distributions: the tightest epsilon of a composition, always an upper bound."""

import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bruit.core.losses import Loss
from bruit.core.numbers import SMALLEST
from bruit.privacy.accounting.composition import LARGEST_EXPONENT
from bruit.privacy.accounting.gaussian import gaussian_delta, gaussian_epsilon
from bruit.privacy.pld.convolution import SLACK, TradeOff, best_chernoff, trade_off, window
from bruit.privacy.pld.dominating_pairs import Counted, cases
from bruit.privacy.pld.loss_grid import LossGrid, log_moments
from bruit.privacy.pld.pairs import GaussianPair

Floats = NDArray[np.float64]

TILTS: Floats = np.geomspace(1e-3, 1e6, 116)
NEGATIVE_TILTS: Floats = np.array([-2.0, -1.0, -0.5, -0.25, -0.05])
TOLERANCE = 1e-4
"""How far above the truth epsilon may lie because of the grid."""

MOST_REFINEMENTS = 4
MOST_CELLS = 2**20
"""Cells of the grid of one loss, and of the window of the sum, about: memory stays under a few hundred megabytes.

Where the tolerance would need more, the grid is coarser and the answer lies further above the truth, never below."""

HUGE = 100.0

NEAR = 0.1
"""A grid that is sharp at one delta is about as sharp at this share of it."""

SMALLEST_GUESS = math.exp(-650)
"""No grid is chosen for a delta below it."""


def pld_epsilon(loss: Loss, delta: float, *, tolerance: float = TOLERANCE) -> float:
    """The epsilon of a loss at a delta, the largest over all ways in which one person's data may matter."""
    return float(pld_curve(loss, [1], delta, tolerance=tolerance)[0])


def pld_curve(loss: Loss, repeats: Sequence[int], delta: float, *, tolerance: float = TOLERANCE) -> Floats:
    """The epsilon of a loss for each number of repeats, from one grid."""
    worst = np.zeros(len(repeats))
    for counted in cases(loss):
        smooth, most = _only_gaussian(counted), np.array([_most(counted, n, delta) for n in repeats])
        single = _single_step(counted) if list(repeats) == [1] else None
        if np.all(most <= worst):
            continue
        if smooth is not None:
            found = [gaussian_epsilon(math.sqrt(n) / smooth, delta) for n in repeats]
        elif single is not None and most[0] < LARGEST_EXPONENT:
            found = [_invert(single, delta, float(most[0]))]
        else:
            found = [curve.epsilon(delta) for curve in trade_offs(counted, repeats, delta, tolerance)]
        worst = np.maximum(worst, np.minimum(found, most))
    return worst


def _most(counted: Counted, repeats: int, delta: float) -> float:
    """An upper bound on epsilon without a grid; zero where delta covers the whole difference of the laws."""
    if repeats * _difference(counted) <= delta:
        return 0.0
    top, (rest, shift) = sum(times * pair.top for pair, times in counted), _whole_shift(counted)
    if math.isinf(rest) or not shift:
        return repeats * top
    return min(repeats * top, repeats * rest + gaussian_epsilon(math.sqrt(repeats) * shift, delta))


def _difference(counted: Counted) -> float:
    """A bound on the delta of epsilon zero: total variations add up."""
    return sum(times * pair.difference for pair, times in counted) * (1 + 1e-12)


def _whole_shift(counted: Counted) -> tuple[float, float]:
    """The most that other losses add up to, and the shift of the Gaussian release that dominates all Gaussian noise.

    Noise on samples is dominated by that on all records: H(P||Q) is jointly convex, so that a coin which decides
    whether the laws differ only lowers it. Pure losses and one (epsilon, delta) add up to the same delta.
    """
    rest = sum(times * pair.top for pair, times in counted if not isinstance(pair, GaussianPair))
    squares = sum(times * (pair.shift / pair.noise) ** 2 for pair, times in counted if isinstance(pair, GaussianPair))
    return rest * (1 + 1e-14), math.sqrt(squares) * (1 + 1e-14)


def pld_delta(loss: Loss, epsilon: float, *, tolerance: float = TOLERANCE) -> float:
    """The delta of a loss at an epsilon, the largest over all ways in which one person's data may matter.

    Zero only where no loss is above epsilon: a law without a largest loss has some delta at every epsilon.
    """
    worst = 0.0
    for counted in cases(loss):
        smooth, single = _only_gaussian(counted), _single_step(counted)
        difference, (rest, shift) = _difference(counted), _whole_shift(counted)
        if epsilon >= sum(times * pair.top for pair, times in counted) or difference <= worst:
            continue  # no loss is above it, or another case is worse
        if smooth is not None:
            found = gaussian_delta(1 / smooth, epsilon)
        elif single is not None and epsilon < LARGEST_EXPONENT:
            found = single.delta(epsilon)
        else:
            found = _gridded_delta(counted, epsilon, tolerance)
        whole = gaussian_delta(shift, epsilon - rest) if shift and epsilon >= rest else 1.0
        worst = max(worst, min(found, difference, whole), SMALLEST)
    return worst


def _gridded_delta(counted: Counted, epsilon: float, tolerance: float) -> float:
    """The delta of a composition at an epsilon, on grids that are each sharp near the delta found before.

    At tiny rates the bulk of the losses is near zero and the guess that chooses the first grid lies many orders above
    the truth. Every grid gives an upper bound, so that the least counts; the guess itself bounds nothing.
    """
    guess, least = _chernoff_delta(counted, epsilon), 1.0
    for _ in range(MOST_REFINEMENTS):
        least = min(least, trade_offs(counted, [1], guess, tolerance)[0].delta(epsilon))
        if least > NEAR * guess or least < SMALLEST_GUESS:
            break
        guess = least
    return least


def trade_offs(counted: Counted, repeats: Sequence[int], delta: float, tolerance: float) -> list[TradeOff]:
    """The composed pairs for each number of repeats, from one grid that is fine enough for all."""
    total = sum(times for _, times in counted)
    tail = SLACK * delta / (total * max(repeats))
    cumulants = np.sum([times * pair.cumulants(TILTS, tail) for pair, times in counted], axis=0)
    guides = [best_chernoff(TILTS, n * cumulants, delta) for n in repeats]
    tilts = _tilts_around(min(guides)[0], max(guides)[0])
    step = min(_step(TILTS[i], epsilon, n * total, tolerance) for (i, epsilon), n in zip(guides, repeats, strict=True))
    least = _least_step(counted, cumulants, repeats, delta, tail)
    step = max(step, least)
    exact = _common_lattice(counted, step)
    for _ in range(MOST_REFINEMENTS):
        grids = [(pair.grid(exact or step, tail), times) for pair, times in counted]
        found = _compose(grids, repeats, delta, tilts)
        if exact is not None:
            break
        ends = {int(np.argmin(repeats)), int(np.argmax(repeats))}
        excess = max(_excess(found[i], repeats[i] * total, delta, tolerance) for i in ends)
        if excess <= 2 or step <= least:
            break
        step = max(step / math.sqrt(1.2 * excess), least)
    return found


def _compose(grids: list[tuple[LossGrid, int]], repeats: Sequence[int], delta: float, tilts: Floats) -> list[TradeOff]:
    moments = np.sum([times * log_moments(grid.losses, grid.masses, tilts) for grid, times in grids], axis=0)
    return [trade_off([(grid, n * times) for grid, times in grids], delta, tilts, n * moments) for n in repeats]


def _step(tilt: float, epsilon: float, times: int, tolerance: float) -> float:
    """Connecting dots adds about times * (tilt + 1) * step^2 / 12 to epsilon; keep it under the tolerance."""
    return min(math.sqrt(12 * _tolerance(epsilon, tolerance) / (times * (tilt + 1))), max(epsilon, 1e-6) / 300)


def _least_step(counted: Counted, cumulants: Floats, repeats: Sequence[int], delta: float, tail: float) -> float:
    """The step at which neither one loss nor the window of the sum takes more than the most cells."""
    spans = np.array([pair.span(tail) for pair, _ in counted])
    whole = float(np.dot(spans, [float(times) for _, times in counted]))
    widths = [min(window(TILTS, n * cumulants, delta), n * whole) for n in (min(repeats), max(repeats))]
    return max(float(spans.max()), *widths) / MOST_CELLS


def _excess(curve: TradeOff, times: int, delta: float, tolerance: float) -> float:
    """How many times the allowed error the grid added; where above 1, a finer grid is needed."""
    epsilon = curve.epsilon(delta)
    if not math.isfinite(epsilon):
        return 0.0
    return times * curve.grid_error(epsilon) / _tolerance(epsilon, tolerance)


def _tolerance(epsilon: float, tolerance: float) -> float:
    """The grid error that is allowed: a small share of a small epsilon, a little more for a huge one."""
    if epsilon > HUGE:
        return max(tolerance, min(4 * tolerance, 4e-4), 2e-7 * epsilon)
    return min(tolerance, max(0.002 * epsilon, 1e-7))


def _common_lattice(counted: Counted, fine: float) -> float | None:
    """The largest step on which every loss lies exactly, unless it is finer than need be."""
    common = Fraction(0)
    for pair, _ in counted:
        if pair.lattice is None:
            return None
        common = Fraction(
            math.gcd(common.numerator * pair.lattice.denominator, pair.lattice.numerator * common.denominator),
            common.denominator * pair.lattice.denominator,
        )
    return float(common) if common >= fine else None


def _tilts_around(lowest: int, highest: int) -> Floats:
    """The tilts that surround the guides, and a few negative ones of the same size."""
    return np.append(TILTS[highest] * NEGATIVE_TILTS, TILTS[max(lowest - 8, 0) : highest + 8])


def _only_gaussian(counted: Counted) -> float | None:
    """The noise when all there is, is one Gaussian release: its trade-off has a closed form."""
    if len(counted) == 1 and counted[0][1] == 1:
        pair = counted[0][0]
        if isinstance(pair, GaussianPair) and (pair.p_rate, pair.q_rate) == (1.0, 0.0):
            return pair.noise
    return None


def _single_step(counted: Counted) -> GaussianPair | None:
    """The pair when all there is, is one release with Gaussian noise, of a sample or not."""
    pair, times = counted[0]
    return pair if len(counted) == 1 and times == 1 and isinstance(pair, GaussianPair) else None


def _invert(pair: GaussianPair, delta: float, most: float) -> float:
    """The least epsilon up to `most`, to the last digits, at which one release has at most this delta."""
    low, high = 0.0, most
    while high - low > 1e-14 * high:
        middle = (low + high) / 2
        low, high = (low, middle) if pair.delta(middle) <= delta else (middle, high)
    return high


def _chernoff_delta(counted: Counted, epsilon: float) -> float:
    """A bound on delta at an epsilon, to choose the grid by."""
    cumulants = np.sum([times * pair.cumulants(TILTS, 1e-30) for pair, times in counted], axis=0)
    orders = TILTS + 1
    exponent = cumulants - TILTS * epsilon + TILTS * np.log(TILTS / orders) - np.log(orders)
    return float(np.exp(np.clip(exponent.min(), math.log(SMALLEST_GUESS), -1e-3)))
