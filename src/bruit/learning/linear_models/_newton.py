"""Noisy Newton steps for logistic regression: gradient and Hessian over all rows, noised once per round."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from bruit.channels import VectorNoise
from bruit.learning.linear_models._design import STEPS
from bruit.learning.linear_models._shrinkage import most_likely

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

WEIGHT_STEPS = 1 << 8
"""Grid steps of a row's residual and of four times its curvature."""

EACH = WEIGHT_STEPS * STEPS**2
"""The most one row moves any sum."""

FREE, USUAL = 25.0, 1.0
"""The variance of a scaled intercept, which is hardly shrunk, and the usual one of a slope."""

SPREAD = 0.1
"""The variance of a scaled column that is assumed where the budget is too small to look."""

CLEAR = 3.0
"""Coefficients get intervals only if the least curvature is this many standard deviations of its noise."""

SWAMPED = 0.3
"""A Hessian whose noise reaches this share of its least expected part is replaced by an assumed one."""

BLOCK = 1 << 16

FINE, FAR = 2.0**24, 2.0**9
"""Coefficients are used in steps of 2^-24 and at most at 2^9: products with rows, and sums of 2^9 of them, are exact in
53 bits. In any order, on any machine and beside any other rows a row then has the same residual."""


@dataclass(frozen=True)
class Step:
    """Noisy gradient and Hessian (curvature) at given coefficients, with the noise deviation of each entry."""

    at: Floats
    gradient: Floats
    curvature: Floats
    gradient_noise: Floats
    curvature_noise: float

    @property
    def rows(self) -> float:
        """The noisy number of rows, at least one; only at coefficients of zero, where each adds a quarter."""
        return max(4 * float(self.curvature[0, 0]), 1.0)

    def drowned(self, curved: float) -> float:
        """The noise of the Hessian beside what so many rows are expected to add, `curved` each, where it is least."""
        return float(self.curvature_noise * np.sqrt(len(self.at)) / (curved * self.rows))

    def with_assumed_curvature(self) -> Step:
        """The step with the Hessian of as many rows around their noisy means, of an assumed spread."""
        means = np.clip(4 * self.curvature[0, 1:] / self.rows, -1, 1)
        return Step(self.at, self.gradient, assumed_curvature(means, self.rows), self.gradient_noise, 0.0)

    def disturbance(self, move: Floats) -> Floats:
        """The covariance of gradient - curvature @ move, from sampling and from the noise of both."""
        cross = np.outer(move, move)
        np.fill_diagonal(cross, move @ move)
        noise = self.curvature_noise**2 * cross + np.diag(self.gradient_noise**2)
        return np.asarray(self.positive + noise)

    @cached_property
    def positive(self) -> Floats:
        """The Hessian with its negative eigenvalues, which only noise can cause, raised to a small positive number."""
        values, vectors = np.linalg.eigh(self.curvature)
        return np.asarray((vectors * np.maximum(values, 1e-9)) @ vectors.T)

    def shrunk(self) -> Floats:
        """The empirical-Bayes coefficients after the step, shrunk by as much as gradient and Hessian suggest."""
        right = self.gradient + self.curvature @ self.at
        return most_likely(
            self.curvature, right, lambda theta: self.disturbance(theta - self.at), free=FREE, usual=USUAL
        )

    def unshrunk(self, *, rows: int = 1) -> tuple[Floats, Floats]:
        """The coefficients after a full Newton step and their covariance, infinite where noise swamps the Hessian.

        Where people have up to `rows` rows, the part of the sampling counts so many times.     [Normal.covariance]
        """
        size = len(self.at)
        if np.linalg.eigvalsh(self.curvature)[0] <= CLEAR * self.curvature_noise * np.sqrt(size):
            return self.at, np.full((size, size), np.inf)
        inverse = np.linalg.inv(self.curvature)
        move = inverse @ self.gradient
        disturbance = self.disturbance(move) + (rows - 1) * self.positive
        return self.at + move, inverse @ disturbance @ inverse


