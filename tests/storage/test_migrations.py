"""Databases that older versions wrote are opened by this one, with everything in them: `schemas/<number>.sql`."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from bruit import ADD_OR_REMOVE_ONE, Ledger
from bruit.apps.web.polls.store import NewReport, Outcome, ReportStore, SessionStore
from bruit.apps.web.polls.store.tables import SCHEMA
from bruit.core.losses import Pure
from bruit.ledger.books import sql_tables
from bruit.storage import connect

SCHEMAS = sorted(Path(__file__).with_name("schemas").glob("*.sql"))


def test_every_older_schema_is_here() -> None:
    assert [int(path.stem) for path in SCHEMAS] == list(range(1, max(SCHEMA, sql_tables.SCHEMA)))


def load(dump: str, store: str) -> None:
    """Fills an empty database of either kind with what SQLite dumped."""
    if store.startswith("sqlite"):
        with closing(sqlite3.connect(store.removeprefix("sqlite:///"))) as old:
            old.executescript(dump)
        return
    with connect(store).begin() as connection:
        connection.exec_driver_sql(as_postgres(dump))


REFERRED = re.compile(r'\s*(CREATE TABLE|INSERT INTO) "?bruit_(books|polls)\b')
"""Statements on tables that others refer to, which PostgreSQL wants first."""


def as_postgres(dump: str) -> str:
    """The same tables and rows as PostgreSQL writes them: bytes, truth values, and no mention of row numbers."""
    inner = dump.replace("BEGIN TRANSACTION;", "").replace("COMMIT;", "").replace(" WITHOUT ROWID", "")
    inner = re.sub(r"X'([0-9A-Fa-f]*)'", r"'\\x\1'", inner.replace("BLOB", "BYTEA")).replace("BOOLEAN", "INTEGER")
    ordered = sorted(inner.split(";\n"), key=lambda statement: REFERRED.match(statement) is None)
    return ";\n".join([*ordered, "ALTER TABLE bruit_polls ALTER is_open TYPE BOOLEAN USING is_open::boolean"])


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_a_database_of_an_older_version_goes_on(path: Path, store: str) -> None:
    load(path.read_text(), store)
    reports = ReportStore(store)
    assert [poll.identity for poll in reports.all()] == ["abcdefghjk"]
    added = reports.add(
        [NewReport("abcdefghjk", 1, "cd" * 16, "0")], lambda _, before, new: (before[0] + len(new), b"")
    )
    assert added.outcomes == (Outcome.COUNTED,)
    assert [token[:2] for token, _ in reports.reports("abcdefghjk", 1)] == ["ab", "cd"]
    assert reports.counts("abcdefghjk", 1)[0] == 2
    assert SessionStore(store).all(0) == []
    book = Ledger.open("clinic", store)
    book.budget(epsilon="0.5").charge(Pure("0.5", neighbours=ADD_OR_REMOVE_ONE), what="central.sum")
    assert [entry.what for entry in book.entries] == ["central.count", "central.sum"]
    assert float(book.remaining.epsilon) == 0.25
