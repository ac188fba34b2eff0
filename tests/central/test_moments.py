from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import assert_law

import bruit
from bruit import central, tables
from bruit.core.neighbours import Neighbours
from bruit.errors import InvalidArgument, NotPrivate
from bruit.tables import Column, Table

values = st.one_of(st.none(), st.floats(-20, 20))
domains = st.sampled_from([(-3, 7, None), (2, 9, None), (-9, -4, None), (2, 9, 5), (-3, 7, -3)])


def column_of(rows: list[Any], low: int, high: int, missing: Any, *, bound: int | None = None) -> Column:
    frame = pl.DataFrame(rows, schema={"id": pl.Int64, "x": pl.Float64}, orient="row")
    table = tables.read(frame, person="id" if bound else bruit.EACH_ROW)
    return (table.limit(rows=bound) if bound else table)["x"].within(low, high, grid=1, missing=missing)


def ends_of(rows: Any, domain: Any, bound: Any, maker: Any) -> Any:
    """The exact integers that a mean or a sum is made of."""
    column = column_of(rows, *domain, bound=bound)
    book = bruit.Ledger("x", epsilon=1, neighbours=bruit.REPLACE_ONE, person=column.table.person)
    return maker(column, book.budget(epsilon=1)).read(np.random.default_rng(7)).reshape(-1)


def stated(rows: Any, domain: Any, bound: Any, maker: Any, neighbours: Any) -> Any:
    """The l1 sensitivity that a release pays for."""
    column = column_of(rows, *domain, bound=bound)
    book = bruit.Ledger("x", epsilon=1, neighbours=neighbours, person=column.table.person)
    return maker(column, book.budget(epsilon=1)).loss.sensitivity


@pytest.mark.parametrize("maker", [central.sum_mechanism, central.mean_mechanism, central.variance_mechanism])
@settings(max_examples=40)
@given(st.lists(values, max_size=5), st.lists(values, max_size=5), st.sampled_from([None, 1, 2, 3]), domains)
def test_rule_6_one_person_moves_all_ends_by_at_most_their_sensitivity(
    maker: Any, old: list[Any], new: list[Any], bound: Any, domain: Any
) -> None:
    others = [(1, 3.0), (2, -8.0), (2, 8.0)]
    if bound is None:
        old, new = old[:1], new[:1]
    without, before, after = (
        ends_of([*others, *((99, value) for value in part)], domain, bound, maker) for part in ([], old, new)
    )
    assert np.abs(before - without).sum() <= stated(others, domain, bound, maker, bruit.ADD_OR_REMOVE_ONE)
    assert np.abs(before - after).sum() <= stated(others, domain, bound, maker, bruit.REPLACE_ONE)


@pytest.mark.parametrize("limit", [{"rows": 1}, {"rows": 2}, {"rows": 3}, {"groups": 1, "each": 2}])
def test_a_constant_column_has_its_constant_as_mean_under_every_limit(limit: Any, neighbours: Neighbours) -> None:
    """People with three stays of five days each, bounds 0 to 60: sum and count are of the same rows."""
    frame = pl.DataFrame({"id": np.repeat(np.arange(10_000), 3), "days": np.full(30_000, 5.0)})
    days = tables.read(frame, person="id").limit(**limit)["days"].within(0, 60, grid=1)
    book = bruit.Ledger("people", epsilon=10_000, neighbours=neighbours, person="id")
    paid = {"budget": book.budget(epsilon=1000), "rng": np.random.default_rng(1)}
    rows = limit.get("rows", limit.get("each"))
    assert central.mean(days, **paid).value == pytest.approx(5, abs=1e-3)
    assert central.sum(days, **paid).value == pytest.approx(50_000 * rows, rel=1e-4)
    assert central.variance(days, **paid).value == pytest.approx(0, abs=0.02)
    assert central.quantiles(days, [0.1, 0.5, 0.9], **paid).value.tolist() == [5, 5, 5]
    plain = central.mean(days, budget=book.budget(epsilon=1), rng=np.random.default_rng(2))
    assert plain.interval.low <= 5 <= plain.interval.high


