"""A book in a database under many writers, with some of them killed and the database restarted."""

import pytest
from stress.ledger import torture


def test_two_thousand_attempts_on_sqlite_with_writers_killed(tmp_path):
    outcome = torture(f"sqlite:///{tmp_path}/books.db", tmp_path, attempts=2000, processes=4, kills=6, seed=1)
    assert outcome.faults == []
    assert outcome.attempts == 2000
    assert outcome.killed > 0
    assert outcome.granted > 1000


@pytest.mark.service
@pytest.mark.xdist_group("postgres")
def test_two_thousand_attempts_on_postgresql_with_writers_killed_and_two_crashes(tmp_path, postgres):
    outcome = torture(
        postgres.database(),
        tmp_path,
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
