"""The rank error to expect, against what the mechanisms do on records of equal gaps."""

from typing import Any

import numpy as np
import pytest

import bruit
from bruit import central
from bruit.central.ranks.errors import rank_error
from bruit.central.ranks.mechanisms.joint import Sums, joint_plan
from bruit.central.ranks.mechanisms.recursive import draw_recursively, recursive_plan
from bruit.central.ranks.mechanisms.weighted_draws import WeightedDraws
from bruit.central.ranks.probabilities import DECILES
from bruit.central.ranks.records import Person
from bruit.errors import InvalidArgument
from bruit.privacy import exactly

ROWS, GAP, REPEATS = 4000, 64, 400
PEOPLE = [
    Person(1, exchanged=False, fixed_size=False),
    Person(1, exchanged=True, fixed_size=True),
    Person(1, exchanged=True, fixed_size=False),
]


@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("method", ["joint", "recursive"])
def test_the_mean_rank_error_is_the_expected_one(person: Any, method: str) -> None:
    """Six standard errors of the mean of 400 draws (alarm 2e-9), and half a rank for whole numbers."""
    cells, grid, epsilon = np.arange(ROWS) * GAP + GAP // 2, ROWS * GAP, exactly(1, "epsilon")
    dice = WeightedDraws(np.random.default_rng(6))
    if method == "joint":
        sums = Sums(cells, joint_plan(DECILES, grid, epsilon, person))
        cuts = np.array([sums.draw(dice) for _ in range(REPEATS)])
    else:
        plan = recursive_plan(DECILES, grid, epsilon, person)
        cuts = np.array([draw_recursively(cells, plan, dice) for _ in range(REPEATS)])
    errors = np.abs(np.searchsorted(cells, cuts) - np.arange(1, 10) * ROWS / 10)
    expected = rank_error(DECILES, epsilon, person, method)
    window = 6 * errors.std(axis=0) / REPEATS**0.5 + 0.5
    assert (np.abs(errors.mean(axis=0) - expected) < window).all()


def test_figures_that_are_promised() -> None:
    """Deciles: at most 3.3 / epsilon on average under add/remove, 6 / epsilon under replacement."""
    added = central.expected_rank_error(DECILES, epsilon=1, neighbours=bruit.ADD_OR_REMOVE_ONE)
    exchanged = central.expected_rank_error(DECILES, epsilon=1, neighbours=bruit.REPLACE_ONE, public_size=True)
    assert added.mean() <= 3.3
    assert exchanged.mean() <= 6
    np.testing.assert_allclose(added, added[::-1])


def test_epsilon_for_an_error_gives_that_error() -> None:
    epsilon = central.epsilon_for_rank_error(10, DECILES, neighbours=bruit.ADD_OR_REMOVE_ONE)
    errors = central.expected_rank_error(DECILES, epsilon=epsilon, neighbours=bruit.ADD_OR_REMOVE_ONE)
    assert 9.9 < errors.max() <= 10


def test_methods_without_a_figure_say_so() -> None:
    with pytest.raises(InvalidArgument, match="above_threshold_accuracy"):
        central.expected_rank_error(DECILES, epsilon=1, neighbours=bruit.REPLACE_ONE, method="histogram")
