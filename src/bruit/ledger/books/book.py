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
        """Writes a charge atomically, or raises BudgetExceeded and changes nothing."""

    def keep(self, number: int, release: str) -> None:
        """Stores a release in the entry that paid for it; a release already stored there is kept."""

    def spent(self) -> Units:
        """The running total of all charges."""

    def spent_in(self, partition: str, cell: str) -> Units:
        """The running total of one cell, including what was charged to the whole data set."""

    def declare(self, partition: str, largest: int) -> None:
        """Fixes for good the largest number of cells of a partition that one person can touch."""

    def rows(self, *, after: int = 0) -> Iterator[dict[str, Any]]:
        """The entries whose number is above the given one, in order."""

    def carried(self, source: str) -> Units:
        """The total charged here so far on behalf of another book."""
