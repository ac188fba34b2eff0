"""What every kind of book does."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from bruit.ledger.entries import Request
from bruit.ledger.terms import Terms
from bruit.ledger.units import Units


class Written(NamedTuple):
    """The line under which a charge stands, and the running total after it."""

    number: int
    total: Units


class Book(Protocol):
    """The book of one data set; `Ledger` is its public door."""

    name: str
    identity: str
    terms: Terms
    store: str | None
    limit: Units

    def write(self, request: Request) -> Written:
        """Charges in one step, or raises BudgetExceeded and changes nothing."""

    def keep(self, number: int, release: str) -> None:
        """Keeps a release in the entry that paid for it; what is already there stays."""

    def spent(self) -> Units:
        """The running total."""

    def spent_in(self, partition: str, cell: str) -> Units:
        """The running total of one cell, with what was charged to the whole."""

    def declare(self, partition: str, largest: int) -> None:
        """Fixes how many cells of a partition one person can touch."""

    def rows(self, *, after: int = 0) -> Iterator[dict[str, Any]]:
        """The entries beyond a number, in their order."""

    def carried(self, source: str) -> Units:
        """What was charged on behalf of another book."""
