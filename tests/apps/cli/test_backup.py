"""`bruit backup` and `bruit restore`: one whole file, and books that say what they may have forgotten."""

import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from bruit import ADD_OR_REMOVE_ONE, Ledger
from bruit.apps.cli import main
from bruit.core.losses import Pure
from bruit.errors import BudgetExceeded, LedgerError, StorageError
from bruit.ledger.books import entries, stored


def run(*arguments: Any, status: int = 0) -> Any:
    ended = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert ended.exit_code == status, ended.output
    return " ".join(ended.output.split())


def spend(book: Any, epsilon: Any) -> Any:
    return book.budget(epsilon=epsilon).charge(Pure(epsilon, neighbours=ADD_OR_REMOVE_ONE), what="central.count")


@pytest.fixture
def book(tmp_path: Path) -> Any:
    store = f"sqlite:///{tmp_path}/a.db"
    made = Ledger("clinic", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person="id", store=store)
    spend(made, "0.25")
    return made


def test_a_restored_book_refuses_until_it_is_told_what_it_forgot(book: Any, tmp_path: Path) -> None:
    copy, store = tmp_path / "friday.bruit", f"sqlite:///{tmp_path}/b.db"
    assert "Deletions do not reach this file" in run("backup", copy, "--store", book.book.store)
    assert oct(copy.stat().st_mode)[-3:] == "600"
    spend(book, "0.5")  # after the backup: the copy knows nothing of it
    assert "nothing is overwritten" in run("restore", copy, "--store", book.book.store, status=2)
    assert "clinic may have forgotten charges" in run("restore", copy, "--store", store)
    restored = Ledger.open("clinic", store)
    with pytest.raises(LedgerError, match="may have forgotten charges"):
        spend(restored, "0.5")
    assert float(restored.spent.epsilon) == 0.25
    run("ledger", "resume", "clinic", "--forgotten", "0.5", "--store", store)
    assert "nothing to settle" in run("ledger", "resume", "clinic", "--forgotten", "0", "--store", store, status=2)
    assert [(line.what, line.state) for line in restored.entries][-1] == ("ledger.resume", "finished")
    with pytest.raises(BudgetExceeded):
        spend(restored, "0.5")
    spend(restored, "0.25")


def test_a_file_that_is_no_whole_backup_is_refused(book: Any, tmp_path: Path) -> None:
    copy = tmp_path / "friday.bruit"
    run("backup", copy, "--store", book.book.store)
    assert "exists" in run("backup", copy, "--store", book.book.store, status=2)
    whole = copy.read_bytes()
    for number, wrong in enumerate((b"", whole[: len(whole) // 2], b"text" * 5000)):
        copy.write_bytes(wrong)
        assert "no whole backup" in run("restore", copy, "--store", f"sqlite:///{tmp_path}/w{number}.db", status=2)
        assert not (tmp_path / f"w{number}.db").exists()
    assert "pg_dump" in run("backup", tmp_path / "p", "--store", "postgresql+psycopg://localhost/x", status=2)


def test_a_clock_that_ran_ahead_is_repaired_by_an_entry(book: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead = time.time_ns() // 1000 + 10 * 365 * 86400 * 10**6
    for module in (entries, stored):
        monkeypatch.setattr(module, "microseconds", lambda: ahead)
    spend(book, "0.25")
    monkeypatch.undo()
    with pytest.raises(StorageError, match="repair-clock"):
        spend(book, "0.25")
    run("ledger", "repair-clock", "clinic", "--store", book.book.store)
    spend(book, "0.25")
    assert [line.what for line in book.entries][-2:] == ["ledger.repair-clock", "central.count"]
    assert float(book.spent.epsilon) == 0.75
    assert "nothing to repair" in run("ledger", "repair-clock", "clinic", "--store", book.book.store, status=2)
