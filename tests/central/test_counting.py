import json
from fractions import Fraction
from typing import Any, Never

import numpy as np
import polars as pl
import pytest
from laws import assert_law

import bruit
from bruit import central
from bruit.central import count
from bruit.core import Neighbours
from bruit.errors import BudgetExceeded, BudgetMissing, InvalidArgument, NeighboursDiffer, PrivacyError, StorageError
from bruit.privacy import Assumption, DiscreteGaussian
from bruit.tables import Table


def test_the_noise_of_a_count_follows_its_law(ledger: bruit.Ledger, table: Table) -> None:
    """4096 whole calls tell ε = 1.2 from 1; the sampler itself is held to ε = 1.05 in tests/randomness."""
    rng, budget = np.random.default_rng(8), ledger.budget(epsilon=1)
    draws = np.array([count(table, budget=budget, rng=rng).value for _ in range(4096)]) - 4
    places = np.arange(-4, 5)
    mass = np.tanh(0.5) * np.exp(-np.abs(places))
    counts = [(draws == place).sum() for place in places]
    assert_law([*counts, len(draws) - sum(counts)], [*mass, 1 - mass.sum()])


def test_rule_1_a_forgotten_budget_raises(table: Table) -> None:
    with pytest.raises(BudgetMissing, match=r"budget=ledger\.budget"):
        count(table, budget=None)


def test_rule_1_a_book_for_other_people_is_refused(neighbours: Neighbours, table: Table) -> None:
    people = bruit.Ledger("people", epsilon=1, neighbours=neighbours, person="id")
    with pytest.raises(PrivacyError, match="protects 'id'"):
        count(table, budget=people.budget(epsilon=1))
    assert not people.entries


def test_rule_3_a_local_book_pays_for_no_table(table: Table) -> None:
    local = bruit.Ledger("respondents", epsilon=1, neighbours=bruit.LOCAL, person=bruit.EACH_ROW)
    with pytest.raises(NeighboursDiffer, match="kept by respondents"):
        count(table, budget=local.budget(epsilon=1))
    assert not local.entries


def test_rule_2_no_error_charge_or_entry_depends_on_values(neighbours: Neighbours) -> None:
    seen = set()
    for value in (1.0, float("nan"), float("inf"), -1e308, None):
        ledger = bruit.Ledger("rows", epsilon=2, neighbours=neighbours, person=bruit.EACH_ROW)
        frame = pl.DataFrame({"x": [0.5, value]}, schema={"x": pl.Float64})
        column = bruit.tables.read(frame, person=bruit.EACH_ROW)["x"].within(0, 1, grid="0.5", missing=0)
        count(column, budget=ledger.budget(epsilon=1))
        seen.add((ledger.spent, len(ledger.entries), ledger.entries[0].what))
    assert len(seen) == 1


def test_rule_4_the_charge_is_committed_before_data_is_read(ledger: bruit.Ledger) -> None:
    """A frame that fails when it is read: the charge stands and is not finished."""

    def fail(value: Any) -> Never:
        raise RuntimeError("the disk is gone")

    frame = pl.LazyFrame({"x": [1.0]}).map_batches(fail, schema={"x": pl.Float64})
    with pytest.raises(StorageError, match="withheld"):
        count(bruit.tables.read(frame, person=bruit.EACH_ROW), budget=ledger.budget(epsilon=1))
    assert len(ledger.entries) == 1
    assert not ledger.releases


def test_rule_8_a_seeded_release_says_so(ledger: bruit.Ledger, table: Table) -> None:
    seeded = count(table, budget=ledger.budget(epsilon=1), rng=np.random.default_rng(1))
    strong = count(table, budget=ledger.budget(epsilon=1))
    assert Assumption.SEEDED in seeded.guarantee.assumes
    assert Assumption.SEEDED not in strong.guarantee.assumes


def test_an_empty_book_refuses_and_changes_nothing(neighbours: Neighbours, table: Table) -> None:
    ledger = bruit.Ledger("rows", epsilon=1, neighbours=neighbours, person=bruit.EACH_ROW)
    count(table, budget=ledger.budget(epsilon="0.75"))
    with pytest.raises(BudgetExceeded):
        count(table, budget=ledger.budget(epsilon="0.5"))
    assert len(ledger.entries) == 1


def test_people_with_many_rows_need_a_stated_bound(neighbours: Neighbours) -> None:
    frame = pl.DataFrame({"id": [1] * 50 + [2]})
    ledger = bruit.Ledger("people", epsilon=200, neighbours=neighbours, person="id")
    table = bruit.tables.read(frame, person="id")
    with pytest.raises(InvalidArgument, match="limit"):
        count(table, budget=ledger.budget(epsilon=100))
    release = count(table.limit(rows=3), budget=ledger.budget(epsilon=100), rng=np.random.default_rng(0))
    assert release.value == 4


def test_a_gaussian_price_buys_gaussian_noise(neighbours: Neighbours, table: Table) -> None:
    ledger = bruit.Ledger("rows", epsilon=3, delta=1e-6, neighbours=neighbours, person=bruit.EACH_ROW, by="zcdp")
    loss = DiscreteGaussian(25, squared_sensitivity=1, neighbours=neighbours)
    release = count(table, budget=ledger.budget(loss))
    assert release.method == "DiscreteGaussian"
    assert release.noise == 10.0


def test_an_epsilon_that_no_noise_fits_is_refused_before_the_charge(ledger: bruit.Ledger, table: Table) -> None:
    with pytest.raises(InvalidArgument, match="larger epsilon"):
        count(table, budget=ledger.budget(epsilon="1e-30"))
    assert not ledger.entries


@pytest.mark.parametrize("confidence", [np.float32(0.9), np.float64(0.9), Fraction(9, 10)], ids=repr)
def test_a_confidence_of_any_kind_of_number_is_no_error_after_the_charge(
    confidence: Any, neighbours: Neighbours, table: Table
) -> None:
    ledger = bruit.Ledger("rows", epsilon=9, neighbours=neighbours, person=bruit.EACH_ROW)
    x = table["x"].within(0, 10, grid=1, missing=0)
    asked: list[Any] = [central.count, central.histogram, central.sum, central.mean, central.variance, central.group_by]
    for ask in asked:
        release = ask(x, budget=ledger.budget(epsilon=1), confidence=confidence)
        assert json.dumps(release.to_json())
        assert release.interval.confidence == pytest.approx(0.9)
    assert all(entry.finished for entry in ledger.entries)
