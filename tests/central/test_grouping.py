from fractions import Fraction

import exact_integers as exact
import numpy as np
import polars as pl
import pytest

import bruit
from bruit import central, tables
from bruit.core.neighbours import Neighbours
from bruit.errors import InvalidArgument, NotPrivate
from bruit.tables import Table


@pytest.fixture
def visits() -> Table:
    rows = {
        "id": [1] * 50 + [2, 3, 3, 4],
        "city": ["Paris"] * 50 + ["Lyon", "Lyon", "Paris", "Rome"],
        "spent": [10.0] * 54,
    }
    return tables.read(pl.DataFrame(rows), person="id").limit(groups=2, each=2)


@pytest.fixture
def book(neighbours: Neighbours) -> bruit.Ledger:
    return bruit.Ledger("visits", epsilon=10_000, delta="0.1", neighbours=neighbours, person="id")


def test_sums_by_group_are_of_the_rows_that_count(book: bruit.Ledger, visits: Table) -> None:
    by, spent = visits["city"].among(["Paris", "Lyon"]), visits["spent"].within(0, 20, grid=1)
    release = central.group_by(by, values=spent, budget=book.budget(epsilon=5000), rng=np.random.default_rng(1))
    assert release.value.tolist() == [2 * 10 + 10, 10 + 10, 10]
    assert release.labels == ("Paris", "Lyon", "OTHER")


def test_counts_by_declared_group_are_a_histogram(book: bruit.Ledger, visits: Table) -> None:
    release = central.group_by(visits["city"].among(["Paris"]), budget=book.budget(epsilon=5000))
    assert release.value.sum() == 2 + 1 + 1 + 1 + 1


def test_found_groups_are_shown_only_above_the_threshold(neighbours: Neighbours) -> None:
    rows = {"city": ["Paris"] * 5000 + ["Lyon"] * 3000 + [f"village {i}" for i in range(50)]}
    table = tables.read(pl.DataFrame(rows), person=bruit.EACH_ROW)
    ledger = bruit.Ledger("rows", epsilon=1, delta=1e-6, neighbours=neighbours, person=bruit.EACH_ROW)
    release = central.group_by(table["city"], budget=ledger.budget(epsilon="0.5", delta=1e-6))
    assert release.labels == ("Lyon", "Paris")
    assert release.guarantee.delta == Fraction(1, 10**6)
    assert release.details["threshold"] > 20


def test_found_groups_of_people_depend_on_their_own_rows_alone() -> None:
    rows = [(1, "a"), (1, "b"), (1, "c"), (2, "a"), (2, "d")]
    counted = {}
    for extra in ([], [(9, "z"), (9, "a"), (9, "y")]):
        frame = pl.DataFrame([*rows, *extra], schema={"id": pl.Int64, "x": pl.String}, orient="row")
        counted[len(extra)] = exact.found_groups(tables.read(frame, person="id").limit(groups=2, each=1)["x"])
    assert sum(counted[3].values()) - sum(counted[0].values()) == 2
    assert all(counted[3].get(name, 0) >= count for name, count in counted[0].items())


def test_found_groups_have_counts_and_sums_of_the_rows_that_count(neighbours: Neighbours) -> None:
    frame = pl.DataFrame({"id": np.repeat(np.arange(600), 3), "x": [2.0] * 1800, "g": ["a", "a", "b"] * 600})
    book = bruit.Ledger("people", epsilon=10_000, delta="0.1", neighbours=neighbours, person="id")
    table = tables.read(frame, person="id").limit(groups=2, each=2)
    price = {"budget": book.budget(epsilon=400, delta=1e-6), "rng": np.random.default_rng(1)}
    counted = central.group_by(table["g"], **price)
    assert dict(zip(counted.labels, counted.value.tolist(), strict=True)) == {"a": 1200, "b": 600}
    assert counted.details["people"] == [600, 600]
    summed = central.group_by(table["g"], values=table["x"].within(0, 4, grid=1), **price)
    assert summed.value.tolist() == [2400, 1200]


def test_what_cannot_be_grouped(ledger: bruit.Ledger, table: Table, book: bruit.Ledger, visits: Table) -> None:
    with pytest.raises(NotPrivate, match="delta"):
        central.group_by(table["city"], budget=ledger.budget(epsilon=1))
    elsewhere = tables.read(pl.DataFrame({"id": [1], "x": [1.0]}), person="id").limit(rows=1)["x"].within(0, 1, grid=1)
    with pytest.raises(InvalidArgument, match="different tables"):
        central.group_by(visits["city"].among(["a"]), values=elsewhere, budget=book.budget(epsilon=1))
    other = visits["spent"].within(0, 1, grid=1).limit(rows=1)
    with pytest.raises(InvalidArgument, match="one limit"):
        central.group_by(visits["city"].among(["a"]), values=other, budget=book.budget(epsilon=1))
    assert not ledger.entries
    assert not book.entries
