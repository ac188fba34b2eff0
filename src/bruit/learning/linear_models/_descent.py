"""Noisy gradient descent for logistic regression, for designs where the noise would swamp a noisy Hessian.

One row moves the gradient in as many entries as it has columns (the indicators of a category count once, however many
categories there are), where a curvature has an entry for every pair of indicators. The first releases are means and
squares of the numbers: the descent walks in coordinates in which every number has mean zero and variance one, whatever
its declared bounds are.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, sqrt

import numpy as np
from numpy.typing import NDArray

from bruit.channels import IntegerNoise
from bruit.core.losses import Loss, composed
from bruit.learning.estimator.contract import FitRequest, Records
from bruit.learning.linear_models._descent_kernels import gradient_sums
from bruit.learning.linear_models._design import Design, SparseRows
from bruit.learning.trees.descent import LARGEST_STEP, MOMENTUM, PATIENCE, Schedule, schedule
from bruit.learning.trees.noise import Moves, buy_noise

Floats = NDArray[np.float64]
GRAIN = 16
"""The most one row moves an entry of a release: coarse enough that the whole law of the noise can be priced (pld)."""

USUAL_STEPS, USUAL_PURE_STEPS = 200, 15
FEWEST_PURE, MOST_PURE = 4, 60
COUNTED = Fraction(1, 20)
"""What of a pure budget counts the rows, where their number is private and not stated."""

STEPS_A_LOOK = 50
"""Means and squares of the columns are released once for this many gradient steps."""

CLEAR = 2.0
"""A noisy variance below this many standard deviations of its noise is replaced by that bound."""

CURVED_FROM = 20.0
"""Curves are fitted once rows × rate, over the number of columns, reaches this: below, noise outweighs them.

On a fifth of the training file of UCI Adult, held back in turn, they change nothing at 13 and gain at 25.
"""

Draw = Callable[[tuple[int, ...], np.random.Generator], NDArray[np.int64]]


@dataclass(frozen=True)
class Scaling:
    """Means and deviations of the columns, noisy ones for numbers; 0 and 1 for the intercept and for indicators."""

    means: Floats
    deviations: Floats

    def in_units(self, theta: Floats) -> Floats:
        """Coefficients of the columns themselves, from those of the scaled columns; one row per model."""
        found = theta / self.deviations
        found[:, 0] -= found @ self.means
        return found

    def pulled_back(self, gradient: Floats) -> Floats:
        """The gradient in the scaled coordinates, a linear image of the noisy one."""
        return np.asarray((gradient - self.means * gradient[:, :1]) / self.deviations)


@dataclass(frozen=True)
class Descent:
    """The releases that a budget buys, with their noise; all of it from public numbers.

    steps, looks   releases of the gradient, and before them of means and squares of numbers
    rate           how well all steps together show one row, sqrt(steps * moved) * GRAIN / deviation
    deviation      of the noise of one entry, in units of one row
    count          the noisy number of rows, or the public one
    """

    design: Design
    steps: int
    looks: int
    rate: float
    deviation: float
    loss: Loss
    draw: Draw
    count: Callable[[int, np.random.Generator], int]

    def is_clear(self, size: int) -> bool:
        """Whether so many rows stand far enough out of the noise for the columns that curves add."""
        return size * self.rate >= CURVED_FROM * (self.design.columns + 1)

    def descend(self, values: NDArray[np.int64], labels: NDArray[np.bool_], records: Records) -> Floats:
        """The coefficients averaged over the second half of the descent, one row per model.

        velocity <- momentum * velocity + (gradient + noise) / size;  coefficients <- coefficients + step * velocity
        """
        rows, dither = self.design.sparse(values), records.rng.random(len(values))
        size = self.count(len(values), records.rng)
        scaling = self._look(rows, dither, size, records.rng)
        path = self._path(size)
        at = np.zeros((len(labels), self.design.columns + 1))
        velocity, mean = np.zeros_like(at), np.zeros_like(at)
        averaged = path.steps - path.steps // 2
        for step in range(path.steps):
            weights = scaling.in_units(at)
            sums = np.array(
                [gradient(rows, label, theta, dither) for label, theta in zip(labels, weights, strict=True)]
            )
            noisy = (sums + self.draw(at.shape, records.rng)) / (GRAIN * size)
            velocity = MOMENTUM * velocity + scaling.pulled_back(noisy)
            at = at + path.step * velocity
            if step >= path.steps - averaged:
                mean += at / averaged
        return scaling.in_units(mean)

    def _path(self, size: int) -> Schedule:
        return schedule(size=size, columns=self.design.touched + 1, rate=self.rate, steps=self.steps)

    def _look(self, rows: SparseRows, dither: Floats, size: int, rng: np.random.Generator) -> Scaling:
        """Noisy means and deviations of the numbers, averaged over the looks."""
        means, deviations = np.zeros(self.design.columns + 1), np.ones(self.design.columns + 1)
        if self.looks:
            exact = moments(rows.numbers, dither)
            first, second = mean_of_looks(exact, self.draw((self.looks, *exact.shape), rng))
            centre = np.clip(first / size, -1, 1)
            least = CLEAR * self.deviation / sqrt(self.looks) / size
            means[rows.places] = centre
            deviations[rows.places] = np.sqrt(np.clip(second / size - centre**2, min(least, 1.0), 1.0))
        return Scaling(means, deviations)


def gradient(rows: SparseRows, label: NDArray[np.bool_], theta: Floats, dither: Floats) -> NDArray[np.int64]:
    """The exact integer sums of GRAIN * residual * column; a row's part does not depend on other rows."""
    sums = np.zeros(len(theta), np.int64)
    gradient_sums(rows.numbers, rows.places, rows.cells, theta, label.astype(np.float64), dither, float(GRAIN), sums)
    return sums


