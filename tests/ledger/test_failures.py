"""A full disk, a read-only file, a lost connection, a clock that goes back: refused in words, nothing uncharged."""

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from postgres import Server
from sqlalchemy import event

from bruit.errors import InvalidArgument, SchemaTooNew, StorageError
from bruit.ledger import Charge, Ledger
from bruit.ledger.books.entries import SKEW, microseconds
from bruit.privacy import ADD_OR_REMOVE_ONE, Pure
from bruit.storage import connect, writing

LOSS = Pure(0.001, neighbours=ADD_OR_REMOVE_ONE)


def book(store: str, epsilon: int = 100) -> Ledger:
    return Ledger("payroll", epsilon=epsilon, neighbours=ADD_OR_REMOVE_ONE, person="id", store=store)


def charge(ledger: Ledger) -> Charge:
    return ledger.budget(LOSS).charge(LOSS, what="count")


def assert_whole(ledger: Ledger, at_least: int) -> None:
    """Everything granted stands, and the running total is the sum of the entries."""
    entries = ledger.entries
    assert len(entries) >= at_least
    assert ledger.spent.epsilon == sum(line.cost.exact[0] for line in entries)


def test_a_full_database_refuses_and_keeps_what_it_has(tmp_path: Path) -> None:
    ledger = book(f"sqlite:///{tmp_path}/b.db")
    charge(ledger)
    engine = connect(ledger.book.store)
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()

    def shrink(connection: Any, _record: Any) -> None:
        connection.execute(f"PRAGMA max_page_count = {pages + 2}")

    event.listen(engine, "connect", shrink)
    engine.dispose()
    granted = 1
    with pytest.raises(StorageError, match="full"):
        for _ in range(1000):
            charge(ledger)
            granted += 1
    assert len(ledger.entries) == granted
    assert_whole(ledger, granted)
    event.remove(engine, "connect", shrink)
    engine.dispose()
    charge(ledger)
    assert_whole(ledger, granted + 1)


LIMITED = """
import resource, sys
from bruit.errors import StorageError
from bruit.ledger import Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, Pure
ledger = Ledger.open("payroll", sys.argv[1])
resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
loss, granted = Pure(0.001, neighbours=ADD_OR_REMOVE_ONE), 0
try:
    for _ in range(1000):
        ledger.budget(loss).charge(loss, what="count")
        granted += 1
except StorageError:
    print(granted)
"""


def test_a_disk_that_takes_no_more_refuses_and_keeps_what_it_has(tmp_path: Path) -> None:
    ledger = book(f"sqlite:///{tmp_path}/b.db")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, ledger.book.store], check=True, capture_output=True, text=True
    )
    granted = int(done.stdout)
    assert 0 < granted < 1000
    assert len(ledger.entries) == granted
    assert_whole(ledger, granted)


def test_a_read_only_file_can_be_read_and_refuses_charges(tmp_path: Path) -> None:
    ledger = book(f"sqlite:///{tmp_path}/b.db")
    charge(ledger)
    reader = Ledger.open("payroll", f"sqlite:///file:{tmp_path}/b.db?mode=ro&uri=true")
    assert reader.spent == ledger.spent
    with pytest.raises(StorageError, match="readonly"):
        charge(reader)
    assert len(ledger.entries) == 1


@pytest.mark.service
@pytest.mark.xdist_group("postgres")
def test_a_read_only_connection_refuses_charges(postgres: Server) -> None:
    store = postgres.database()
    ledger = book(store)
    charge(ledger)
    reader = Ledger.open("payroll", store + "%20-cdefault_transaction_read_only%3Don")
    with pytest.raises(StorageError, match="read-only"):
        charge(reader)
    assert reader.entries == ledger.entries


@pytest.mark.service
@pytest.mark.xdist_group("postgres")
def test_a_lost_connection_refuses_and_a_new_one_goes_on(postgres: Server) -> None:
    ledger = book(postgres.database())
    charge(ledger)
    engine = connect(ledger.book.store)

    def lose(connection: Any) -> None:
        """Just before the commit, the server ends this connection."""
        process = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar()
        postgres.sql(f"SELECT pg_terminate_backend({process})")

    event.listen(engine, "commit", lose)
    with pytest.raises(StorageError):
        charge(ledger)
    event.remove(engine, "commit", lose)
    assert len(ledger.entries) == 1
    charge(ledger)
    assert_whole(ledger, 2)


@pytest.mark.service
@pytest.mark.xdist_group("postgres")
def test_a_server_that_is_away_refuses_and_goes_on_when_it_is_back(postgres: Server) -> None:
    ledger = book(postgres.database())
    charge(ledger)
    postgres.stop()
    try:
        with pytest.raises(StorageError, match="cannot be used"):
            charge(ledger)
    finally:
        postgres.start()
    charge(ledger)
    assert len(ledger.entries) == 2


def test_a_clock_that_went_back_is_refused_and_a_small_difference_is_not(
    new: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    ledger = new()
    charge(ledger)
    first = ledger.entries[0].when
    real = microseconds
    for module in ("memory", "stored"):
        monkeypatch.setattr(f"bruit.ledger.books.{module}.microseconds", lambda: real() - SKEW // 2)
    charge(ledger)
    assert ledger.entries[1].when >= first
    for module in ("memory", "stored"):
        monkeypatch.setattr(f"bruit.ledger.books.{module}.microseconds", lambda: real() - 2 * SKEW)
    with pytest.raises(StorageError, match="clock"):
        charge(ledger)
    assert ledger.spent.epsilon == Fraction(2, 1000)


def test_a_book_of_a_later_version_is_refused(store: str) -> None:
    ledger = book(store)
    with writing(connect(store)) as connection:
        connection.exec_driver_sql("UPDATE bruit_schema SET number = 99 WHERE part = 'ledger'")
    with pytest.raises(SchemaTooNew, match="99"):
        Ledger.open("payroll", store)
    with pytest.raises(SchemaTooNew, match="99"):
        book(ledger.book.store)


def test_what_is_no_database_is_said_to_be_none(tmp_path: Path) -> None:
    (tmp_path / "b.db").write_text("not a database, but long enough to be looked at " * 100)
    with pytest.raises(StorageError, match="not a database"):
        book(f"sqlite:///{tmp_path}/b.db")
    with pytest.raises(StorageError, match="cannot be used"):
        book(f"sqlite:///{tmp_path}/no/such/folder/b.db")
    for wrong in ("mysql://host/name", "b.db", "sqlite://", "sqlite:///:memory:"):
        with pytest.raises(InvalidArgument):
            book(wrong)


def test_a_password_is_never_shown() -> None:
    with pytest.raises(StorageError) as caught:
        book("postgresql+psycopg://ada:s3cret@127.0.0.1:1/none")
    assert "s3cret" not in str(caught.value)
