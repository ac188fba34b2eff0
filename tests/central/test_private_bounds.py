from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bruit
from bruit import central
from bruit.central.bounds_search import enclosing, magnitude_counts
from bruit.core.neighbours import Neighbours
from bruit.errors import BudgetMissing, InvalidArgument, OutOfDomain
from bruit.tables import read

SHARP = 1000
"""An epsilon at which noise is nothing."""


def searched(values: Any, ledger: bruit.Ledger, **asked: Any) -> Any:
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)})
    settings: dict[str, Any] = {
        "largest": 10**6,
        "grid": 1,
        "budget": ledger.budget(epsilon=SHARP),
        "rng": np.random.default_rng(1),
    }
    return central.bounds(read(frame, person=bruit.EACH_ROW)["x"], **settings | asked)


@pytest.mark.parametrize(
    ("values", "bounds"),
    [
        ([5, 6, 7, 900], (4, 1024)),
        ([-3, 0, 3], (-4, 4)),
        ([-1000, -70], (-1024, -64)),
        ([0, 0, 0], (0, 1)),
        ([0, 3], (0, 4)),
        ([-3, 0], (-4, 0)),
        ([1e300, 12], (8, 2**20)),
        ([np.inf, -np.inf], (-(2**20), 2**20)),
        ([np.nan, 12, None], (8, 16)),
    ],
)
def test_bounds_enclose_what_is_there_up_to_the_largest(
    ledger: bruit.Ledger, values: list[float], bounds: tuple[int, int]
) -> None:
    release = searched(values, ledger)
    assert tuple(release.value) == bounds
    assert release.details["found"]
    assert release.labels == ("low", "high")


@given(st.lists(st.integers(-(2**12) + 1, 2**12 - 1), min_size=1, max_size=30))
def test_without_noise_every_value_lies_within_and_the_bounds_are_tight_to_a_factor_two(values: list[int]) -> None:
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Int64)})
    column = read(frame, person=bruit.EACH_ROW)["x"].within(-(2**12) + 1, 2**12 - 1, grid=1)
    counts = magnitude_counts(column).reader.read(np.random.default_rng(1)).parts[0]
    low, high = enclosing(counts > 0)
    assert counts.sum() == len(values)
    assert low <= min(values) <= max(values) <= high
    assert high <= max(2 * max(values), 1) if max(values) > 0 else high <= 1
    assert low >= 2 * min(values) if min(values) < 0 else low * 2 >= min(values)


def test_an_empty_table_is_enclosed_by_everything_and_says_that_nothing_was_found(ledger: bruit.Ledger) -> None:
    release = searched([], ledger)
    assert tuple(release.value) == (-(2**20), 2**20)
    assert release.details["found"] is False


def test_few_outliers_are_left_outside(ledger: Any) -> None:
    release = searched([100] * 5000 + [10**6] * 3, ledger, budget=ledger.budget(epsilon=1))
    assert tuple(release.value) == (64, 128)


def test_empty_magnitudes_pass_no_more_often_than_is_said(ledger: bruit.Ledger) -> None:
    """An exact sum: every empty cell stays below the threshold at the stated confidence."""
    threshold = searched([1], ledger, budget=ledger.budget(epsilon="0.1"), confidence=0.95).details["threshold"]
    moved = 1 if ledger.neighbours is bruit.ADD_OR_REMOVE_ONE else 2
    ratio = np.exp(-0.1 / moved)
    above = ratio**threshold / (1 + ratio)
    assert (1 - above) ** 41 >= 0.95
    assert (1 - above / ratio) ** 41 < 0.96


def test_bounds_of_a_coarse_grid_can_be_declared(ledger: bruit.Ledger) -> None:
    release = searched([0.43, 0.6], ledger, grid="0.1", largest=100)
    assert tuple(release.value) == (0.4, 0.8)
    table = read(pl.DataFrame({"x": [0.3]}), person=bruit.EACH_ROW)
    assert table["x"].within(*release.value, grid="0.1").numbers.size == 5


def test_people_are_bounded(neighbours: Neighbours) -> None:
    ledger = bruit.Ledger("people", epsilon=10_000, neighbours=neighbours, person="id")
    frame = pl.DataFrame({"id": [1] * 10_000 + list(range(2, 3000)), "x": [2.0**18] * 10_000 + [100.0] * 2998})
    column = read(frame, person="id").limit(rows=1)["x"]
    found = central.bounds(column, largest=10**6, grid=1, budget=ledger.budget(epsilon=1), rng=np.random.default_rng(1))
    assert tuple(found.value) == (64, 128)


def test_the_search_is_charged_before_it_reads(ledger: bruit.Ledger) -> None:
    searched([1.0], ledger, budget=ledger.budget(epsilon="0.5"))
    assert [(entry.what, float(entry.guarantee.epsilon)) for entry in ledger.entries] == [("central.bounds", 0.5)]


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"budget": None}, BudgetMissing),
        ({"grid": 0}, OutOfDomain),
        ({"largest": -1}, OutOfDomain),
        ({"largest": 10**12}, OutOfDomain),
        ({"confidence": 1.5}, InvalidArgument),
    ],
)
def test_wrong_arguments_are_refused_before_any_charge(
    ledger: bruit.Ledger, wrong: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        searched([1.0], ledger, **wrong)
    assert ledger.entries == ()
