"""The full size of tests/continual/test_kills.py: a million updates and a hundred kills on each store."""

from pathlib import Path
from typing import Any

import pytest
from stress.continual import POINTS, Torture


def check_a_million(store: str, folder: Path) -> None:
    outcome = Torture(store, folder, periods=1_000_000, kills=100, points=POINTS).run(say=print)
    assert outcome.faults == []
    assert outcome.published == 1_000_000
    assert outcome.killed >= 100
    assert outcome.entries == 1


@pytest.mark.stress
def test_a_million_updates_on_sqlite(tmp_path: Path) -> None:
    check_a_million(f"sqlite:///{tmp_path}/books.db", tmp_path)


@pytest.mark.stress
@pytest.mark.service
@pytest.mark.xdist_group("postgres")
def test_a_million_updates_on_postgresql(tmp_path: Path, postgres: Any) -> None:
    check_a_million(postgres.database(), tmp_path)
