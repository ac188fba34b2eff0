"""Walk 2: a column on disk, nine private deciles, the budget charged; its first form is a paid count."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import bruit
from bruit.errors import BudgetExceeded, BudgetMissing

PEOPLE = 10_000


@pytest.fixture
def people(tmp_path: Path) -> Path:
    incomes = np.random.default_rng(1).lognormal(10.3, 0.6, PEOPLE)
    file = tmp_path / "people.parquet"
    pl.DataFrame({"id": np.arange(PEOPLE), "income": incomes}).write_parquet(file)
    return file


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/bruit.db"


def payroll(store: str) -> bruit.Ledger:
    return bruit.Ledger(
        "payroll", epsilon=3.0, delta=1e-5, neighbours=bruit.ADD_OR_REMOVE_ONE, person="id", store=store
    )


def test_a_count_is_paid_from_the_book(people: Path, store: str) -> None:
    ledger = payroll(store)
    table = bruit.tables.read(people, person="id").limit(rows=1)

    counted = bruit.central.count(table, budget=ledger.budget(epsilon=0.5), rng=np.random.default_rng(1))

    assert abs(counted.value - PEOPLE) <= 45  # Pr[|noise| > 45] < 1e-9 at ε = 1/2
    assert counted.interval is not None
    assert counted.interval.low <= counted.value <= counted.interval.high
    assert counted.guarantee.epsilon <= 0.5
    assert counted.guarantee.person == "id"


def test_the_book_remembers_and_refuses_to_overspend(people: Path, store: str) -> None:
    table = bruit.tables.read(people, person="id").limit(rows=1)
    bruit.central.count(table, budget=payroll(store).budget(epsilon=2.5))

    reopened = bruit.Ledger.open("payroll", store)
    with pytest.raises(BudgetExceeded):
        bruit.central.count(table, budget=reopened.budget(epsilon=1.0))
    bruit.central.count(table, budget=reopened.budget(epsilon=0.5))


def test_rule_1_a_forgotten_budget_raises(people: Path) -> None:
    table = bruit.tables.read(people, person="id").limit(rows=1)
    with pytest.raises(BudgetMissing, match=r"central\.count needs a budget"):
        bruit.central.count(table, budget=None)


def test_nine_private_deciles(people: Path, store: str) -> None:
    ledger = payroll(store)
    income = bruit.tables.read(people, person="id")["income"].within(0, 500_000, grid=100).limit(rows=1)

    deciles = bruit.central.quantiles(
        income,
        bruit.DECILES,
        budget=ledger.budget(epsilon=0.5),
        rng=np.random.default_rng(1),
    )

    assert len(deciles.value) == 9
    assert list(deciles.value) == sorted(deciles.value)
    assert deciles.guarantee.epsilon <= 0.5
