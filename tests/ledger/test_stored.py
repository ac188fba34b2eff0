"""A book in a database under many writers, with some of them killed and the database restarted."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from postgres import Server
from stress.ledger import torture


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder in memory where there is one: a killed writer leaves the same file there, and nobody waits."""
    shared = Path("/dev/shm")
    folder = Path(tempfile.mkdtemp(prefix="bruit-", dir=shared if shared.is_dir() else None))
    yield folder
    shutil.rmtree(folder)


def test_two_thousand_attempts_on_sqlite_with_writers_killed(memory: Path) -> None:
    outcome = torture(f"sqlite:///{memory}/books.db", memory, attempts=2000, processes=4, kills=6, seed=1)
    assert outcome.faults == []
    assert outcome.attempts == 2000
    assert outcome.killed > 0
    assert outcome.granted > 1000


@pytest.mark.service
@pytest.mark.xdist_group("postgres")
def test_two_thousand_attempts_on_postgresql_with_writers_killed_and_two_crashes(
    memory: Path, postgres: Server
) -> None:
    outcome = torture(
        postgres.database(),
        memory,
        attempts=2000,
        processes=4,
        kills=5,
        seed=2,
        restart=postgres.crash,
        restarts=2,
    )
    assert outcome.faults == []
    assert outcome.attempts == 2000
    assert outcome.killed > 0
    assert outcome.interrupted > 0
    assert outcome.granted > 1000
