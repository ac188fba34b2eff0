"""Private selection of one declared candidate by a score."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.central.caller_functions import Answers, read_numbers, try_on_no_rows
from bruit.central.column_questions import ANSWER, question_about
from bruit.central.questions import measures
from bruit.channels import Choice, Exponential, PermuteAndFlip
from bruit.core.arguments import whole
from bruit.core.losses import Pure
from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.core.release import Outcome, Release
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, ask
from bruit.mechanisms import Mechanism, asked, buy_choice
from bruit.tables import Column, Table

C = TypeVar("C")
Scores = Answers
"""One whole number for each candidate, the larger the better; tried on no rows, then called once, after the charge."""

Whole = Sequence[int] | NDArray[np.integer]
"""Whole numbers, of any size where they are Python's."""


def exponential(
    table: Table,
    candidates: Sequence[C],
    scores: Scores,
    *,
    sensitivity: int,
    monotone: bool = False,
    budget: Budget | None,
    rng: np.random.Generator | None = None,
) -> Release[C]:
    """One candidate, with probability proportional to exp(epsilon * score / (2 sensitivity)).

    `monotone` says that one person moves every score in the same direction: the factor 2 is then not needed.
    The draw is exact: a uniform candidate is kept with probability exp(-epsilon * (best - score) / (2 sensitivity)).
    Scores that are no whole numbers are floored, and count as zero where they are no numbers at all.
                                                                             [McSherry & Talwar 2007, Thm 6]
    """
    purchase = ask(budget, what="central.exponential", person=table.person, rng=rng)
    mechanism = exponential_mechanism(
        table, candidates, scores, purchase.price, sensitivity=sensitivity, monotone=monotone
    )
    return mechanism.release(purchase)


def exponential_mechanism(
    table: Table, candidates: Sequence[C], scores: Scores, price: Budget, *, sensitivity: int, monotone: bool = False
) -> Mechanism[Whole, C]:
    """The exponential mechanism over a caller's scores, for a budget."""
    what = "central.exponential"
    choice = _choice(price, Exponential, candidates, sensitivity=sensitivity, monotone=monotone, what=what)
    read = _scores_reader(table, scores, candidates, what)
    return _mechanism(what, choice, price, candidates, read, "exponential mechanism")


def noisy_max(
    table: Table,
    candidates: Sequence[C],
    scores: Scores,
    *,
    sensitivity: int,
    monotone: bool = False,
    budget: Budget | None,
    rng: np.random.Generator | None = None,
) -> Release[C]:
    """The candidate of the largest noisy score, by permute-and-flip: never worse than the exponential mechanism.

    Candidates are met in random order; each is taken with probability exp(-epsilon * (best - score) / (2 sensitivity)).
                                                                             [McKenna & Sheldon 2020, Alg. 1]
    """
    purchase = ask(budget, what="central.noisy_max", person=table.person, rng=rng)
    mechanism = noisy_max_mechanism(
        table, candidates, scores, purchase.price, sensitivity=sensitivity, monotone=monotone
    )
    return mechanism.release(purchase)


def noisy_max_mechanism(
    table: Table, candidates: Sequence[C], scores: Scores, price: Budget, *, sensitivity: int, monotone: bool = False
) -> Mechanism[Whole, C]:
    """The permute-and-flip mechanism over a caller's scores, for a budget."""
    what = "central.noisy_max"
    choice = _choice(price, PermuteAndFlip, candidates, sensitivity=sensitivity, monotone=monotone, what=what)
    read = _scores_reader(table, scores, candidates, what)
    return _mechanism(what, choice, price, candidates, read, "permute-and-flip")


def most_common(column: Column, *, budget: Budget | None, rng: np.random.Generator | None = None) -> Release[str]:
    """The most frequent declared category, by permute-and-flip on the counts by category."""
    purchase = ask(budget, what="central.most_common", person=column.table.person, rng=rng)
    return most_common_mechanism(column, purchase.price).release(purchase)


def most_common_mechanism(column: Column, price: Budget) -> Mechanism[Whole, str]:
    """The mechanism of `most_common`: permute-and-flip on category counts, monotone under add-or-remove."""
    what, labels = "central.most_common", column.categories.labels
    monotone = price.neighbours is ADD_OR_REMOVE_ONE
    question = question_about(column.table, measures.count, by=(column,))
    moved, reader = question.sensitivity(ANSWER, price.neighbours).linf, question.reader
    choice = _choice(price, PermuteAndFlip, labels, sensitivity=moved, monotone=monotone, what=what)

    def read(rng: np.random.Generator) -> NDArray[np.int64]:
        return reader.read(rng).parts[0]

    details = asked(column.table, by=(column,))
    return _mechanism(what, choice, price, labels, read, "permute-and-flip", details)


def _choice(
    price: Budget, kind: type[Choice], candidates: Sequence[Any], *, sensitivity: int, monotone: bool, what: str
) -> Choice:
    moved = whole(sensitivity, "sensitivity", why="how far one person can move a score")
    if len(candidates) < 1:
        raise InvalidArgument(f"{what} needs at least one candidate, declared before seeing the data")
    return buy_choice(price, kind, sensitivity=moved, monotone=monotone, what=what)


def _scores_reader(
    table: Table, scores: Scores, candidates: Sequence[Any], what: str
) -> Callable[[np.random.Generator], Whole]:
    """How a caller's scores are read once they were tried on no rows."""
    try_on_no_rows(scores, table, numbers=len(candidates), what=what)
    return lambda _: read_numbers(scores, table, len(candidates))


def _mechanism(
    what: str,
    choice: Choice,
    price: Budget,
    candidates: Sequence[C],
    read: Callable[[np.random.Generator], Whole],
    method: str,
    details: dict[str, Any] | None = None,
) -> Mechanism[Whole, C]:
    def send(scores: Whole, n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        return np.array([[choice.send(scores, rng)] for _ in range(n)], np.int64)

    def interpret(row: NDArray[np.int64]) -> Outcome[C]:
        return Outcome(value=candidates[int(row[0])], method=method, details=details or {})

    return Mechanism(what, Pure(choice.epsilon, neighbours=price.neighbours), read, send, interpret)
