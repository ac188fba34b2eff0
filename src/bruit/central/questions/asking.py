"""A question as a value: a plan, group keys, measures, one limit per person and one confidence.

It knows its sensitivities, its words and its preview from public numbers alone. One charge pays for all its measures,
and all of them are computed on one choice of rows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bruit.central.questions.levels import Level, levels_of
from bruit.central.questions.measures import Measure
from bruit.central.questions.pricing import WHAT, Prepared
from bruit.central.questions.public_sizes import check_public_size
from bruit.central.questions.sensitivities import Sensitivity, sensitivity
from bruit.core.arguments import confidence as checked_confidence
from bruit.core.guarantee import Assumption
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE, Neighbours
from bruit.core.release import Release
from bruit.errors import InvalidArgument, PrivacyError
from bruit.ledger import Budget, Ledger, ask
from bruit.tables.choice.limits import Limit
from bruit.tables.plan.expressions import Expression
from bruit.tables.plan.operators import Plan
from bruit.tables.plan.parts import holds_across_versions, place_of
from bruit.tables.plan.reading import Part, Reader, group_key


@dataclass(frozen=True, eq=False)
class Question:
    """A query for `measures` (by name) of the rows of a plan, in each group of the `keys`.

    >>> import bruit, polars
    >>> from bruit.central.questions import Limit, Question, count, mean
    >>> from bruit.tables.schema import Schema, category, number, whole
    >>> columns = {"id": whole(), "ward": category(["A", "B"]), "days": number(0, 60, grid=1)}
    >>> stays = bruit.tables.plan.operators.open_table(
    ...     polars.DataFrame({"id": [1, 1, 2], "ward": ["A", "B", "A"], "days": [3, 9, 5]}), Schema("id", columns)
    ... )
    >>> Question(stays, {"n": count(), "days": mean(stays["days"])}, {"ward": stays["ward"]}, Limit(rows=2)).words
    'rows, mean of days of table by ward, of at most 2 rows of each person, chosen at random'
    """

    plan: Plan
    measures: Mapping[str, Measure]
    keys: Mapping[str, Expression] = field(default_factory=dict)
    limit: Limit | None = None
    confidence: float = 0.95
    noise: str | None = None
    levels: Sequence[Sequence[str]] | None = None
    """Sets of keys to group by, such as rollup("ward", "sex"); each is paid for. Without them, all keys together."""

    size: int | None = None
    """The number of rows where it is public, which spares a mean its count: only under replacement of single rows."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "confidence", checked_confidence(self.confidence))
        if not self.measures or not all(isinstance(each, Measure) for each in self.measures.values()):
            raise InvalidArgument("a question needs at least one measure, such as {'n': count()}")
        object.__setattr__(self, "keys", {name: group_key(key) for name, key in self.keys.items()})
        self.reader  # noqa: B018  whatever cannot be read is refused here
        for level in self.levels_asked:
            level.labels  # noqa: B018  and so is a key without labels
        if self.size is not None:
            check_public_size(self)

    @property
    def reader(self) -> Reader:
        """The reader of the exact integers; where groups are discovered, their numbers of people come first."""
        people = (Part("people"),) if self.is_found else ()
        parts = tuple(part for each in self.measures.values() for part in self.parts_of(each))
        return Reader(self.plan, tuple(self.keys.values()), (*people, *parts), self.limit)

    def parts_of(self, measure: Measure) -> tuple[Part, ...]:
        """The exact integers that a measure needs; a mean over a public number of rows needs one sum only."""
        return measure.parts if self.size is None else measure.parts_of_known_size

    @cached_property
    def levels_asked(self) -> tuple[Level, ...]:
        """The levels (sets of keys) that the question answers."""
        return levels_of(self.keys, self.levels)

    @property
    def is_found(self) -> bool:
        """Whether some groups are discovered in the data rather than declared."""
        return any(level.found for level in self.levels_asked)

    @property
    def groups(self) -> int | None:
        """The number of groups that the declared keys make; None where some keys are discovered."""
        return levels_of(self.keys, None)[0].groups

    @property
    def assumes(self) -> tuple[Assumption, ...]:
        """The assumptions of the question's guarantee."""
        return (*((Assumption.PUBLIC_SIZE,) if self.size is not None else ()), *assumed_of(self.plan))

    @property
    def words(self) -> str:
        """The question in plain English."""
        asked = ", ".join(measure.words for measure in self.measures.values())
        by = f" by {', '.join(key.words for key in self.keys.values())}" if self.keys else ""
        if self.levels is not None:
            sets = (" and ".join(self.keys[name].words for name in level.names) for level in self.levels_asked)
            by = f" by {', by '.join(each or 'nothing, all together' for each in sets)}"
        return f"{asked} of {self.plan.words}{by}" + ("" if self.limit is None else f", of {self.limit}")

    @property
    def digest(self) -> str:
        """A SHA-256 digest of the public question; equal questions on equal schemas share it."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    def to_json(self) -> dict[str, Any]:
        """The public part of the question, in JSON types."""
        return {
            "words": self.words,
            "measures": {name: measure.words for name, measure in self.measures.items()},
            "keys": {name: key.words for name, key in self.keys.items()},
            "limit": None if self.limit is None else self.limit.to_json(),
            "confidence": self.confidence,
            "noise": self.noise,
            "levels": None if self.levels is None else [list(level.names) for level in self.levels_asked],
            "size": self.size,
            "person": self.plan.person,
            "tables": [leaf.to_json() for leaf in self.plan.leaves],
        }

    def sensitivity(self, name: str, neighbours: Neighbours, level: Level | None = None) -> Sensitivity:
        """The sensitivity of a measure's exact integers to one person, over the groups of all keys or of a level."""
        measure = self.measures[name]
        row = measure.range_of_a_row if self.size is None else measure.range_of_known_size
        groups, coarser = (self.groups, False) if level is None else (level.groups, level.coarser)
        return sensitivity(row, self.limit, groups=groups, neighbours=neighbours, coarser=coarser)

    def require_public_size(self, price: Budget) -> None:
        """Refuses a public `size` where a replaced row could change the number of rows."""
        if self.size is not None and (price.neighbours is not REPLACE_ONE or price.covers_a_part):
            raise InvalidArgument(
                "size=...: the number of rows is public only where rows are replaced, and not in a part: leave size out"
            )

    def release(self, *, budget: Budget | None, rng: np.random.Generator | None = None) -> Release[Any]:
        """Charges once, reads once, and releases every measure of every group with its interval."""
        purchase = ask(budget, what=WHAT, person=self.plan.person, rng=rng)
        require_own_book(self.plan, purchase.price)
        bought = Prepared.of(self, purchase.price)
        charge = bought.pay(purchase)
        source = charge.generator()
        return charge.finish(bought.interpret(bought.send(bought.read(source), source)))