def test_the_choice_of_rows_is_fair(neighbours: Neighbours) -> None:
    """10 000 people who each hold 1 to 10 once, one row each: every cell holds about a thousand."""
    frame = pl.DataFrame({"id": np.repeat(np.arange(10_000), 10), "x": np.tile(np.arange(1, 11), 10_000)})
    x = tables.read(frame, person="id").limit(rows=1)["x"].within(1, 10, grid=1)
    book = bruit.Ledger("people", epsilon=10_000, neighbours=neighbours, person="id")
    held = central.histogram(x, budget=book.budget(epsilon=5000), rng=np.random.default_rng(2)).value
    assert held.sum() == 10_000
    assert_law(held.tolist(), [0.1] * 10)


def test_releases_are_near_the_truth_and_their_intervals_hold(ledger: bruit.Ledger) -> None:
    x = np.random.default_rng(5).normal(4, 2, 5000)
    column = tables.read(pl.DataFrame({"x": x}), person=bruit.EACH_ROW)["x"].within(0, 10, grid="0.01")
    inside = np.clip(np.round(x, 2), 0, 10)
    rng, budget = np.random.default_rng(6), ledger.budget(epsilon=1)
    for statistic, truth in (
        (central.sum, inside.sum()),
        (central.mean, inside.mean()),
        (central.variance, inside.var()),
    ):
        held = 0
        for _ in range(60):
            release = statistic(column, budget=budget, rng=rng)
            held += release.interval.low <= truth <= release.interval.high
        assert held >= 45  # nominal 57 of 60; 45 or fewer happens less than once in 1e9 runs


def test_a_public_size_makes_a_mean_narrower() -> None:
    x = np.random.default_rng(5).normal(4, 2, 5000)
    column = tables.read(pl.DataFrame({"x": x}), person=bruit.EACH_ROW)["x"].within(0, 10, grid="0.01", missing=0)
    book = bruit.Ledger("rows", epsilon=100, neighbours=bruit.REPLACE_ONE, person=bruit.EACH_ROW)
    public = central.mean(column, budget=book.budget(epsilon=1), size=5000, confidence=1 - 1e-9)
    assert "public size" in public.guarantee.assumes
    assert public.interval.low <= np.clip(x, 0, 10).mean() <= public.interval.high
    assert public.noise < central.mean(column, budget=book.budget(epsilon=1), confidence=1 - 1e-9).noise


def test_what_a_mean_cannot_be_paid_or_computed_with(
    neighbours: Neighbours, ledger: bruit.Ledger, table: Table
) -> None:
    column = table["x"].within(0, 10, grid=1)
    with pytest.raises(InvalidArgument, match="the public number of rows"):
        central.mean(column, budget=ledger.budget(epsilon=1), size=0)
    with pytest.raises(InvalidArgument, match=r"leave it out|a stated missing="):
        central.mean(column, budget=ledger.budget(epsilon=1), size=4)
    with pytest.raises(InvalidArgument, match="too fine"):
        central.variance(table["x"].within(0, 10, grid="1e-6"), budget=ledger.budget(epsilon=1))
    with pytest.raises(InvalidArgument, match="needs within"):
        central.sum(table["city"].among(["Paris"]), budget=ledger.budget(epsilon=1))
    single = bruit.privacy.DiscreteLaplace(1, sensitivity=9, neighbours=neighbours)
    with pytest.raises(NotPrivate, match="cannot pay"):
        central.mean(column, budget=ledger.budget(single))
    assert not ledger.entries


def test_the_lecture_s_differencing_attack_fails_on_noised_answers(neighbours: Neighbours) -> None:
    """S1.9: 100 employees of mean 55 000, then one of 156 000 joins; the exact difference names the salary."""
    salaries = [55_000.0] * 100
    assert 101 * 56_000 - 100 * 55_000 == 156_000
    ledger = bruit.Ledger("payroll", epsilon=2, neighbours=neighbours, person=bruit.EACH_ROW)
    noisy = []
    for rows in (salaries, [*salaries, 156_000.0]):
        column = tables.read(pl.DataFrame({"x": rows}), person=bruit.EACH_ROW)["x"].within(0, 200_000, grid=1000)
        noisy.append(central.sum(column, budget=ledger.budget(epsilon="0.5")))
    assert noisy[1].noise > 156_000
