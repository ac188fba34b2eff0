from fractions import Fraction
from math import exp

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bruit
from bruit import central, tables
from bruit.central.grouping import threshold_for
from bruit.errors import InvalidArgument, NotPrivate


@pytest.fixture
def visits():
    rows = {
        "id": [1] * 50 + [2, 3, 3, 4],
        "city": ["Paris"] * 50 + ["Lyon", "Lyon", "Paris", "Rome"],
        "spent": [10.0] * 54,
    }
    return tables.read(pl.DataFrame(rows), person="id").limit(rows=2, groups=2)


@pytest.fixture
def book(neighbours):
    return bruit.Ledger("visits", epsilon=10_000, delta="0.1", neighbours=neighbours, person="id")


def test_sums_by_group_clamp_each_person(book, visits):
    by, spent = visits["city"].among(["Paris", "Lyon"]), visits["spent"].within(0, 20, grid=1)
    release = central.group_by(by, values=spent, budget=book.budget(epsilon=5000), rng=np.random.default_rng(1))
    assert release.value.tolist() == [40 + 10, 10 + 10, 10]
    assert release.labels == ("Paris", "Lyon", "OTHER")


def test_counts_by_declared_group_are_a_histogram(book, visits):
    release = central.group_by(visits["city"].among(["Paris"]), budget=book.budget(epsilon=5000))
    assert release.value.sum() == 2 + 1 + 1 + 1 + 1


def test_found_groups_are_shown_only_above_the_threshold(neighbours):
    rows = {"city": ["Paris"] * 5000 + ["Lyon"] * 3000 + [f"village {i}" for i in range(50)]}
    table = tables.read(pl.DataFrame(rows), person=bruit.EACH_ROW)
    ledger = bruit.Ledger("rows", epsilon=1, delta=1e-6, neighbours=neighbours, person=bruit.EACH_ROW)
    release = central.group_by(table["city"], budget=ledger.budget(epsilon="0.5", delta=1e-6))
    assert release.labels == ("Lyon", "Paris")
    assert release.guarantee.delta == Fraction(1, 10**6)
    assert release.details["threshold"] > 20


@given(
    st.fractions(Fraction(1, 20), 5),
    st.sampled_from([Fraction(1, 10), Fraction(1, 10**3), Fraction(1, 10**9)]),
    st.integers(1, 4),
    st.integers(1, 3),
)
def test_the_threshold_hides_what_one_person_alone_has(epsilon, delta, groups, rows):
    sensitivity = groups * rows
    least = threshold_for(epsilon=epsilon, delta=delta, groups=groups, rows=rows, sensitivity=sensitivity)
    base = exp(-float(epsilon / sensitivity))

    def shown(threshold):
        one = base ** (threshold - rows) / (1 + base)
        return 1 - (1 - one) ** groups

    assert shown(least) <= float(delta) * (1 + 1e-9)
    assert least == rows + 1 or shown(least - 1) > float(delta) * (1 - 1e-6)


def test_found_groups_of_people_depend_on_their_own_rows_alone(neighbours):
    key = tables.Key(17, 23, 5)
    rows = [(1, "a"), (1, "b"), (1, "c"), (2, "a"), (2, "d")]
    counted = {}
    for extra in ([], [(9, "z"), (9, "a"), (9, "y")]):
        frame = pl.DataFrame([*rows, *extra], schema={"id": pl.Int64, "x": pl.String}, orient="row")
        names, counts = tables.exact.found_groups(tables.read(frame, person="id").limit(rows=1, groups=2)["x"], key=key)
        counted[len(extra)] = dict(zip(names, counts.tolist(), strict=True))
    assert sum(counted[3].values()) - sum(counted[0].values()) == 2
    assert all(counted[3].get(name, 0) >= count for name, count in counted[0].items())


def test_what_cannot_be_grouped(ledger, table, book, visits):
    with pytest.raises(NotPrivate, match="delta"):
        central.group_by(table["city"], budget=ledger.budget(epsilon=1))
    with pytest.raises(InvalidArgument, match="declared groups"):
        central.group_by(visits["city"], values=visits["spent"].within(0, 1, grid=1), budget=book.budget(epsilon=1))
    elsewhere = tables.read(pl.DataFrame({"id": [1], "x": [1.0]}), person="id").limit(rows=1)["x"].within(0, 1, grid=1)
    with pytest.raises(InvalidArgument, match="different tables"):
        central.group_by(visits["city"].among(["a"]), values=elsewhere, budget=book.budget(epsilon=1))
    assert not ledger.entries
    assert not book.entries
