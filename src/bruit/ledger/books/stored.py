"""A book in SQLite or PostgreSQL."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

from sqlalchemy import Column, Connection, Engine, Table, and_, func, insert, select, update
from sqlalchemy.dialects import postgresql, sqlite

from bruit.errors import BudgetExceeded, LedgerError, UnknownLedger
from bruit.ledger.books.book import Written
from bruit.ledger.books.entries import (
    SKEW,
    Place,
    Request,
    clock_went_back,
    loss_used_twice,
    microseconds,
    restored_book,
)
from bruit.ledger.books.memory import partition_differs, require_not_negative, unknown_partition
from bruit.ledger.books.sql_tables import books, cells, entries, partitions, prepare_tables, restored
from bruit.ledger.books.units import NOTHING, Units
from bruit.ledger.pricing import ACCOUNTANT, capacity, refusal
from bruit.ledger.terms import Terms, terms_from_json
from bruit.storage import absolute, connect, exists, reading, writing

PAGE = 1000
"""Entries read at once."""


class StoredBook:
    """A book in a database; each charge is one transaction that commits only if the charge fits the budget."""

    def __init__(self, name: str, identity: str, terms: Terms, store: str, limit: Units) -> None:
        self.name = name
        self.identity = identity
        self.terms = terms
        self.store: str | None = store
        self._address = store
        self.limit = limit

    def write(self, request: Request) -> Written:
        """Writes a charge atomically, or raises BudgetExceeded and changes nothing."""
        with writing(connect(self._address)) as connection:
            self._require_complete(connection)
            return self._enter(connection, request)

    def resume(self, request: Request) -> Written:
        """Charges for entries that a restored backup may lack, and accepts charges again, atomically."""
        with writing(connect(self._address)) as connection:
            if not connection.execute(restored.delete().where(restored.c.book == self.identity)).rowcount:
                raise LedgerError(f"the book {self.name!r} was not restored from a backup: there is nothing to settle")
            return self._enter(connection, request)

    def repair_clock(self, request: Request) -> Written:
        """Resets a last date that a wrong clock set in the future, and enters this repair, atomically."""
        now = microseconds()
        with writing(connect(self._address)) as connection:
            if self._running_total(connection)[1] <= now + SKEW:
                raise LedgerError(f"the last entry of {self.name!r} is not in the future: there is nothing to repair")
            connection.execute(update(books).where(books.c.identity == self.identity).values(last=now))
            return self._enter(connection, request)

    def _require_complete(self, connection: Connection) -> None:
        found = connection.execute(select(restored.c.at).where(restored.c.book == self.identity)).scalar()
        if found is not None:
            raise restored_book(self.name, int(found))

    def _enter(self, connection: Connection, request: Request) -> Written:
        """Raises the totals and writes the entry, inside the caller's transaction."""
        added = require_not_negative(request.cost)
        if not added.within(self.limit):  # it may be beyond the 64 bits of the database
            raise self._refusal(connection, added, added, microseconds())
        if request.place is not None:
            self._lock(connection)
            added = require_not_negative(self._raise_cell(connection, request.place, request.cost))
        number, total, at = self._raise_total(connection, request, added)
        if request.once:  # the book's row is locked by now, so nobody else can be drawing
            self._require_first(connection, request.source)
        row = {
            **request.texts(),
            "book": self.identity,
            "number": number,
            "at": at,
            "cost": request.cost.main,
            "cost_delta": request.cost.delta,
            "total": total.main,
            "total_delta": total.delta,
        }
        connection.execute(insert(entries).values(row))
        return Written(number, total)

    def keep(self, number: int, release: str) -> None:
        """Stores a release in the entry that paid for it; a release already stored there is kept."""
        line = and_(entries.c.book == self.identity, entries.c.number == number, entries.c.release.is_(None))
        with writing(connect(self._address)) as connection:
            connection.execute(update(entries).where(line).values(release=release))

    def spent(self) -> Units:
        """The running total of all charges."""
        with reading(connect(self._address)) as connection:
            return self._running_total(connection)[0]

    def spent_in(self, partition: str, cell: str) -> Units:
        """The running total of one cell, including what was charged to the whole data set."""
        line = and_(cells.c.book == self.identity, cells.c.partition == partition, cells.c.cell == cell)
        everyone = select(books.c.whole, books.c.whole_delta).where(books.c.identity == self.identity)
        with reading(connect(self._address)) as connection:
            found = connection.execute(select(cells.c.total, cells.c.total_delta).where(line)).first()
            whole = Units(*connection.execute(everyone).one())
        return whole if found is None else whole.plus(Units(*found))

    def declare(self, partition: str, largest: int) -> None:
        """Fixes for good the largest number of cells of a partition that one person can touch."""
        row = {"book": self.identity, "partition": partition, "largest": largest, "worst": 0, "worst_delta": 0}
        with writing(connect(self._address)) as connection:
            connection.execute(_insert(connection, partitions).values(row).on_conflict_do_nothing())
            stands = connection.execute(select(partitions.c.largest).where(self._partition(partition))).scalar_one()
        if stands != largest:
            raise partition_differs(partition, stands, largest)

    def rows(self, *, after: int = 0) -> Iterator[dict[str, Any]]:
        """The entries whose number is above the given one, in order."""
        while True:
            wanted = select(entries).where(entries.c.book == self.identity, entries.c.number > after)
            with reading(connect(self._address)) as connection:
                found = connection.execute(wanted.order_by(entries.c.number).limit(PAGE)).mappings().all()
            yield from map(dict, found)
            if len(found) < PAGE:
                return
            after = found[-1]["number"]

    def carried(self, source: str) -> Units:
        """The total charged here so far on behalf of another book."""
        sums = select(func.coalesce(func.sum(entries.c.cost), 0), func.coalesce(func.sum(entries.c.cost_delta), 0))
        wanted = sums.where(entries.c.book == self.identity, entries.c.source == source)
        with reading(connect(self._address)) as connection:
            main, delta = connection.execute(wanted).one()
        return Units(int(main), int(delta))

    def _raise_total(self, connection: Connection, request: Request, added: Units) -> tuple[int, Units, int]:
        now = microseconds()
        whole = added if request.place is None else NOTHING
        room = self.limit.minus(added)
        fits = and_(
            books.c.identity == self.identity,
            books.c.total <= room.main,
            books.c.total_delta <= room.delta,
            books.c.last <= now + SKEW,
        )
        later = func.max(books.c.last, now) if connection.dialect.name == "sqlite" else func.greatest(books.c.last, now)
        raised = {
            "total": books.c.total + added.main,
            "total_delta": books.c.total_delta + added.delta,
            "whole": books.c.whole + whole.main,
            "whole_delta": books.c.whole_delta + whole.delta,
            "charges": books.c.charges + 1,
            "last": later,
        }
        written = (books.c.charges, books.c.total, books.c.total_delta, books.c.last)
        row = connection.execute(update(books).where(fits).values(raised).returning(*written)).first()
        if row is None:
            raise self._refusal(connection, request.cost, added, now)
        number, total, delta, at = row
        return number, Units(total, delta), at

    def _refusal(self, connection: Connection, cost: Units, added: Units, now: int) -> Exception:
        spent, last = self._running_total(connection)
        if last > now + SKEW:
            return clock_went_back(now, last)
        left = self.limit.minus(spent).plus(cost).minus(added)
        return BudgetExceeded(refusal(self.terms, asked=cost, left=left, limit=self.limit))

    def _require_first(self, connection: Connection, source: str | None) -> None:
        same = and_(entries.c.book == self.identity, entries.c.source == source)
        if connection.execute(select(entries.c.number).where(same)).first() is not None:
            raise loss_used_twice(source)

    def _running_total(self, connection: Connection) -> tuple[Units, int]:
        wanted = select(books.c.total, books.c.total_delta, books.c.last).where(books.c.identity == self.identity)
        found = connection.execute(wanted).first()
        if found is None:
            raise LedgerError(f"the book {self.name!r} was removed from its store; open or create it again")
        total, delta, last = found
        return Units(total, delta), last

    def _lock(self, connection: Connection) -> None:
        connection.execute(select(books.c.identity).where(books.c.identity == self.identity).with_for_update())

    def _raise_cell(self, connection: Connection, place: Place, cost: Units) -> Units:
        """Adds a cost to one cell and returns by how much that raises the worst total of one person."""
        row = {"book": self.identity, "partition": place.partition, "cell": place.cell}
        new = _insert(connection, cells).values({**row, "total": cost.main, "total_delta": cost.delta})
        sums = {
            "total": cells.c.total + new.excluded.total,
            "total_delta": cells.c.total_delta + new.excluded.total_delta,
        }
        connection.execute(new.on_conflict_do_update(index_elements=list(row), set_=sums))
        this = self._partition(place.partition)
        declared = select(partitions.c.largest, partitions.c.worst, partitions.c.worst_delta).where(this)
        found = connection.execute(declared).first()
        if found is None:
            raise unknown_partition(place.partition)
        largest, before = found[0], Units(*found[1:])
        sums_of = (cells.c.total, cells.c.total_delta)
        worst = Units(*(self._largest(connection, place.partition, largest, column) for column in sums_of))
        connection.execute(update(partitions).where(this).values(worst=worst.main, worst_delta=worst.delta))
        return worst.minus(before)

    def _largest(self, connection: Connection, partition: str, largest: int, column: Column[int]) -> int:
        these = and_(cells.c.book == self.identity, cells.c.partition == partition)
        return sum(connection.execute(select(column).where(these).order_by(column.desc()).limit(largest)).scalars())

    def _partition(self, partition: str) -> Any:
        return and_(partitions.c.book == self.identity, partitions.c.partition == partition)


