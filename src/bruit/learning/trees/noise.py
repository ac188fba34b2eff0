"""Which discrete Gaussian noise a budget buys for integers that every row moves a little, many times over."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument
from bruit.learning._estimator import Question
from bruit.privacy import DiscreteGaussian, Loss, calibrate
from bruit.randomness import discrete_gaussian

COUNT_SHARE = Fraction(1, 100)
"""What of a budget counts the rows, where their number is private and not stated."""


@dataclass(frozen=True)
class Moves:
    """What one row does to one release: it moves `entries` integers, each by at most `each`.

    `squares` bounds the sum of the squared moves where that is less than entries * each^2. `opposite` says that all
    moves are counts, so that exchanging a row for one in the same cell moves nothing.
    """

    each: int
    entries: int
    squares: int | None = None
    opposite: bool = False

    def loss(self, noise: Fraction, question: Question) -> Loss:
        """The loss of one release whose noise has the deviation noise * each.

        One row moves every entry apart, so that the release is no more than `entries` single numbers of shift `each`;
        under replacement counts lose one row and gain another: twice as many. Where moves can add up in one entry
        only the squares of all are bounded, and concentrated privacy prices them.
        """
        people, variance, relation = question.people, (noise * self.each) ** 2, question.neighbours
        single = DiscreteGaussian(variance, squared_sensitivity=self.each**2, neighbours=relation)
        if question.rows == 1 and self.squares is None and (people == 1 or self.opposite):
            return single * (self.entries * people)
        squares = (self.squares or self.entries * self.each**2) * people**2
        return DiscreteGaussian(
            variance, squared_sensitivity=squares, entries=self.entries * people, neighbours=relation
        )


@dataclass(frozen=True)
class StepNoise:
    """The noise of every release of a fit, and of the count of rows where that is paid for.

    `rate` is sqrt(times * squared moves) / deviation: how well all releases together show one row.
    """

    variance: Fraction
    loss: Loss
    rate: float
    count_variance: Fraction | None

    def draw(self, shape: tuple[int, ...], *, rng: np.random.Generator) -> NDArray[np.int64]:
        """Independent noise for every entry of a release."""
        return discrete_gaussian(self.variance, int(np.prod(shape)), rng=rng).reshape(shape)

    def size(self, question: Question, rows: int, *, rng: np.random.Generator) -> int:
        """The public number of rows, or the noisy count that was paid for."""
        if self.count_variance is None or question.size is not None:
            return question.size or rows
        return max(1, rows + int(discrete_gaussian(self.count_variance, 1, rng=rng)[0]))


def bought_noise(question: Question, moves: Moves, *, times: int, counted: bool = True) -> StepNoise:
    """The least noise with which a budget pays for `times` releases, and for the count of rows where it is private."""
    price = question.price
    assert price is not None
    if not price.delta:
        raise InvalidArgument(f"{question.what} adds Gaussian noise: give its budget a delta, such as delta=1e-6")
    count = counted and question.size is None
    squares = moves.squares or moves.entries * moves.each**2

    def count_variance(noise: Fraction) -> Fraction:
        precision = COUNT_SHARE * times * squares / (noise * moves.each) ** 2
        return question.people**2 / precision

    def loss(noise: Fraction) -> Loss:
        steps = moves.loss(noise, question) * times
        if not count:
            return steps
        counting = DiscreteGaussian(
            count_variance(noise),
            squared_sensitivity=question.people**2,
            entries=1,
            neighbours=question.neighbours,
        )
        return steps + counting

    terms = price.ledger.terms
    single = isinstance(next(iter(moves.loss(Fraction(1), question).parts()))[0], DiscreteGaussian) and (
        question.rows == 1 and moves.squares is None and (question.people == 1 or moves.opposite)
    )
    by = price.by or ({True: "pld", False: "zcdp"}[single] if terms.by == "basic" else terms.by)
    noise = calibrate(loss, epsilon=price.epsilon, delta=price.delta, by=by)
    rate = sqrt(times * squares) / (float(noise) * moves.each)
    return StepNoise((noise * moves.each) ** 2, loss(noise), rate, count_variance(noise) if count else None)