def moments(numbers: Floats, dither: Floats) -> NDArray[np.int64]:
    """The exact sums of the numbers and of their squares, in steps of 1 / GRAIN; a row moves each by at most GRAIN."""
    powers = np.stack([numbers, numbers**2])
    steps = np.clip(np.floor(GRAIN * powers + dither[:, None]), -GRAIN, GRAIN)  # 16 + 0.99… may round up to 17
    return np.asarray(steps.sum(axis=1), np.int64)


def mean_of_looks(exact: NDArray[np.int64], noise: NDArray[np.int64]) -> Floats:
    """The mean of several noisy looks at the same sums; the exact and the noise are added as whole numbers.

    The mean of the noise is rounded: with the exact added to that, the last bits of the result would tell it.
    """
    return np.asarray((exact + noise).sum(axis=0) / (len(noise) * GRAIN))


def plan_descent(question: FitRequest, models: int, *, curves: bool) -> Descent:
    """The descent that a budget pays for: discrete Gaussian noise with a delta, discrete Laplace noise without."""
    assert question.price is not None
    assert question.domains is not None
    design = Design(question.domains, first=0, curves=curves)
    return _gaussian(question, design, models) if question.price.delta else _laplace(question, design, models)


def _entries(design: Design, models: int) -> int:
    """How many entries of a release one row moves: of the gradients of all models, or of means and squares."""
    return max((design.touched + 1) * models, 2 * len(design.places))


def _looks(design: Design, steps: int) -> int:
    return ceil(steps / STEPS_A_LOOK) if len(design.places) else 0


def _gaussian(question: FitRequest, design: Design, models: int) -> Descent:
    moves, columns = Moves(GRAIN, _entries(design, models)), design.touched + 1
    steps = USUAL_STEPS
    if question.size is not None:
        rate = buy_noise(question, moves, times=1).rate
        steps = schedule(size=question.size, columns=columns, rate=rate).steps
    looks = _looks(design, steps)
    noise = buy_noise(question, moves, times=steps + looks)
    return Descent(
        design,
        steps,
        looks,
        noise.rate * sqrt(steps / (steps + looks)),
        noise.deviation / GRAIN,
        noise.loss,
        lambda shape, rng: noise.draw(shape, rng=rng),
        lambda rows, rng: noise.size(question, rows, rng=rng),
    )


def _laplace(question: FitRequest, design: Design, models: int) -> Descent:
    """A descent with Laplace noise, with as many steps as fit before the noise outweighs the gradient."""
    assert question.price is not None
    epsilon, public, moved = question.price.epsilon, question.size, _entries(design, models)
    spent = epsilon if public is not None else epsilon * (1 - COUNTED)
    steps, columns = USUAL_PURE_STEPS, design.touched + 1
    if public is not None:
        longest = PATIENCE * public * float(spent) / (sqrt(2 * columns * moved) * question.rows_changed)
        each = LARGEST_STEP / columns / (1 - MOMENTUM)
        steps = int(np.clip((longest / each) ** (2 / 3), FEWEST_PURE, MOST_PURE))
    times = steps + _looks(design, steps)
    noise = IntegerNoise.laplace(
        spent / times, sensitivity=moved * GRAIN * question.rows_changed, neighbours=question.neighbours
    )
    counting = IntegerNoise.laplace(epsilon * COUNTED, sensitivity=question.rows, neighbours=question.neighbours)
    parts = [(noise.loss, times)] if public is not None else [(noise.loss, times), (counting.loss, 1)]
    deviation = sqrt(2) * moved * question.rows_changed * times / float(spent)

    def count(rows: int, rng: np.random.Generator) -> int:
        return public if public is not None else max(1, rows + int(counting.draw(1, rng=rng)[0]))

    def draw(shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.int64]:
        return noise.draw(int(np.prod(shape)), rng=rng).reshape(shape)

    rate = sqrt(steps * moved) / deviation
    return Descent(design, steps, times - steps, rate, deviation, composed(parts), draw, count)
