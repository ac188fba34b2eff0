"""Gradient descent, noisy or not, on one weight for each bin and output."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bruit.learning.trees._additive_kernels import class_residual_sums, residual_sums
from bruit.learning.trees.binning import Bins

MOMENTUM = 0.9
LARGEST_STEP = 15.0
"""Over the number of columns: the curvature is at most columns / 4, and heavy-ball descent bears 2 (1 + momentum)."""

PATIENCE = 0.5
"""Scales how long the descent runs: weights with a clear signal converge, the others stay near zero."""

FEWEST_STEPS, MOST_STEPS = 200, 400

REACH, SMOOTH = 4.0, 2.0
"""Bins of an ordered column share what they learn, by exp(-distance / REACH), twice as much as each keeps."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Schedule:
    """The number of steps, and the learning rate applied to the mean gradient."""

    steps: int
    step: float


def schedule(*, size: int, columns: int, rate: float, steps: int | None = None, curvature: float = 0.25) -> Schedule:
    """The schedule from public numbers alone: rows, columns, and signal-to-noise ratio of one row.

    In all, steps * step / (1 - momentum) = PATIENCE * size * rate / sqrt(columns): a weight of curvature h has gone
    the share 1 - exp(-h * time) of its way, and noise of deviation sqrt(columns) / rate drowns h below size / time.
    """
    time = PATIENCE * size * rate / sqrt(columns)
    most = LARGEST_STEP / columns * 0.25 / curvature
    taken = steps or min(max(ceil(time * (1 - MOMENTUM) / most), FEWEST_STEPS), MOST_STEPS)
    return Schedule(taken, min(time * (1 - MOMENTUM) / taken, most))


class Noise(Protocol):
    """The interface of a function that draws the noise of one step."""

    def __call__(self, shape: tuple[int, ...]) -> NDArray[np.int64]:
        """Integer noise of a given shape."""


@dataclass(frozen=True)
class Problem:
    """Rows as indices into one table of bin weights, and the target to predict.

    outputs   one, or the number of classes where there are more than two
    grain     residuals are integers of this many steps to one
    """

    bins: Bins
    cells: NDArray[np.int32]
    target: Floats
    outputs: int
    logistic: bool
    grain: int
    dither: Floats

    def gradient(self, weights: Floats) -> NDArray[np.int64]:
        """The exact integer sums of residuals for each bin, at given weights."""
        sums = np.zeros(weights.shape, np.int64)
        if self.outputs == 1:
            residual_sums(self.cells, weights, self.target, self.dither, float(self.grain), self.logistic, sums)
        else:
            labels = self.target.astype(np.int64)
            class_residual_sums(self.cells, weights, labels, self.dither, float(self.grain), sums)
        return sums


def descend(problem: Problem, plan: Schedule, *, size: int, noise: Noise | None) -> Floats:
    """The weights averaged over the second half of the descent.

    velocity <- momentum * velocity + smooth(gradient + noise) / size;  weights <- weights + step * velocity
    """
    shared = smoothing(problem.bins)
    weights = np.zeros((int(problem.bins.sizes.sum()), problem.outputs))
    velocity, mean = np.zeros_like(weights), np.zeros_like(weights)
    averaged = plan.steps - plan.steps // 2
    for step in range(plan.steps):
        sums = problem.gradient(weights)
        if noise is not None:
            sums += noise(sums.shape)
        slopes = smoothed(sums / (problem.grain * size), shared, problem.bins)
        velocity = MOMENTUM * velocity + slopes
        weights = weights + plan.step * velocity
        if step >= plan.steps - averaged:
            mean += weights / averaged
    return mean


def smoothing(bins: Bins) -> list[Floats | None]:
    """A smoothing matrix over the bins of each ordered column; None for categorical columns.

    (1 + SMOOTH exp(-|i-j| / REACH)) / (1 + SMOOTH), one on the diagonal, so that no curvature grows.
    """
    found: list[Floats | None] = []
    for size, categorical in zip(bins.sizes.tolist(), bins.categorical.tolist(), strict=True):
        distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
        near = np.exp(-distance / REACH)
        found.append(None if categorical else (np.eye(size) + SMOOTH * near) / (1 + SMOOTH))
    return found


def smoothed(slopes: Floats, shared: list[Floats | None], bins: Bins) -> Floats:
    """The gradients after smoothing over neighbouring bins."""
    out, offsets = slopes.copy(), bins.offsets
    for matrix, start, end in zip(shared, offsets[:-1], offsets[1:], strict=True):
        if matrix is not None:
            out[start:end] = matrix @ slopes[start:end]
    return out
