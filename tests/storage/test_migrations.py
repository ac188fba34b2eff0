"""Databases that older versions wrote are opened by this one, with everything in them: `schemas/<number>.sql`."""

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bruit import ADD_OR_REMOVE_ONE, Ledger
from bruit.apps.web.polls.store import NewReport, Outcome, ReportStore, SessionStore
from bruit.apps.web.polls.store.tables import SCHEMA
from bruit.core.losses import Pure
from bruit.ledger.books import sql_tables

SCHEMAS = sorted(Path(__file__).with_name("schemas").glob("*.sql"))


def test_every_older_schema_is_here() -> None:
    assert [int(path.stem) for path in SCHEMAS] == list(range(1, max(SCHEMA, sql_tables.SCHEMA)))


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_a_database_of_an_older_version_goes_on(path: Any, tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "old.db")) as old:
        old.executescript(path.read_text())
    url = f"sqlite:///{tmp_path}/old.db"
    reports = ReportStore(url)
    assert [poll.identity for poll in reports.all()] == ["abcdefghjk"]
    added = reports.add(
        [NewReport("abcdefghjk", 1, "cd" * 16, "0")], lambda _, before, new: (before[0] + len(new), b"")
    )
    assert added.outcomes == (Outcome.COUNTED,)
    assert [token[:2] for token, _ in reports.reports("abcdefghjk", 1)] == ["ab", "cd"]
    assert SessionStore(url).all(0) == []
    book = Ledger.open("clinic", url)
    book.budget(epsilon="0.5").charge(Pure("0.5", neighbours=ADD_OR_REMOVE_ONE), what="central.sum")
    assert [entry.what for entry in book.entries] == ["central.count", "central.sum"]
    assert float(book.remaining.epsilon) == 0.25
