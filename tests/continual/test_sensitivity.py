"""How far a person can move a stream: brute force over everything a person may do, and faults that were once made."""

import itertools
from collections.abc import Iterator
from math import sqrt
from typing import Any

import numpy as np
import pytest
from continual.conftest import ONE, SHIFT, plan_for

from bruit.continual import Contribution, Participation, at_most, once, once_in
from bruit.continual.factorisation import FIXED, search_factor
from bruit.continual.noise.deviations import total_deviation
from bruit.continual.sensitivity import squared_column_norm, squared_sensitivity
from bruit.core import ADD_OR_REMOVE_ONE, REPLACE_ONE

PERIODS = 10
FACTOR = search_factor(PERIODS)
C = np.array([x / 2.0**FIXED for x in FACTOR.c(PERIODS)])
MATRIX = np.array([[C[t - s] if t >= s else 0 for s in range(PERIODS)] for t in range(PERIODS)])


def streams(times: int, apart: int, values: tuple[int, ...]) -> Iterator[Any]:
    """Everything one person can add to one cell."""
    for count in range(times + 1):
        for places in itertools.combinations(range(PERIODS), count):
            if all(late - early >= apart for early, late in itertools.pairwise(places)):
                for added in itertools.product(values, repeat=count):
                    stream = np.zeros(PERIODS)
                    stream[list(places)] = added
                    yield stream


def sensitivity(participation: Participation, contribution: Contribution, neighbours: Any, cells: int | None) -> float:
    asked = {"participation": participation, "contribution": contribution, "neighbours": neighbours}
    return float(squared_sensitivity(FACTOR, PERIODS, **asked, cells=cells))


@pytest.mark.parametrize("times", [1, 2, 3, 4])
@pytest.mark.parametrize("apart", [1, 2, 3, 5])
@pytest.mark.parametrize("signed", [False, True])
def test_the_worst_person_comes_as_early_and_as_often_as_allowed(times: int, apart: int, signed: bool) -> None:
    values = (-1, 1) if signed else (1,)
    worst = max(float(np.square(MATRIX @ stream).sum()) for stream in streams(times, apart, values))
    contribution = Contribution(1, 1, 1, signed)
    found = sensitivity(at_most(times, apart=apart), contribution, ADD_OR_REMOVE_ONE, 1)
    assert worst <= found * (1 + 1e-12)
    assert found == pytest.approx(worst, rel=1e-12)


@pytest.mark.parametrize(("times", "signed"), [(1, False), (1, True), (2, False)])
def test_replacing_one_person_moves_no_further_than_is_paid_for(times: int, signed: bool) -> None:
    values = (-1, 1) if signed else (1,)
    moved = np.array([MATRIX @ stream for stream in streams(times, 1, values)])
    squares = (moved**2).sum(1)
    worst = float((squares[:, None] + squares[None, :] - 2 * moved @ moved.T).max())
    found = sensitivity(at_most(times), Contribution(1, 1, 1, signed), REPLACE_ONE, 1)
    assert worst <= found * (1 + 1e-12)
    if times == 1:
        assert found == pytest.approx(worst, rel=1e-8)  # exact for a count, and where signs are free


def test_replacing_a_key_by_another_costs_two_people() -> None:
    """A plan for found keys once had one cell by default: the price of a count, 1.66 instead of 2."""
    away, here = MATRIX[:, 0], MATRIX[:, 0]  # in period 1, one person in the cell of one key, the other in another's
    worst = float(away @ away + here @ here)
    assert sensitivity(once(), ONE, REPLACE_ONE, 1) < worst
    assert worst <= sensitivity(once(), ONE, REPLACE_ONE, None)


def test_cells_that_differ_are_counted_for_found_keys() -> None:
    assert plan_for(64, participation=at_most(12), cells=None).changed == 12
    assert plan_for(64, participation=at_most(12), cells=1).changed == 1
    assert plan_for(64, participation=at_most(12), cells=None, neighbours=REPLACE_ONE).changed == 24


def test_a_deletion_of_everything_at_once_would_break_the_price() -> None:
    """The planted fault behind the bound on a whole period: eleven rows taken back in the twelfth turn."""
    factor = search_factor(1024)
    c = np.array([x / 2.0**FIXED for x in factor.c(1024)])

    def shifted(place: int) -> np.ndarray:
        return np.concatenate([np.zeros(place), c[: 1024 - place]])

    person = sum(shifted(30 * turn) for turn in range(11)) - 11 * shifted(900)
    norm = squared_column_norm(factor, 1024, times=12, apart=30)
    assert float(person @ person) / float(norm) > 2  # and 5.05 with the factor searched for such people


@pytest.mark.parametrize(
    ("participation", "most"),
    [
        (at_most(16), 45.65),
        pytest.param(at_most(2), 7.05, marks=pytest.mark.stress),
        pytest.param(at_most(4), 13.25, marks=pytest.mark.stress),
        pytest.param(at_most(64), 154.5, marks=pytest.mark.stress),
        pytest.param(at_most(12, apart=30), 26.25, marks=pytest.mark.stress),
        pytest.param(at_most(53, apart=7), 103.5, marks=pytest.mark.stress),
        pytest.param(once_in(30), 150.5, marks=pytest.mark.stress),
        pytest.param(once_in(7), 603.5, marks=pytest.mark.stress),
    ],
)
def test_people_in_several_periods_cost_what_the_tables_say(participation: Participation, most: float) -> None:
    plan = plan_for(4096, shift=1.0, participation=participation)
    assert total_deviation(plan, 4096) <= most


def test_a_person_in_every_period_leaves_independent_noise() -> None:
    plan = plan_for(256, shift=1.0, participation=once_in(1))
    assert total_deviation(plan, 256) == pytest.approx(256, rel=1e-3)


def test_a_sum_costs_as_much_as_a_count_in_its_own_units() -> None:
    large = Contribution(10**12, 10**6, 1, signed=False)
    count, total = plan_for(256), plan_for(256, contribution=large)
    assert total_deviation(total, 256) / 10**6 == pytest.approx(total_deviation(count, 256), rel=1e-5)


def test_what_each_period_adds_grows_to_the_whole_price() -> None:
    plan = plan_for(256)
    spent = [plan.loss_after(period).squared_shift for period in (1, 2, 16, 255, 256)]
    assert spent == sorted(spent)
    assert spent[-1] == plan.squared_shift
    assert sqrt(float(plan.squared_shift)) <= SHIFT
    assert sqrt(float(plan.squared_shift)) == pytest.approx(SHIFT, rel=1e-5)
