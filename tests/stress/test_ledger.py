"""The full size of tests/ledger/test_stored.py: a million attempts from fifty processes on each store."""

from pathlib import Path
from typing import Any

import pytest
from stress.ledger import torture

FULL: dict[str, Any] = {"attempts": 1_000_000, "processes": 50, "kills": 200, "share": 1 / 10}


@pytest.mark.stress
def test_a_million_attempts_on_sqlite(tmp_path: Path) -> None:
    outcome = torture(f"sqlite:///{tmp_path}/books.db", tmp_path, seed=1, **FULL)
    assert outcome.faults == []
    assert outcome.attempts == 1_000_000
    assert outcome.killed > 100


@pytest.mark.stress
@pytest.mark.service
@pytest.mark.xdist_group("postgres")
def test_a_million_attempts_on_postgresql(tmp_path: Path, postgres: Any) -> None:
    outcome = torture(postgres.database(), tmp_path, seed=2, restart=postgres.crash, restarts=20, **FULL)
    assert outcome.faults == []
    assert outcome.attempts == 1_000_000
    assert outcome.killed > 100
    assert outcome.interrupted > 0
