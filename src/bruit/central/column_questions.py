"""Questions about declared columns of one table, and the mechanism that answers them by noisy integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.central.questions.answers import describe_noisy
from bruit.central.questions.asking import Question
from bruit.central.questions.measures import Measure
from bruit.central.questions.noises import BudgetShare, PricedNoise, buy
from bruit.central.questions.sensitivities import Sensitivity
from bruit.core.guarantee import Assumption
from bruit.core.losses import Approximate, Pure
from bruit.core.release import Outcome
from bruit.ledger import Budget
from bruit.mechanisms import Mechanism, buy_integers, send_array
from bruit.tables import Column, Table, UndeclaredColumn, plan_for
from bruit.tables.plan.expressions import Expression

T = TypeVar("T")
Integers = NDArray[np.int64]
"""Exact or noisy integers: one row for each part of a measure, one column for each group."""

ANSWER = "answer"
"""The name of the one measure of a question."""


def question_about(
    table: Table,
    measure: Callable[..., Measure],
    *values: Column,
    by: Sequence[Column | UndeclaredColumn] = (),
    key: Callable[[Expression], Expression] | None = None,
    confidence: float = 0.95,
) -> Question:
    """A question for one measure of columns, grouped by other columns (or by `key` applied to each).

    A row that a domain drops is none of the rows that a limit chooses among.
    """
    limit, (plan, expressions) = table.bounds, plan_for(table, (*by, *values))
    keys, rest = expressions[: len(by)], expressions[len(by) :]
    if limit is not None:
        for column, value in zip(values, rest, strict=True):
            plan = plan.where(~value.is_missing) if column.drops else plan
    named = {f"{place} {each.words}": each if key is None else key(each) for place, each in enumerate(keys)}
    return Question(plan, {ANSWER: measure(*rest)}, named, limit, confidence)


def buy_noise(price: Budget, moved: Sensitivity, confidence: float) -> PricedNoise:
    """The narrower of Laplace and Gaussian noise that the whole budget pays for.

    Gaussian noise is compared where the price has a delta and the book adds them up (`by="basic"`).
    """
    if not isinstance(price.loss, Pure | Approximate):
        noise = buy_integers(price, l1=moved.l1, l2_squared=moved.l2_squared, entries=moved.entries)
        return PricedNoise(noise, noise.loss)
    delta = price.delta if price.ledger.terms.by == "basic" else Fraction(0)
    return buy(moved, BudgetShare(price.epsilon, delta, price.neighbours), confidence=confidence)


def buy_answer(question: Question, price: Budget) -> PricedNoise:
    """The noise that a budget pays for on the integers of a question with one measure."""
    return buy_noise(price, question.sensitivity(ANSWER, price.neighbours), question.confidence)


def integers_mechanism(
    what: str,
    question: Question,
    bought: PricedNoise,
    interpret: Callable[[Integers], Outcome[T]],
    assumes: tuple[Assumption, ...] = (),
) -> Mechanism[Integers, T]:
    """The mechanism that adds noise to each exact integer of a question; `interpret` gets one row per part."""
    reader = question.reader
    parts = len(reader.parts)

    def read(rng: np.random.Generator) -> Integers:
        return np.stack(reader.read(rng).parts)

    def of_a_row(row: NDArray[Any]) -> Outcome[T]:
        noisy = row.reshape(parts, -1)
        outcome = interpret(noisy)
        law = {ANSWER: describe_noisy(question.measures[ANSWER], noisy, bought.noise)}
        return replace(outcome, details={**outcome.details, "noisy": law})

    return Mechanism(what, bought.loss, read, send_array(bought.noise), of_a_row, assumes)


def middle_of(value: Expression) -> Fraction:
    """The grid point in the middle of a number's bounds; centring there makes sums smallest."""
    kind = value.numbers
    return kind.value((kind.lowest + kind.highest) // 2)
