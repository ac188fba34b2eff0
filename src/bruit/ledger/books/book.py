"""The interface of every book, in memory or in a database: charge, keep releases, running totals, partitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

from bruit.ledger.books.entries import Request
from bruit.ledger.books.units import Units
from bruit.ledger.terms import Terms


class Written(NamedTuple):
    """What a committed charge returns: its entry's number and time, and the running total after it."""

    number: int
    total: Units


class Book(Protocol):
    """The interface of a stored budget, in memory or in a database; callers use it through `Ledger`."""

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
        """The entries whose number is above the given one, in order."""

    def carried(self, source: str) -> Units:
        """The total so far charged here on behalf of another book."""
