"""An empty database of each kind."""

from pathlib import Path

import pytest

on_postgres = pytest.param("postgres", marks=[pytest.mark.service, pytest.mark.xdist_group("postgres")])


@pytest.fixture(params=["sqlite", on_postgres])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/empty.db"
    return str(request.getfixturevalue("postgres").database())
