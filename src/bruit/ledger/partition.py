"""Partitions of a data set into disjoint cells that are charged in parallel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from bruit.core.arguments import whole
from bruit.core.losses import Loss
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, LOCAL
from bruit.core.numbers import Exact
from bruit.errors import InvalidArgument, NeighboursDiffer
from bruit.ledger.books.entries import Place
from bruit.ledger.budget import Budget, make_budget
from bruit.ledger.pricing import Amount, amount

if TYPE_CHECKING:
    from bruit.ledger.ledger import Ledger

RESPONDENTS: Final = "respondents"
"""The partition of a LOCAL book into its people."""


@dataclass(frozen=True)
class Partition:
    """The cells of a data set that are charged apart; one person can touch at most `largest` of them."""

    ledger: Ledger
    name: str
    largest: int

    def budget(
        self,
        cell: str,
        loss: Loss | Sequence[Loss] | None = None,
        *,
        epsilon: Exact | None = None,
        delta: Exact | None = None,
        by: str | None = None,
    ) -> Budget:
        """A price charged to one cell only; what it buys may read the records of that cell only."""
        place = Place(self.name, _text(cell, "cell"), self.largest)
        return make_budget(self.ledger, loss, epsilon=epsilon, delta=delta, by=by, place=place)

    def spent(self, cell: str) -> Amount:
        """What was spent on somebody whose rows are in that cell alone: on the cell and on the whole data set."""
        return amount(self.ledger.book.spent_in(self.name, _text(cell, "cell")), self.ledger.terms)


def declare_partition(ledger: Ledger, name: str, cells: int) -> Partition:
    """Declares a partition of a book, or opens one declared before on the same terms."""
    cells = whole(cells, "cells", why="in how many cells a person can be")
    if _text(name, "name") == RESPONDENTS:
        raise InvalidArgument(f"the name {RESPONDENTS!r} is for the people of a LOCAL book: ledger.respondents")
    return _of(ledger, name, cells if ledger.neighbours is ADD_OR_REMOVE_ONE else 2 * cells)


def everybody(ledger: Ledger) -> Partition:
    """The partition of a LOCAL ledger that has one cell for each respondent."""
    if ledger.neighbours is not LOCAL:
        raise NeighboursDiffer(
            f"the book {ledger.name!r} is for {ledger.neighbours}: only a LOCAL book knows who answered; "
            "use ledger.partition(name) for cells of the data"
        )
    return _of(ledger, RESPONDENTS, 1)


def _of(ledger: Ledger, name: str, largest: int) -> Partition:
    ledger.book.declare(name, largest)
    return Partition(ledger, name, largest)


def _text(value: str, name: str) -> str:
    if not isinstance(value, str) or not value:
        raise InvalidArgument(f"{name}={value!r} must be a text that is not empty")
    return value
