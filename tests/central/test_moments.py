import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bruit
from bruit import central, tables
from bruit.central.moments import sum_sensitivity
from bruit.errors import InvalidArgument, NotPrivate, OutOfDomain

values = st.one_of(st.none(), st.floats(-20, 20))
domains = st.sampled_from([(-3, 7, None), (2, 9, None), (-9, -4, None), (2, 9, 5), (-3, 7, -3)])


def column_of(rows, low, high, missing, *, bound=None):
    frame = pl.DataFrame(rows, schema={"id": pl.Int64, "x": pl.Float64}, orient="row")
    table = tables.read(frame, person="id" if bound else bruit.EACH_ROW)
    return (table.limit(rows=bound) if bound else table)["x"].within(low, high, grid=1, missing=missing)


@given(st.lists(values, max_size=6), values, values, domains, st.sampled_from([(0, 1), (2, 1), (2, 2)]))
def test_one_row_moves_a_sum_by_at_most_its_sensitivity(others, old, new, domain, shape):
    around, power = shape
    rows = [(i, value) for i, value in enumerate(others)]
    without, before, after = (
        tables.exact.total(column_of(part, *domain), around=around, power=power)
        for part in (rows, [*rows, (99, old)], [*rows, (99, new)])
    )
    column = column_of(rows, *domain)
    added = sum_sensitivity(column, bruit.ADD_OR_REMOVE_ONE, around=around, power=power)
    replaced = sum_sensitivity(column, bruit.REPLACE_ONE, around=around, power=power)
    assert abs(before - without) <= added
    assert abs(before - after) <= replaced


@given(st.lists(values, max_size=5), st.lists(values, max_size=5), st.integers(1, 3), domains)
def test_one_person_moves_a_sum_by_at_most_its_sensitivity(old, new, bound, domain):
    others = [(1, 3.0), (2, -8.0), (2, 8.0)]
    without, before, after = (
        tables.exact.total(column_of([*others, *((99, value) for value in part)], *domain, bound=bound))
        for part in ([], old, new)
    )
    column = column_of(others, *domain, bound=bound)
    assert abs(before - without) <= sum_sensitivity(column, bruit.ADD_OR_REMOVE_ONE)
    assert abs(before - after) <= sum_sensitivity(column, bruit.REPLACE_ONE)


def test_releases_are_near_the_truth_and_their_intervals_hold(ledger):
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
    public = central.mean(column, budget=budget, size=5000, rng=rng)
    assert "public size" in public.guarantee.assumes
    assert public.noise < central.mean(column, budget=budget, rng=rng).noise


def test_what_a_mean_cannot_be_paid_or_computed_with(neighbours, ledger, table):
    column = table["x"].within(0, 10, grid=1)
    with pytest.raises(InvalidArgument, match="public whole number"):
        central.mean(column, budget=ledger.budget(epsilon=1), size=0)
    with pytest.raises(OutOfDomain, match="too fine"):
        central.variance(table["x"].within(0, 10, grid="1e-6"), budget=ledger.budget(epsilon=1))
    with pytest.raises(InvalidArgument, match="needs within"):
        central.sum(table["city"].among(["Paris"]), budget=ledger.budget(epsilon=1))
    single = bruit.privacy.DiscreteLaplace(1, sensitivity=10, neighbours=neighbours)
    with pytest.raises(NotPrivate, match="epsilon"):
        central.mean(column, budget=ledger.budget(single))
    assert not ledger.entries


def test_the_lecture_s_differencing_attack_fails_on_noised_answers(neighbours):
    """S1.9: 100 employees of mean 55 000, then one of 156 000 joins; the exact difference names the salary."""
    salaries = [55_000.0] * 100
    assert 101 * 56_000 - 100 * 55_000 == 156_000
    ledger = bruit.Ledger("payroll", epsilon=2, neighbours=neighbours, person=bruit.EACH_ROW)
    noisy = []
    for rows in (salaries, [*salaries, 156_000.0]):
        column = tables.read(pl.DataFrame({"x": rows}), person=bruit.EACH_ROW)["x"].within(0, 200_000, grid=1000)
        noisy.append(central.sum(column, budget=ledger.budget(epsilon="0.5")))
    assert noisy[1].noise > 156_000