def assumed_of(plan: Plan) -> tuple[Assumption, ...]:
    """What a guarantee takes for granted of the tables that a plan reads or looks values up in."""
    assumed = {
        Assumption.SAME_CONTENT: place_of(plan.step) is not None and not holds_across_versions(plan.step),
        Assumption.PUBLIC_TABLES: plan.looks_up,
    }
    return tuple(name for name, holds in assumed.items() if holds)


def require_own_tables(plan: Plan, ledger: Ledger) -> None:
    """Refuses tables that are registered in another ledger."""
    for leaf in plan.leaves:
        known = leaf.registration
        if known is not None and known.book != ledger.book.identity:
            raise PrivacyError(
                f"{known.table!r} is registered in another book than {ledger.name!r}, whose people it would not "
                "charge: pay from its own book"
            )


def require_own_book(plan: Plan, price: Budget) -> None:
    """Refuses a budget of another ledger than the tables', or of a partition cell that some rows may not belong to."""
    require_own_tables(plan, price.ledger)
    place, found = price.place, place_of(plan.step)
    times = 1 if price.neighbours is ADD_OR_REMOVE_ONE else 2
    if place is not None and (
        found is None or found[:2] != (place.partition, place.cell) or place.largest < found[2] * times
    ):
        raise PrivacyError(
            f"the price is of the cell {place.cell!r} of {place.partition!r}, but some row may come from elsewhere: "
            "start from that part, as the left side of every join, or pay for the whole"
        )
