"""Books, tables and plans that the tests of running releases share."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

from bruit.continual import Contribution, Participation, once
from bruit.continual.factorisation import search_factor
from bruit.continual.plan import StreamPlan, make_plan
from bruit.core import ADD_OR_REMOVE_ONE, Neighbours
from bruit.ledger import Ledger
from bruit.tables import Table, read

on_postgres = pytest.param("postgres", marks=[pytest.mark.service, pytest.mark.xdist_group("postgres")])

ONE = Contribution(squared_norm=1, largest=1, cells=1, signed=False)
SHIFT = 0.2367
"""The shift of ε = 1 at δ = 1e-6."""


@pytest.fixture(params=["sqlite", on_postgres])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path}/books.db"
    return str(request.getfixturevalue("postgres").database())


@pytest.fixture
def book(tmp_path: Path) -> Callable[..., Ledger]:
    """Makes a book with these terms, or the usual ones."""

    def make(name: str = "clinic", **terms: Any) -> Ledger:
        usual: dict[str, Any] = {
            "epsilon": 100,
            "delta": "1e-4",
            "neighbours": ADD_OR_REMOVE_ONE,
            "person": "id",
            "store": f"sqlite:///{tmp_path}/books.db",
        }
        return Ledger(name, **(usual | terms))

    return make


def people(*ids: object, **columns: Any) -> Table:
    """A table of so many people, one row each."""
    return read(polars.DataFrame({"id": list(ids), **columns}, schema_overrides={"id": polars.Int64}), person="id")


def plan_for(
    periods: int,
    *,
    shift: float = SHIFT,
    participation: Participation | None = None,
    contribution: Contribution = ONE,
    neighbours: Neighbours = ADD_OR_REMOVE_ONE,
    cells: int | None = 1,
    **more: Any,
) -> StreamPlan:
    """A plan for so many periods, with the factor that was searched for it."""
    often = participation or once()
    factor = more.pop("factor", None) or search_factor(periods, times=often.most(periods), apart=often.apart)
    return make_plan(
        factor,
        shift,
        periods=periods,
        cells=cells,
        participation=often,
        contribution=contribution,
        neighbours=neighbours,
        **more,
    )
