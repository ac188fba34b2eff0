from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import bruit
from bruit import central
from bruit.core import Neighbours
from bruit.errors import InvalidArgument, NotPrivate
from bruit.tables import Table


def test_the_most_common_category_is_found(ledger: bruit.Ledger, table: Table) -> None:
    release = central.most_common(table["city"].among(["Paris", "Lyon"]), budget=ledger.budget(epsilon=100))
    assert release.value == "Lyon"
    assert release.guarantee.epsilon == 100


@pytest.mark.parametrize("mechanism", [central.noisy_max, central.exponential])
def test_scores_are_computed_after_the_charge(
    mechanism: Callable[..., Any], ledger: bruit.Ledger, table: Table
) -> None:
    charged = []

    def scores(_: Any) -> Any:
        charged.append(len(ledger.entries))
        return [0, 1000]

    assert mechanism(table, ["a", "b"], scores, sensitivity=1, budget=ledger.budget(epsilon=1)).value == "b"
    assert charged == [0, 1], "tried on no rows, then called once"


@pytest.mark.parametrize("mechanism", [central.noisy_max, central.exponential])
def test_scores_are_refused_by_what_they_say_of_no_rows(
    mechanism: Callable[..., Any], ledger: bruit.Ledger, table: Table
) -> None:
    wrong = [lambda _: [1], lambda _: [1, "x"], lambda _: [1, float("nan")], lambda _: 1 / 0, lambda _: [[1, 2]]]
    for scores in wrong:
        with pytest.raises(InvalidArgument, match="one whole number for each of the 2 candidates"):
            mechanism(table, ["a", "b"], scores, sensitivity=1, budget=ledger.budget(epsilon=1))
    assert not ledger.entries


@pytest.mark.parametrize("mechanism", [central.noisy_max, central.exponential])
@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ([-0.5, 1e30], "b"),
        ([500, float("nan")], "a"),
        ([float("inf"), 500], "b"),
        (["x", 500], "b"),
        ([-500, None], "b"),
        (np.array([5, 2**63 + 5], np.uint64), "b"),
    ],
)
def test_rule_2_scores_of_the_table_are_read_whatever_they_are(
    mechanism: Callable[..., Any], ledger: bruit.Ledger, table: Table, answer: Any, read: str
) -> None:
    def scores(rows: Any) -> Any:
        return answer if len(rows.frame.collect()) else [0, 0]

    assert mechanism(table, ["a", "b"], scores, sensitivity=1, budget=ledger.budget(epsilon=100)).value == read
    assert [line.state for line in ledger.entries] == ["finished"]


@pytest.mark.parametrize("answer", [[1], [1, 2, 3], "text", None, ZeroDivisionError()])
def test_rule_2_scores_that_are_none_choose_among_equals(ledger: bruit.Ledger, table: Table, answer: Any) -> None:
    def scores(rows: Any) -> Any:
        if not len(rows.frame.collect()):
            return [0, 0]
        if isinstance(answer, Exception):
            raise answer
        return answer

    chosen = central.noisy_max(table, ["a", "b"], scores, sensitivity=1, budget=ledger.budget(epsilon=1))
    assert chosen.value in ("a", "b")
    assert [line.state for line in ledger.entries] == ["finished"]


def test_a_floored_score_moves_no_further_than_its_sensitivity() -> None:
    """|floor a - floor b| <= s where |a - b| <= s and s is whole: every pair on a fine grid."""
    places = np.arange(-40, 41) / 8
    for sensitivity in (1, 2, 3):
        near = np.abs(places[:, None] - places) <= sensitivity
        assert np.abs(np.floor(places)[:, None] - np.floor(places))[near].max() == sensitivity


@pytest.mark.parametrize("mechanism", [central.noisy_max, central.exponential])
def test_what_cannot_be_chosen_or_paid(
    mechanism: Callable[..., Any], neighbours: Neighbours, ledger: bruit.Ledger, table: Table
) -> None:
    budget = ledger.budget(epsilon=1)
    with pytest.raises(InvalidArgument, match="sensitivity"):
        mechanism(table, ["a"], lambda _: [1], sensitivity=0, budget=budget)
    with pytest.raises(InvalidArgument, match="candidate"):
        mechanism(table, [], lambda _: [], sensitivity=1, budget=budget)
    laplace = bruit.privacy.DiscreteLaplace(1, sensitivity=1, neighbours=neighbours)
    with pytest.raises(NotPrivate):
        mechanism(table, ["a"], lambda _: [1], sensitivity=1, budget=ledger.budget(laplace))
    assert not ledger.entries


def test_people_with_rows_in_many_groups_choose_with_their_bounded_rows(neighbours: Neighbours) -> None:
    frame = pl.DataFrame({"id": [1] * 100 + [2, 3, 4], "city": ["Paris"] * 100 + ["Lyon"] * 3})
    ledger = bruit.Ledger("people", epsilon=1000, neighbours=neighbours, person="id")
    table = bruit.tables.read(frame, person="id").limit(rows=1)
    release = central.most_common(table["city"].among(["Paris", "Lyon"]), budget=ledger.budget(epsilon=100))
    assert release.value == "Lyon"


@pytest.mark.parametrize("mechanism", [central.noisy_max, central.exponential])
def test_no_scores_are_monotone_where_people_are_exchanged(
    mechanism: Callable[..., Any], neighbours: Neighbours, ledger: bruit.Ledger, table: Table
) -> None:
    asked = {"sensitivity": 1, "monotone": True, "budget": ledger.budget(epsilon=1)}
    if neighbours is bruit.ADD_OR_REMOVE_ONE:
        assert mechanism(table, ["a", "b"], lambda _: [0, 1000], **asked).value == "b"
    else:
        with pytest.raises(NotPrivate, match="monotone=True holds only where people are added or removed"):
            mechanism(table, ["a", "b"], lambda _: [0, 1000], **asked)
        assert not ledger.entries
