"""The same tests on every kind of store."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import bruit.ledger
from bruit.privacy import ADD_OR_REMOVE_ONE

on_postgres = pytest.param("postgres", marks=[pytest.mark.service, pytest.mark.xdist_group("postgres")])


@pytest.fixture(params=["sqlite", on_postgres])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/books.db"
    return str(request.getfixturevalue("postgres").database())


@pytest.fixture(params=["memory", "sqlite", on_postgres])
def new(request: pytest.FixtureRequest, tmp_path: Path) -> Callable[..., bruit.ledger.Ledger]:
    """Makes a book with these terms, or the usual ones, in each kind of store."""
    where = {"memory": None, "sqlite": f"sqlite:///{tmp_path}/books.db"}
    store = where[request.param] if request.param in where else request.getfixturevalue("postgres").database()

    def make(name: str = "payroll", **terms: Any) -> bruit.ledger.Ledger:
        usual: dict[str, Any] = {
            "epsilon": 1,
            "delta": 0,
            "neighbours": ADD_OR_REMOVE_ONE,
            "person": "id",
            "store": store,
        }
        return bruit.ledger.Ledger(name, **(usual | terms))

    return make
