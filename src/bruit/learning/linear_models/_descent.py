"""Noisy gradient descent for logistic regression, for designs where the noise would swamp a noisy Hessian.

One row moves the gradient in as many entries as it has columns (an indicator column of a category counts once, however
many categories there are), where a curvature has an entry for every pair of indicators.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bruit.channels import IntegerNoise
from bruit.core.losses import Loss, composed
from bruit.learning.estimator.contract import FitRequest, Records
from bruit.learning.linear_models._design import STEPS
from bruit.learning.linear_models._newton import FAR, FINE, WEIGHT_STEPS
from bruit.learning.trees.descent import LARGEST_STEP, MOMENTUM, PATIENCE, Schedule, schedule
from bruit.learning.trees.noise import Moves, buy_noise

Floats = NDArray[np.float64]
EACH = WEIGHT_STEPS * STEPS
"""The most one row moves an entry of the gradient."""

USUAL_STEPS, USUAL_PURE_STEPS = 200, 15
FEWEST_PURE, MOST_PURE = 4, 60
COUNTED = Fraction(1, 20)
"""What of a pure budget counts the rows, where their number is private and not stated."""

Draw = Callable[[tuple[int, ...], np.random.Generator], NDArray[np.int64]]


@dataclass(frozen=True)
class Descent:
    """The steps that a budget buys, with their noise; all of it from public numbers.

    moved   how many entries of a gradient one row moves, over all models
    rate    how well all steps together show one row, sqrt(steps * moved) * EACH / deviation
    count   the noisy number of rows, or the public one
    """

    steps: int
    moved: int
    rate: float
    loss: Loss
    draw: Draw
    count: Callable[[int, np.random.Generator], int]

    def descend(self, rows: NDArray[np.int64], labels: NDArray[np.bool_], records: Records, columns: int) -> Floats:
        """The coefficients averaged over the second half of the descent, one row per model.

        velocity <- momentum * velocity + (gradient + noise) / size;  coefficients <- coefficients + step * velocity
        """
        size = self.count(len(rows), records.rng)
        path = self._path(size, columns)
        values, at = rows.astype(np.float64), np.zeros((len(labels), rows.shape[1]))
        velocity, mean = np.zeros_like(at), np.zeros_like(at)
        averaged = path.steps - path.steps // 2
        for step in range(path.steps):
            sums = np.array([gradient(values, label, theta) for label, theta in zip(labels, at, strict=True)])
            noisy = sums + self.draw(at.shape, records.rng)
            velocity = MOMENTUM * velocity + noisy / (EACH * size)
            at = at + path.step * velocity
            if step >= path.steps - averaged:
                mean += at / averaged
        return mean

    def _path(self, size: int, columns: int) -> Schedule:
        return schedule(size=size, columns=columns, rate=self.rate, steps=self.steps)


def gradient(values: Floats, label: NDArray[np.bool_], theta: Floats) -> NDArray[np.int64]:
    """The exact integer sums of residual * column; a row's part does not depend on other rows.      [_newton.FINE]"""
    exact = np.rint(np.clip(theta, -FAR, FAR) * FINE) / FINE
    residual = np.rint((label - expit(values @ exact / STEPS)) * WEIGHT_STEPS)
    return np.asarray(residual @ values).astype(np.int64)


def plan_descent(question: FitRequest, columns: int, models: int) -> Descent:
    """The descent that a budget pays for: discrete Gaussian noise with a delta, discrete Laplace noise without."""
    assert question.price is not None
    moved = columns * models
    return _gaussian(question, columns, moved) if question.price.delta else _laplace(question, columns, moved)


def _gaussian(question: FitRequest, columns: int, moved: int) -> Descent:
    moves = Moves(EACH, moved, squares=moved * EACH**2)  # too fine a grid for pld: priced by zcdp
    steps = USUAL_STEPS
    if question.size is not None:
        rate = buy_noise(question, moves, times=1).rate
        steps = schedule(size=question.size, columns=columns, rate=rate).steps
    noise = buy_noise(question, moves, times=steps)
    return Descent(
        steps,
        moved,
        noise.rate,
        noise.loss,
        lambda shape, rng: noise.draw(shape, rng=rng),
        lambda rows, rng: noise.size(question, rows, rng=rng),
    )


def _laplace(question: FitRequest, columns: int, moved: int) -> Descent:
    """So many steps that the time which their size allows is the time after which the noise would drown the rest."""
    assert question.price is not None
    epsilon, public = question.price.epsilon, question.size
    spent = epsilon if public is not None else epsilon * (1 - COUNTED)
    steps = USUAL_PURE_STEPS
    if public is not None:
        longest = PATIENCE * public * float(spent) / (sqrt(2 * columns * moved) * question.rows_changed)
        each = LARGEST_STEP / columns / (1 - MOMENTUM)
        steps = int(np.clip((longest / each) ** (2 / 3), FEWEST_PURE, MOST_PURE))
    noise = IntegerNoise.laplace(
        spent / steps, sensitivity=moved * EACH * question.rows_changed, neighbours=question.neighbours
    )
    counting = IntegerNoise.laplace(epsilon * COUNTED, sensitivity=question.rows, neighbours=question.neighbours)
    parts = [(noise.loss, steps)] if public is not None else [(noise.loss, steps), (counting.loss, 1)]
    rate = float(spent) / (sqrt(2 * moved * steps) * question.rows_changed)

    def count(rows: int, rng: np.random.Generator) -> int:
        return public if public is not None else max(1, rows + int(counting.draw(1, rng=rng)[0]))

    def draw(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.int64]:
        return noise.draw(int(np.prod(shape)), rng=rng).reshape(shape)

    return Descent(steps, moved, rate, composed(parts), draw, count)