def step_entries(columns: int, classes: int) -> int:
    """The number of noisy sums in a round: gradient and upper triangle of the Hessian for each class."""
    return classes * (columns + columns * (columns + 1) // 2)


def newton_steps(
    rows: Integers,
    labels: NDArray[np.bool_],
    at: Floats,
    noise: VectorNoise,
    *,
    rng: np.random.Generator,
) -> list[Step]:
    """One noisy Newton step per class; `rows` starts with a column of ones, `labels` and `at` have a row per class."""
    exact = [_sums(rows, label, theta) for label, theta in zip(labels, at, strict=True)]
    flat = np.concatenate([np.concatenate(each) for each in exact])
    found = (flat + noise.draw(1, rng=rng)[0]).reshape(len(at), -1) / EACH
    columns, spread = rows.shape[1], noise.deviation / EACH
    steps = []
    for sums, theta in zip(found, at, strict=True):
        curvature = _symmetric(sums[columns:] / 4, columns)
        half = 1 if theta.any() else 0.5
        steps.append(Step(theta, half * sums[:columns], curvature, np.full(columns, half * spread), spread / 4))
    return steps


def first_steps(
    rows: Integers,
    labels: NDArray[np.bool_],
    noises: tuple[VectorNoise, VectorNoise],
    *,
    size: int,
    rng: np.random.Generator,
) -> list[Step]:
    """One noisy step from zero per class, with an assumed Hessian instead of a noisy one.

    Counts of the classes with the first noise; sums of columns, of all rows and as each class signs them, with the
    second; an assumed spread of the columns around their means.
    """
    slopes, zero = rows[:, 1:], np.zeros(rows.shape[1])
    signed = np.array([(2 * label.astype(np.int64) - 1) @ slopes for label in labels] + [slopes.sum(axis=0)])
    noise = noises[1].draw(1, rng=rng)[0].reshape(signed.shape)
    sums = (signed * WEIGHT_STEPS * STEPS + noise) / EACH
    counts = ((2 * labels.sum(axis=1) - len(rows)) * EACH + noises[0].draw(1, rng=rng)[0]) / EACH
    curvature = assumed_curvature(np.clip(sums[-1] / size, -1, 1), size)
    spread = np.r_[noises[0].deviation, np.full(len(zero) - 1, noises[1].deviation)] / EACH / 2
    return [Step(zero, np.r_[n, s] / 2, curvature, spread, 0.0) for n, s in zip(counts, sums[:-1], strict=True)]


def steps_from_zero(looks: list[list[Step]], curved: float) -> list[Step]:
    """One step per class from several looks at zero: their mean, with an assumed Hessian where noise swamps it."""
    steps = []
    for each in zip(*looks, strict=True):
        gradient, curvature = (np.mean([getattr(one, of) for one in each], axis=0) for of in ("gradient", "curvature"))
        less = np.sqrt(len(each))
        step = Step(each[0].at, gradient, curvature, each[0].gradient_noise / less, each[0].curvature_noise / less)
        steps.append(step.with_assumed_curvature() if step.drowned(curved) >= SWAMPED else step)
    return steps


def assumed_curvature(means: Floats, rows: float) -> Floats:
    """The Hessian at zero of so many rows with these means, each column of the assumed spread."""
    centre = np.r_[1.0, means]
    return np.asarray(rows / 4 * (np.outer(centre, centre) + np.diag(np.r_[0.0, np.full(len(means), SPREAD)])))


def _sums(rows: Integers, label: NDArray[np.bool_], theta: Floats) -> tuple[Integers, Integers]:
    """The exact sums of residual * column and of 4 * curvature * column * column, both at most EACH a row."""
    columns, exact = rows.shape[1], np.rint(np.clip(theta, -FAR, FAR) * FINE) / FINE
    gradient, square = np.zeros(columns, np.int64), np.zeros((columns, columns), np.int64)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK].astype(np.float64)
        share = expit(block @ exact / STEPS)
        residual = np.rint((label[start : start + BLOCK] - share) * WEIGHT_STEPS)
        gradient += (residual @ block).astype(np.int64)
        weight = np.rint(4 * share * (1 - share) * WEIGHT_STEPS)
        square += ((block * weight[:, None]).T @ block).astype(np.int64)  # below 2^53: exact
    if not theta.any():
        gradient *= 2  # at zero every residual is a half
    return gradient * STEPS, square[np.triu_indices(columns)]


def _symmetric(upper: Floats, columns: int) -> Floats:
    matrix = np.zeros((columns, columns))
    matrix[np.triu_indices(columns)] = upper
    return matrix + np.triu(matrix, 1).T
