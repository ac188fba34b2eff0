"""A book kept in memory, lost when its process ends."""

from __future__ import annotations

import os
from collections.abc import Iterator
from heapq import nlargest
from threading import Lock
from typing import Any
from uuid import uuid4

from bruit.errors import BudgetExceeded, LedgerError, TermsDiffer
from bruit.ledger.books.book import Written
from bruit.ledger.books.entries import SKEW, Place, Request, clock_went_back, loss_used_twice, microseconds
from bruit.ledger.books.units import NOTHING, Units
from bruit.ledger.pricing import capacity, refusal
from bruit.ledger.terms import Terms


class MemoryBook:
    """A book in memory; another process that tries to use it gets an error."""

    store: str | None = None

    def __init__(self, name: str, terms: Terms) -> None:
        self.name = name
        self.identity = uuid4().hex
        self.terms = terms
        self.limit = capacity(terms)
        self._total = NOTHING
        self._whole = NOTHING
        self._last = 0
        self._rows: list[dict[str, Any]] = []
        self._cells: dict[str, dict[str, Units]] = {}
        self._largest: dict[str, int] = {}
        self._lock = Lock()
        self._process = os.getpid()

    def write(self, request: Request) -> Written:
        """Writes a charge atomically, or raises BudgetExceeded and changes nothing."""
        self._require_own_process()
        require_not_negative(request.cost)
        with self._lock:
            now = microseconds()
            if now < self._last - SKEW:
                raise clock_went_back(now, self._last)
            if request.once and any(row["source"] == request.source for row in self._rows):
                raise loss_used_twice(request.source)
            added = require_not_negative(self._raise_cell(request.place, request.cost))
            total = self._total.plus(added)
            if not total.within(self.limit):
                left = self.limit.minus(self._total).plus(request.cost).minus(added)
                raise BudgetExceeded(refusal(self.terms, asked=request.cost, left=left, limit=self.limit))
            return self._append(request, total, max(now, self._last))

    def keep(self, number: int, release: str) -> None:
        """Stores a release in the entry that paid for it; a release already stored there is kept."""
        with self._lock:
            row = self._rows[number - 1]
            row["release"] = row["release"] or release

    def spent(self) -> Units:
        """The running total of all charges."""
        return self._total

    def spent_in(self, partition: str, cell: str) -> Units:
        """The running total of one cell, including what was charged to the whole data set."""
        return self._whole.plus(self._cells.get(partition, {}).get(cell, NOTHING))

    def declare(self, partition: str, largest: int) -> None:
        """Fixes for good the largest number of cells of a partition that one person can touch."""
        with self._lock:
            if self._largest.setdefault(partition, largest) != largest:
                raise partition_differs(partition, self._largest[partition], largest)

    def rows(self, *, after: int = 0) -> Iterator[dict[str, Any]]:
        """The entries whose number is above the given one, in order."""
        yield from list(self._rows[after:])

    def carried(self, source: str) -> Units:
        """The total charged here so far on behalf of another book."""
        found = [Units(row["cost"], row["cost_delta"]) for row in self._rows if row["source"] == source]
        return Units(sum(cost.main for cost in found), sum(cost.delta for cost in found))

    def _raise_cell(self, place: Place | None, cost: Units) -> Units:
        if place is None:
            return cost
        largest = self._largest.get(place.partition)
        if largest is None:
            raise unknown_partition(place.partition)
        cells = self._cells.get(place.partition, {})
        after = cells | {place.cell: cells.get(place.cell, NOTHING).plus(cost)}
        return _worst(after, largest).minus(_worst(cells, largest))

    def _append(self, request: Request, total: Units, at: int) -> Written:
        if request.place is not None:
            cells = self._cells.setdefault(request.place.partition, {})
            cells[request.place.cell] = cells.get(request.place.cell, NOTHING).plus(request.cost)
        else:
            self._whole = self._whole.plus(request.cost)
        self._total, self._last = total, at
        number = len(self._rows) + 1
        amounts = {"cost": request.cost.main, "cost_delta": request.cost.delta, "total": total.main}
        self._rows.append(
            {"number": number, "at": at, **request.texts(), **amounts, "total_delta": total.delta, "release": None}
        )
        return Written(number, total)

    def _require_own_process(self) -> None:
        if os.getpid() != self._process:
            raise LedgerError(
                f"the book {self.name!r} is in the memory of another process, which would not see this charge; "
                "give the book a store: Ledger(..., store='sqlite:///file.db')"
            )


def _worst(cells: dict[str, Units], largest: int) -> Units:
    """The most that one person in `largest` cells can have lost, in each measure by itself."""
    amounts = cells.values()
    return Units(
        sum(nlargest(largest, (amount.main for amount in amounts))),
        sum(nlargest(largest, (amount.delta for amount in amounts))),
    )


def require_not_negative(amount: Units) -> Units:
    """Returns the amount, or raises LedgerError where its epsilon (or rho) or its delta is negative."""
    if amount.main < 0 or amount.delta < 0:
        raise LedgerError("a charge must not be negative: what was spent never comes back; nothing was charged")
    return amount


def unknown_partition(partition: str) -> LedgerError:
    """The error for a charge to a cell of a partition that was never declared in this book."""
    return LedgerError(f"the partition {partition!r} was not declared: ledger.partition({partition!r}) declares it")


def partition_differs(partition: str, stands: int, asked: int) -> TermsDiffer:
    """The error for declaring a partition again with another number of cells per person."""
    return TermsDiffer(
        f"one person touches up to {stands} cells of the partition {partition!r}, asked was {asked}; "
        "declare it as it stands, or give the new partition another name"
    )
