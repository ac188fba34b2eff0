"""The noisy number of rows of a table."""

import numpy as np

from bruit.central.column_questions import Integers, buy_answer, integers_mechanism, question_about
from bruit.central.questions import measures
from bruit.core.intervals import Covers, Interval
from bruit.core.release import Outcome, Release
from bruit.ledger import Budget, ask
from bruit.mechanisms import Mechanism, asked, table_of
from bruit.tables import Column, Table


def count(
    data: Table | Column,
    *,
    budget: Budget | None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Release[int]:
    """The noisy number of rows, in which each person counts at most as often as the table's limit says.

    Of a column those rows count that its domain keeps. Adding, removing or exchanging one person moves the count by at
    most that number of rows, under both relations.
    """
    purchase = ask(budget, what="central.count", person=table_of(data).person, rng=rng)
    return count_mechanism(data, purchase.price, confidence=confidence).release(purchase)


def count_mechanism(data: Table | Column, price: Budget, *, confidence: float = 0.95) -> Mechanism[Integers, int]:
    """The mechanism of `count`: the number of rows with the integer noise that a budget pays for."""
    table = table_of(data)
    if isinstance(data, Table):
        question = question_about(table, measures.count, confidence=confidence)
    else:
        question = question_about(table, measures.non_missing, data, confidence=confidence)
    bought = buy_answer(question, price)
    width = bought.noise.half_width(question.confidence)
    details = asked(table, *(() if isinstance(data, Table) else (data,)))

    def interpret(noisy: Integers) -> Outcome[int]:
        value = int(noisy[0, 0])
        low, high = (np.array(float(max(value + side, 0))) for side in (-width, width))
        return Outcome(
            value=value,
            method=type(bought.noise.loss).__name__,
            labels=("count",),
            interval=Interval(low, high, question.confidence, Covers.TABLE),
            noise=float(width),
            details=details,
        )

    return integers_mechanism("central.count", question, bought, interpret)
