"""Any function of a column with a small domain, by the inverse sensitivity mechanism.

    length(x, t) = the least number of records that come, go or are exchanged before the function of the table is t
    Pr[t] ~ exp(-epsilon length(x, t) / (2 D))                                     [Asi & Duchi 2020; docs/spec.md S3.4]
One record moves every length by at most one, whatever the function is; lengths are cut at a public `reach`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from math import factorial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.central.column_questions import question_about
from bruit.central.questions import measures
from bruit.central.ranks.records import Person, person_of
from bruit.channels import Exponential
from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption
from bruit.core.losses import Pure
from bruit.core.release import Outcome, Release
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, ask
from bruit.mechanisms import Mechanism, asked, part_of
from bruit.tables import Column

T = TypeVar("T", bound=Hashable)
Counts = tuple[int, ...]
Function = Callable[[NDArray[np.int64]], T]
"""A value for every table with so many records of each value of the domain; it must not look at anything else."""

MOST_TABLES = 10**6
"""The most tables that are looked at."""


def inverse_sensitivity(
    column: Column,
    function: Function[T],
    outcomes: Sequence[T],
    *,
    reach: int,
    budget: Budget | None,
    public_size: bool = False,
    rng: np.random.Generator | None = None,
) -> Release[T]:
    """One declared outcome of a function, more likely the fewer records must change for the function to give it.

    `function` is given how many records have each value of the domain. It is asked about every table within `reach`
    changes; a table for which it fails, or gives an outcome that was not declared, counts for no outcome. Where the
    size is public, as in `quantiles`, only tables of that size are looked at.
    """
    purchase = ask(budget, what="central.inverse_sensitivity", person=column.table.person, rng=rng)
    mechanism = inverse_sensitivity_mechanism(
        column, function, outcomes, purchase.price, reach=reach, public_size=public_size
    )
    return mechanism.release(purchase)


def inverse_sensitivity_mechanism(
    column: Column,
    function: Function[T],
    outcomes: Sequence[T],
    price: Budget,
    *,
    reach: int,
    public_size: bool = False,
) -> Mechanism[NDArray[np.int64], T]:
    """The mechanism of `inverse_sensitivity`: the exponential mechanism over each outcome's distance from the data."""
    what = "central.inverse_sensitivity"
    person = person_of(column, price, public_size=public_size)
    _check(outcomes, reach, column.domain.size, person)
    epsilon = part_of(price, 1, what)
    moves = 1 if person.fixed_size else person.moves
    choice = Exponential(epsilon / (2 * moves), moves)
    table, details = column.table.limit(rows=column.table.most_rows), asked(column.table, column)
    reader = question_about(table, measures.count, by=(column,)).reader

    def read(rng: np.random.Generator) -> NDArray[np.int64]:
        counts = tuple(reader.read(rng).parts[0].tolist())
        return -lengths(counts, function, outcomes, reach=reach, exchange=person.fixed_size)

    def send(scores: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[np.int64]:
        return np.array([[choice.send(scores, rng)] for _ in range(n)], np.int64)

    def interpret(row: NDArray[np.int64]) -> Outcome[T]:
        return Outcome(value=outcomes[int(row[0])], method="inverse sensitivity", details=details)

    assumes = (Assumption.PUBLIC_SIZE,) if person.fixed_size else ()
    return Mechanism(what, Pure(epsilon, neighbours=price.neighbours), read, send, interpret, assumes)


def lengths(
    counts: Counts, function: Function[T], outcomes: Sequence[T], *, reach: int, exchange: bool
) -> NDArray[np.int64]:
    """How many records must change for each outcome, at most `reach` + 1, by breadth-first search over tables."""
    found: dict[T, int] = {}
    seen, frontier = {counts}, [counts]
    for distance in range(reach + 1):
        for table in frontier:
            answer = _answer(function, table)
            if answer is not None:
                found.setdefault(answer[0], distance)
        frontier = list({near for table in frontier for near in _neighbours(table, exchange=exchange)} - seen)
        seen.update(frontier)
    return np.array([found.get(outcome, reach + 1) for outcome in outcomes], np.int64)


def _answer(function: Function[T], table: Counts) -> tuple[T] | None:
    """What the function says; whatever it raises is no answer, since an error would tell of the records."""
    try:
        answer = function(np.array(table, np.int64))
        hash(answer)
    except Exception:
        return None
    return (answer,)


def _neighbours(table: Counts, *, exchange: bool) -> Iterator[Counts]:
    """The tables one change away."""
    values = range(len(table))
    for one in values:
        if exchange:
            yield from (_moved(table, one, -1, other) for other in values if table[one] and other != one)
        else:
            yield _moved(table, one, 1)
            if table[one]:
                yield _moved(table, one, -1)


def _moved(table: Counts, place: int, by: int, other: int | None = None) -> Counts:
    changed = list(table)
    changed[place] += by
    if other is not None:
        changed[other] -= by
    return tuple(changed)


def _check(outcomes: Sequence[Hashable], reach: int, size: int, person: Person) -> None:
    if not outcomes or len(set(outcomes)) < len(outcomes):
        raise InvalidArgument("outcomes= must list at least one value, each once, known before seeing the data")
    whole(reach, "reach")
    ways = size * (size - 1) if person.fixed_size else 2 * size
    if ways**reach // factorial(reach) > MOST_TABLES:
        raise InvalidArgument(
            f"a domain of {size} values has too many tables within reach={reach}; at most {MOST_TABLES} are looked at: "
            "use a coarser grid or a shorter reach"
        )
