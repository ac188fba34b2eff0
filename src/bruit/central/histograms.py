"""Histograms: counts by value of a column, and marginals over several columns."""

from __future__ import annotations

from itertools import product

import numpy as np
from numpy.typing import NDArray

from bruit.central.column_questions import Integers, buy_answer, integers_mechanism, question_about
from bruit.central.questions import measures
from bruit.central.questions.asking import Question
from bruit.core.intervals import Covers, Interval
from bruit.core.release import Outcome, Release
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, ask
from bruit.mechanisms import Mechanism, asked, the_table
from bruit.tables import Column
from bruit.tables.plan.reading import key_labels


def histogram(
    *columns: Column,
    budget: Budget | None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Release[NDArray[np.int64]]:
    """The noisy number of rows with each declared value, or each combination of values of several columns.

    Every cell gets its own noise, the empty ones too; the interval holds for each cell by itself.
    """
    if not columns:
        raise InvalidArgument("central.histogram needs at least one column with a declared domain")
    purchase = ask(budget, what="central.histogram", person=columns[0].table.person, rng=rng)
    return histogram_mechanism(*columns, price=purchase.price, confidence=confidence).release(purchase)


def histogram_mechanism(
    *columns: Column, price: Budget, confidence: float = 0.95
) -> Mechanism[Integers, NDArray[np.int64]]:
    """The mechanism of `histogram`: counts by cell with the integer noise that a budget pays for."""
    table = the_table(*columns)
    question = question_about(table, measures.count, by=columns, confidence=confidence)
    bought = buy_answer(question, price)
    shape, labels = tuple(column.domain.size for column in columns), labels_of(question)
    width, details = bought.noise.half_width(question.confidence), asked(table, by=columns)

    def interpret(noisy: Integers) -> Outcome[NDArray[np.int64]]:
        low, high = (np.maximum(noisy[0] + side, 0).astype(np.float64) for side in (-width, width))
        return Outcome(
            value=noisy[0].reshape(shape),
            method=type(bought.noise.loss).__name__,
            labels=labels,
            interval=Interval(low, high, question.confidence, Covers.TABLE),
            noise=float(width),
            details=details,
        )

    return integers_mechanism("central.histogram", question, bought, interpret)


def labels_of(question: Question) -> tuple[str, ...]:
    """One label per cell, in the order of the flattened counts."""
    names = [key_labels(key) for key in question.keys.values()]
    return names[0] if len(names) == 1 else tuple(" / ".join(cell) for cell in product(*names))
