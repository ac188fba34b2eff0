"""Rank sums of groups: the number itself against its definition, and how far one row moves it."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bruit
from bruit import central
from bruit.central.ranks.rank_sums import COUNTED, RankNoises, distance
from bruit.central.ranks.records import Person
from bruit.errors import InvalidArgument
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE

CELLS = st.integers(1, 5).flatmap(
    lambda values: st.lists(st.lists(st.integers(0, 3), min_size=values, max_size=values), min_size=2, max_size=3)
)


def by_definition(rows: list[tuple[int, int]], groups: int, clip: int) -> int:
    """The groups' mean sums of clipped ranks over all orders of equal values, their sizes added and rounded down."""
    sums = [Fraction(0)] * groups
    orders = [order for order in permutations(rows) if list(order) == sorted(order, key=lambda row: row[0])]
    for order in orders:
        for rank, (_, group) in enumerate(order, 1):
            sums[group] += max(-clip, min(clip, 2 * rank - len(rows) - 1))
    return int(sum(abs(each) for each in sums) / len(orders))


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=6), st.integers(1, 7))
def test_the_distance_is_the_mean_over_all_orders_of_equal_values(rows: list[tuple[int, int]], clip: int) -> None:
    counts = np.zeros((2, 3), np.int64)
    for value, group in rows:
        counts[group, value] += 1
    assert distance(counts, clip) == by_definition(rows, 2, clip)


@settings(max_examples=150)
@given(CELLS, st.integers(1, 12), st.data())
def test_one_row_moves_the_distance_by_at_most_twice_the_clip(cells: Any, clip: int, data: Any) -> None:
    counts = np.array(cells, np.int64)
    more = counts.copy()
    more[data.draw(st.integers(0, len(counts) - 1)), data.draw(st.integers(0, counts.shape[1] - 1))] += 1
    assert abs(distance(more, clip) - distance(counts, clip)) <= 2 * clip


def test_two_rows_reach_the_sensitivity_of_an_exchange() -> None:
    even, uneven = np.array([[1, 1, 0], [1, 0, 1]]), np.array([[1, 1, 0], [0, 0, 2]])
    assert (distance(even, 1), distance(uneven, 1)) == (0, 4)
    noises = RankNoises(Person(1, exchanged=True, fixed_size=True), REPLACE_ONE, Fraction(1))
    assert noises.of_sums(1).loss.sensitivity == 4  # type: ignore[union-attr]


def table(rows: int = 400, seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], rows)
    frame = pl.DataFrame({"g": group, "x": rng.normal(np.where(group == "a", 4.0, 6.0), 1.0)})
    return bruit.tables.read(frame, person=EACH_ROW)


def ask(source: Any, neighbours: Any, *, epsilon: Any = 1, **more: Any) -> Any:
    book = bruit.Ledger("groups", epsilon=10, neighbours=neighbours, person=EACH_ROW)
    values = source["x"].within(0, 10, grid="0.1", missing=0)
    asked = central.rank_sums(
        values, source["g"].among(["a", "b"]), budget=book.budget(epsilon=epsilon), rng=np.random.default_rng(2), **more
    )
    return asked, book


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_the_price_is_split_over_the_count_and_the_sums(neighbours: Any) -> None:
    release, book = ask(table(), neighbours)
    law = release.details["rank_sums"]
    moves = 1 if neighbours is ADD_OR_REMOVE_ONE else 2
    count, sums = (Fraction(law[part]["sensitivity"]) / Fraction(law[part]["scale"]) for part in ("count", "sums"))
    assert (count, sums, count + sums) == (COUNTED, 1 - COUNTED, book.entries[0].loss.epsilon)
    assert law["sums"]["sensitivity"] == 2 * law["clip"] * moves
    assert law["clip"] == release.value[1] // 2


def test_a_public_size_is_not_paid_for() -> None:
    release, _book = ask(table(), REPLACE_ONE, public_size=True)
    assert release.value[1] == 400
    assert release.details["rank_sums"]["count"] is None
    assert "public size" in str(release.guarantee)
    for neighbours, drop in ((ADD_OR_REMOVE_ONE, False), (REPLACE_ONE, True)):
        book = bruit.Ledger("groups", epsilon=10, neighbours=neighbours, person=EACH_ROW)
        source = table()
        groups = source["g"].among(["a", "b"], drop_others=drop)
        with pytest.raises(InvalidArgument, match="public_size"):
            central.rank_sums(
                source["x"].within(0, 10, grid=1, missing=0), groups, budget=book.budget(epsilon=1), public_size=True
            )
        assert not book.entries


def test_any_table_has_an_answer() -> None:
    for rows in (0, 1):
        release, _book = ask(table(rows), ADD_OR_REMOVE_ONE)
        assert bruit.inference.anova(release).p_value > 0.05
