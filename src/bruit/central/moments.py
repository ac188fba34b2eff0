"""Noisy sum, mean and variance of a numeric column."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bruit.central.column_questions import (
    ANSWER,
    Integers,
    buy_answer,
    integers_mechanism,
    middle_of,
    question_about,
)
from bruit.central.questions import measures
from bruit.central.questions.asking import Question
from bruit.central.questions.noises import PricedNoise
from bruit.central.questions.ratios import mean_estimate, variance_estimate
from bruit.central.ranks.records import require_public_size
from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption
from bruit.core.intervals import Covers, Interval
from bruit.core.release import Outcome, Release
from bruit.ledger import Budget, ask
from bruit.mechanisms import Mechanism, asked
from bruit.tables import Column


def sum(  # noqa: A001  the statistic's own name, used as central.sum
    column: Column, *, budget: Budget | None, confidence: float = 0.95, rng: np.random.Generator | None = None
) -> Release[float]:
    """The noisy sum of a clamped column, over at most as many rows per person as the table's limit says."""
    purchase = ask(budget, what="central.sum", person=column.table.person, rng=rng)
    return sum_mechanism(column, purchase.price, confidence=confidence).release(purchase)


def sum_mechanism(column: Column, price: Budget, *, confidence: float = 0.95) -> Mechanism[Integers, float]:
    """The mechanism of `sum`: the sum in grid steps with the integer noise that a budget pays for."""
    grid = float(column.numbers.grid)
    question = question_about(column.table, measures.total, column, confidence=confidence)
    bought = buy_answer(question, price)
    width = bought.noise.half_width(question.confidence)

    def interpret(noisy: Integers) -> Outcome[float]:
        value, low, high = (int(noisy[0, 0] + side) * grid for side in (0, -width, width))
        return _outcome(column, question, bought, (value, low, high))

    return integers_mechanism("central.sum", question, bought, interpret)


def mean(
    column: Column,
    *,
    budget: Budget | None,
    size: int | None = None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Release[float]:
    """The noisy mean of a column, from the sums of the rows' distances to both bounds.

    (x - low) and (high - x) add up to high - low for each row: both sums together cost as much as one, and n need not
    be paid for. `size` states, under REPLACE_ONE, that this number of rows is public and no replacement changes it;
    then one sum around the middle is divided by it.
    """
    purchase = ask(budget, what="central.mean", person=column.table.person, rng=rng)
    return mean_mechanism(column, purchase.price, size=size, confidence=confidence).release(purchase)


def mean_mechanism(
    column: Column, price: Budget, *, size: int | None = None, confidence: float = 0.95
) -> Mechanism[Integers, float]:
    """The mechanism of `mean`: noisy sums of distances to both bounds, or one centred sum where the size is public."""
    numbers = column.numbers
    if size is not None:
        return _mean_of_public_size(column, price, whole(size, "size", why="the public number of rows"), confidence)
    question = question_about(column.table, measures.mean, column, confidence=confidence)
    bought, low, span = buy_answer(question, price), float(numbers.low), float(numbers.high - numbers.low)
    steps = numbers.highest - numbers.lowest

    def interpret(noisy: Integers) -> Outcome[float]:
        above, below = noisy
        shares = mean_estimate(above, below, bought.noise, question.confidence)
        value, least, greatest = (low + float(share[0]) * span for share in shares)
        rows = round(int(above[0] + below[0]) / steps)
        return _outcome(column, question, bought, (value, least, greatest), size=rows)

    return integers_mechanism("central.mean", question, bought, interpret)


def _mean_of_public_size(column: Column, price: Budget, size: int, confidence: float) -> Mechanism[Integers, float]:
    require_public_size(column, price, "size=")
    numbers = column.numbers
    around = question_about(
        column.table, lambda value: measures.total(value - middle_of(value)), column, confidence=confidence
    )
    bought, middle = buy_answer(around, price), Fraction((numbers.lowest + numbers.highest) // 2)
    width = bought.noise.half_width(around.confidence)

    def interpret(noisy: Integers) -> Outcome[float]:
        points = [(middle + Fraction(int(noisy[0, 0]) + side, size)) * numbers.grid for side in (0, -width, width)]
        value, low, high = (float(min(max(point, numbers.low), numbers.high)) for point in points)
        return _outcome(column, around, bought, (value, low, high), size=size, public=True)

    return integers_mechanism("central.mean", around, bought, interpret, (Assumption.PUBLIC_SIZE,))


def variance(
    column: Column,
    *,
    budget: Budget | None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Release[float]:
    """The noisy variance of a column, from three sums of products of the rows' distances to both bounds.

    (high - x)^2, 2 (high - x)(x - low) and (x - low)^2 add up to (high - low)^2 for each row, so that all three
    together cost as much as one.
    """
    purchase = ask(budget, what="central.variance", person=column.table.person, rng=rng)
    return variance_mechanism(column, purchase.price, confidence=confidence).release(purchase)


def variance_mechanism(column: Column, price: Budget, *, confidence: float = 0.95) -> Mechanism[Integers, float]:
    """The mechanism of `variance`: three noisy sums of products of distances to both bounds."""
    numbers = column.numbers
    question = question_about(column.table, measures.variance, column, confidence=confidence)
    bought, unit = buy_answer(question, price), float(numbers.high - numbers.low) ** 2
    steps = (numbers.highest - numbers.lowest) ** 2

    def interpret(noisy: Integers) -> Outcome[float]:
        shares = variance_estimate(noisy, bought.noise, question.confidence)
        value, low, high = (float(share[0]) * unit for share in shares)
        return _outcome(column, question, bought, (value, low, high), size=round(int(noisy.sum()) / steps))

    return integers_mechanism("central.variance", question, bought, interpret)


def _outcome(
    column: Column,
    question: Question,
    bought: PricedNoise,
    ends: tuple[float, float, float],
    *,
    size: int | None = None,
    public: bool = False,
) -> Outcome[float]:
    """A value with its bounds; `size` is the number of rows as far as it is known, noisy or public."""
    value, low, high = ends
    sized = {} if size is None else {"size": size, "size_is_public": public}
    return Outcome(
        value=value,
        method=f"{type(bought.noise.loss).__name__}, {question.measures[ANSWER].words}",
        labels=(column.name,),
        interval=Interval(np.array(low), np.array(high), question.confidence, Covers.TABLE),
        noise=(high - low) / 2,
        details={**sized, **asked(column.table, column)},
    )
