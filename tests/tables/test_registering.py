"""Registered tables: a version in the book, a keyed digest with the curator, nothing of a record anywhere else."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import bruit
from bruit.central.questions import Limit, Question, count
from bruit.errors import BadFile, InvalidArgument, PrivacyError
from bruit.ledger import page, statement
from bruit.tables import open_registered, register
from bruit.tables.schema import Schema, number, whole
from bruit.tables.versions.curator_file import CuratorFile

SCHEMA = Schema("id", {"id": whole(), "days": number(0, 60, grid=1)}, name="stays")


def book(store: str | None = None, *, name: str = "clinic", person: str = "id") -> bruit.Ledger:
    return bruit.Ledger(name, epsilon=9, neighbours=bruit.ADD_OR_REMOVE_ONE, person=person, store=store)


@pytest.fixture
def stays(tmp_path: Path) -> Path:
    path = tmp_path / "stays.csv"
    path.write_text("id,days\n1,3\n1,4\n2,5\n")
    return path


def counted(table: Any, ledger: bruit.Ledger) -> Any:
    asked = Question(table.plan, {"n": count()}, limit=Limit(rows=3))
    return asked.release(budget=ledger.budget(epsilon=1), rng=np.random.default_rng(1))


def test_versions_stand_in_the_book_and_in_each_entry(stays: Path, tmp_path: Path) -> None:
    ledger = book(f"sqlite:///{tmp_path / 'books.db'}")
    assert register(stays, SCHEMA, ledger=ledger).version == 1
    stays.write_text("id,days\n1,3\n3,60\n")
    assert register(stays, SCHEMA, ledger=ledger).version == 2
    again = open_registered(stays, SCHEMA, ledger=bruit.Ledger.open("clinic", ledger.book.store or ""))
    assert (again.name, again.version) == ("stays", 2)
    release = counted(again, ledger)
    assert release.details["asked"]["tables"] == [{"name": "stays", "schema": SCHEMA.digest, "version": 2}]
    assert ledger.spent.epsilon == 1
    described = statement(ledger)
    assert [entry["what"] for entry in described["entries"]] == ["tables.register"] * 2 + ["central.question"]
    asked = [entry["asked"] for entry in described["entries"]]
    assert asked[0] == "stays version 1"
    assert asked[2] == "rows of stays, of at most 3 rows of each person, chosen at random; stays version 2"
    assert "stays version 2" in page(described)


def test_no_digest_and_no_key_leave_the_curators_file(stays: Path) -> None:
    ledger = book()
    register(stays, SCHEMA, ledger=ledger)
    curator = CuratorFile.beside(stays)
    held = json.loads(curator.path.read_text())
    assert curator.path.stat().st_mode & 0o077 == 0
    public = (
        json.dumps(statement(ledger), default=str)
        + counted(open_registered(stays, SCHEMA, ledger=ledger), ledger).to_json()
    )
    for secret in (held["key"], held["versions"][0]["digest"]):
        assert secret not in public
    other = stays.with_name("copy.csv")
    other.write_bytes(stays.read_bytes())
    register(other, SCHEMA, ledger=book())
    assert (
        json.loads(CuratorFile.beside(other).path.read_text())["versions"][0]["digest"] != held["versions"][0]["digest"]
    )


def test_a_changed_content_is_noted_for_the_curator_and_never_refused(stays: Path) -> None:
    ledger = book()
    table = register(stays, SCHEMA, ledger=ledger)
    counted(table, ledger)
    assert CuratorFile.beside(stays).notes == []
    stays.write_text("id,days\n1,3\n1,4\n2,5\n9,9\n")
    release = counted(table, ledger)
    assert [note["what"] for note in CuratorFile.beside(stays).notes] == [
        "stays was read with another content than that of version 1"
    ]
    assert "another content" not in json.dumps(statement(ledger), default=str) + release.to_json()


def test_tables_inside_an_engine_carry_the_version_that_is_stated() -> None:
    ledger, frame = book(), pl.DataFrame({"id": [1], "days": [3]})
    assert register(frame, SCHEMA, ledger=ledger, version=7).version == 7
    for version in (7, 0, True):
        with pytest.raises(InvalidArgument, match="the next version is a whole number from 8"):
            register(frame, SCHEMA, ledger=ledger, version=version)


def test_what_does_not_belong_to_the_book_is_refused(stays: Path) -> None:
    ledger = book()
    with pytest.raises(PrivacyError, match="the rows of this table belong to 'id'"):
        register(stays, SCHEMA, ledger=book(person="patient"))
    with pytest.raises(InvalidArgument, match=r"no table 'stays' is registered in the book 'clinic'"):
        open_registered(stays, SCHEMA, ledger=ledger)
    table = register(stays, SCHEMA, ledger=ledger)
    other = book(name="other")
    with pytest.raises(PrivacyError, match="is registered in another book than 'other'"):
        counted(table, other)
    assert other.spent.epsilon == 0
    wider = Schema("id", {"id": whole(), "days": number(0, 90, grid=1)}, name="stays")
    with pytest.raises(InvalidArgument, match="was registered with another schema"):
        open_registered(stays, wider, ledger=ledger)
    CuratorFile.beside(stays).path.write_text("{}")
    with pytest.raises(BadFile, match="no curator's file"):
        CuratorFile.beside(stays).compare("stays", 1, [stays])
