"""Choices by scores: both laws, and what they cost."""

from collections.abc import Callable
from fractions import Fraction
from itertools import permutations
from math import exp, log
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law

from bruit.channels import Choice, Exponential, PermuteAndFlip, channel_from_json
from bruit.errors import BadFile

SCORES = [7, 4, 0, 6]
EXPONENT = Fraction(1, 4)


def exponential_law(scores: list[int], exponent: Fraction) -> np.ndarray:
    weights = np.exp(float(exponent) * (np.array(scores) - max(scores)))
    return weights / weights.sum()


def flipping_law(scores: list[int], exponent: Fraction) -> np.ndarray:
    """The chance of each place, summed over all orders in which places are met."""
    coins = [exp(-float(exponent) * (max(scores) - score)) for score in scores]
    law = np.zeros(len(scores))
    orders = list(permutations(range(len(scores))))
    for order in orders:
        left = 1.0
        for place in order:
            law[place] += left * coins[place] / len(orders)
            left *= 1 - coins[place]
    return law


LAWS = [(Exponential, exponential_law), (PermuteAndFlip, flipping_law)]


@pytest.mark.parametrize(("kind", "law"), LAWS)
def test_a_choice_follows_its_law(kind: type[Choice], law: Callable[..., Any]) -> None:
    rng = np.random.default_rng(2)
    chosen = [kind(EXPONENT).send(SCORES, rng) for _ in range(8192)]
    assert_law(np.bincount(chosen, minlength=len(SCORES)), law(SCORES, EXPONENT))


@pytest.mark.parametrize(("kind", "law"), LAWS)
@given(
    scores=st.lists(st.integers(0, 5), min_size=2, max_size=4),
    moves=st.lists(st.integers(-2, 2), min_size=4, max_size=4),
    exponent=st.fractions(Fraction(1, 20), 2),
)
def test_no_move_within_the_sensitivity_passes_epsilon(
    kind: type[Choice], law: Callable[..., Any], scores: list[int], moves: list[int], exponent: Fraction
) -> None:
    choice = kind(exponent, sensitivity=2)
    moved = [score + move for score, move in zip(scores, moves, strict=False)]
    ratios = np.abs(np.log(law(scores, exponent)) - np.log(law(moved, exponent)))
    assert ratios.max() <= float(choice.epsilon) + 1e-9
    together = [score + abs(move) for score, move in zip(scores, moves, strict=False)]
    same_way = np.abs(np.log(law(scores, exponent)) - np.log(law(together, exponent)))
    assert same_way.max() <= float(kind(exponent, sensitivity=2, monotone=True).epsilon) + 1e-9


def test_the_price_is_reached() -> None:
    """Fifty candidates moved against one: the half in the exponent is needed."""
    one, other = [1, *[0] * 500], [0, *[1] * 500]
    ratio = log(exponential_law(one, Fraction(1))[0] / exponential_law(other, Fraction(1))[0])
    assert ratio > 0.9 * float(Exponential(Fraction(1)).epsilon)


@pytest.mark.parametrize("scores", [np.array([-(2**63), 2**63 - 1]), np.array([5, 2**63 + 5], np.uint64)])
@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_scores_at_the_ends_of_64_bits_do_not_overflow(kind: type[Choice], scores: np.ndarray) -> None:
    assert kind(Fraction(1)).send(scores, np.random.default_rng(0)) == 1


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
def test_a_choice_survives_its_json_and_a_changed_one_does_not(kind: type[Choice]) -> None:
    choice = kind(Fraction(1, 3), sensitivity=2, monotone=True)
    assert channel_from_json(choice.to_json()) == choice
    with pytest.raises(BadFile, match="another epsilon"):
        channel_from_json({**choice.to_json(), "exponent": "1"})
