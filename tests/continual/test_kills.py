"""A process is killed at every step of opening and publishing; a later one goes on."""

from pathlib import Path
from typing import Any

import pytest
from stress.continual import Torture

POINTS = ("after the row", "after the charge", "after the draw", "after the write", "after the commit")
"""The steps between which nothing may be lost; `make stress` kills at others too, and by chance."""


def test_killed_at_every_step_nothing_is_lost_and_nothing_drawn_twice(tmp_path: Path) -> None:
    outcome = Torture(f"sqlite:///{tmp_path}/books.db", tmp_path, periods=6, kills=0, points=POINTS).run()
    assert outcome.faults == []
    assert outcome.killed == len(POINTS)
    assert outcome.entries == 1
    assert outcome.draws == 6 + outcome.unseen
    assert outcome.unseen == 2  # killed between a draw and its commit


@pytest.mark.stress  # the gate opens, publishes and repeats on PostgreSQL without kills: test_stream.py
@pytest.mark.service
@pytest.mark.xdist_group("postgres")
def test_killed_on_postgresql(tmp_path: Path, postgres: Any) -> None:
    points = ("after the charge", "after the write")
    outcome = Torture(postgres.database(), tmp_path, periods=6, kills=0, points=points).run()
    assert outcome.faults == []
    assert outcome.killed == len(points)
    assert outcome.entries == 1
