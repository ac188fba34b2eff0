"""Any function of a table with a small domain, answered by inverse sensitivity.

    length(x, t) = the least number of records that come, go or are exchanged before the function of the table is t
    Pr[t] ~ exp(-epsilon length(x, t) / (2 D))                                     [Asi & Duchi 2020; SPEC S3.4]
One record moves every length by at most one, whatever the function is; lengths are cut at a public `reach`.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from math import factorial
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.central.asking import asked
from bruit.central.paying import equal_part, pay, require_price
from bruit.central.ranks.records import Person, person_of
from bruit.central.selection import by_rejection
from bruit.errors import InvalidArgument
from bruit.ledger import Budget
from bruit.privacy import REPLACE_ONE, Assumption, Pure, Release
from bruit.tables import Among, Column, draw_key
from bruit.tables.exact import tally

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
    """One of the declared outcomes of a function, the likelier the fewer records would have to change for it.

    `function` is given how many records have each value of the domain. It is asked about every table within `reach`
    changes; a table for which it fails, or gives an outcome that was not declared, counts for no outcome. Where the
    size is public, as in `quantiles`, only tables of that size are looked at.
    """
    price = require_price(budget, column.table, "central.inverse_sensitivity")
    person = _person(column, price, public_size=public_size)
    _check(outcomes, reach, column.domain.size, person)
    epsilon = equal_part(price, 1, "central.inverse_sensitivity")
    assumes = (Assumption.PUBLIC_SIZE,) if person.fixed_size else ()
    loss = Pure(epsilon, neighbours=price.neighbours)
    charge, source = pay(price, loss, what="central.inverse_sensitivity", rng=rng, assumes=assumes)
    counts = dense_counts(column, rng=source)
    away = lengths(counts, function, outcomes, reach=reach, exchange=person.fixed_size)
    moves = 1 if person.fixed_size else person.moves
    chosen = outcomes[by_rejection(-away, epsilon / (2 * moves), source)]
    details = asked(column.table, column)
    return charge.finish(
        Release(value=chosen, guarantee=charge.guarantee, method="inverse sensitivity", details=details)
    )


def dense_counts(column: Column, *, rng: np.random.Generator) -> Counts:
    """How many records have each value of the domain."""
    integers, counts = tally(column, key=draw_key(rng))
    dense = np.zeros(column.domain.size, np.int64)
    dense[integers - column.domain.lowest] = counts
    return tuple(dense.tolist())


def lengths(
    counts: Counts, function: Function[T], outcomes: Sequence[T], *, reach: int, exchange: bool
) -> NDArray[np.int64]:
    """The length of each outcome, at most `reach` + 1, by looking at all tables within the reach, nearest first."""
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


def _person(column: Column, price: Budget, *, public_size: bool) -> Person:
    if isinstance(column.domain, Among) and not public_size:
        return Person(column.table.bounds[1], price.neighbours is REPLACE_ONE, fixed_size=False)
    return person_of(column, price.neighbours, public_size=public_size, a_part=price.covers_a_part)


def _check(outcomes: Sequence[Hashable], reach: int, size: int, person: Person) -> None:
    if not outcomes or len(set(outcomes)) < len(outcomes):
        raise InvalidArgument("outcomes= must list at least one value, each once, known before seeing the data")
    if isinstance(reach, bool) or not isinstance(reach, int) or reach < 1:
        raise InvalidArgument(f"reach={reach!r} must be a whole number, at least 1")
    ways = size * (size - 1) if person.fixed_size else 2 * size
    if ways**reach // factorial(reach) > MOST_TABLES:
        raise InvalidArgument(
            f"a domain of {size} values has too many tables within reach={reach}; at most {MOST_TABLES} are looked at: "
            "use a coarser grid or a shorter reach"
        )