def create(name: str, terms: Terms, store: str) -> StoredBook:
    """Opens the book of that name, or creates it on these terms if there is none."""
    address = absolute(store)
    engine = connect(address)
    prepare_tables(engine)
    limit, now = capacity(terms), microseconds()
    row = {
        "identity": uuid4().hex,
        "name": name,
        "terms": json.dumps(terms.to_json(), ensure_ascii=False),
        "created": now,
        "accountant": ACCOUNTANT,
        "capacity": limit.main,
        "capacity_delta": limit.delta,
        "total": 0,
        "total_delta": 0,
        "whole": 0,
        "whole_delta": 0,
        "charges": 0,
        "last": now,
    }
    with writing(engine) as connection:
        connection.execute(_insert(connection, books).values(row).on_conflict_do_nothing(index_elements=["name"]))
    return find(name, address)


def names(store: str) -> tuple[str, ...]:
    """The names of the books in a store, sorted."""
    with reading(_existing_engine(absolute(store))) as connection:
        return tuple(connection.execute(select(books.c.name).order_by(books.c.name)).scalars())


def mark_restored(store: str, at: int) -> tuple[str, ...]:
    """Makes every book of a store refuse charges after a restore from a backup made at `at`; returns their names."""
    with writing(_existing_engine(absolute(store))) as connection:
        connection.execute(restored.delete())
        found = connection.execute(select(books.c.identity, books.c.name).order_by(books.c.name)).all()
        if found:
            connection.execute(restored.insert(), [{"book": identity, "at": at * 10**6} for identity, _ in found])
    return tuple(name for _, name in found)


def find(name: str, store: str) -> StoredBook:
    """Opens the book of that name, or raises UnknownLedger."""
    address = absolute(store)
    with reading(_existing_engine(address)) as connection:
        row = connection.execute(select(books).where(books.c.name == name)).mappings().first()
    if row is None:
        known = ", ".join(map(repr, names(store)[:20])) or "none"
        raise UnknownLedger(f"no book {name!r} here; the books are: {known}")
    limit = Units(row["capacity"], row["capacity_delta"])
    return StoredBook(name, row["identity"], terms_from_json(json.loads(row["terms"])), address, limit)


def _existing_engine(address: str) -> Engine:
    if not exists(address):
        raise UnknownLedger(
            "there is no database at this address yet: make a book with `bruit ledger create` or "
            "Ledger(name, ..., store=...), or name the database that has it"
        )
    engine = connect(address)
    prepare_tables(engine)
    return engine


def _insert(connection: Connection, table: Table) -> Any:
    dialect = sqlite if connection.dialect.name == "sqlite" else postgresql
    return dialect.insert(table)
