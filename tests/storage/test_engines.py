"""One engine per process and address; WAL, full synchronisation, immediate transactions."""

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from bruit.errors import InvalidArgument, StorageError
from bruit.storage import absolute, connect, exists, reading, writing


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/a.db"


def test_one_engine_for_one_address_however_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert connect("sqlite:///a.db") is connect(url)
    assert absolute("sqlite:///a.db") == url
    assert connect(f"sqlite:///{tmp_path}/b.db") is not connect(url)


def test_a_forked_child_opens_its_own(url: str) -> None:
    engine = connect(url)
    child = os.fork()
    if child == 0:  # pragma: no cover
        os._exit(int(connect(url) is engine))
    assert os.waitpid(child, 0)[1] == 0


def test_sqlite_writes_ahead_and_waits_for_the_disk(url: str) -> None:
    with connect(url).connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar() == 1


def test_a_writer_takes_the_lock_at_its_start_and_readers_pass(url: str, tmp_path: Path) -> None:
    with writing(connect(url)) as connection:
        connection.exec_driver_sql("CREATE TABLE t (x INTEGER)")
    other = sqlite3.connect(tmp_path / "a.db", timeout=0, isolation_level=None)
    with writing(connect(url)):
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        with reading(connect(url)) as reader:
            assert reader.exec_driver_sql("SELECT count(*) FROM t").scalar() == 0
    other.execute("BEGIN IMMEDIATE")
    other.execute("ROLLBACK")
    other.close()


def test_a_transaction_happens_whole_or_not_at_all(url: str) -> None:
    with writing(connect(url)) as connection:
        connection.exec_driver_sql("CREATE TABLE t (x INTEGER)")
    with pytest.raises(StorageError, match="no such table"), writing(connect(url)) as connection:
        connection.exec_driver_sql("INSERT INTO t VALUES (1)")
        connection.exec_driver_sql("INSERT INTO missing VALUES (1)")
    with reading(connect(url)) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM t").scalar() == 0


def test_asking_whether_a_file_is_there_does_not_make_it(tmp_path: Path, url: str) -> None:
    assert not exists(url)
    assert not (tmp_path / "a.db").exists()
    with writing(connect(url)):
        pass
    assert exists(url)
    assert exists("postgresql://host/name")


@pytest.mark.parametrize("wrong", ["", "file.db", "mysql://host/name", "sqlite://", "sqlite:///:memory:", None])
def test_what_is_no_address_is_refused(wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match="store="):
        connect(wrong)
