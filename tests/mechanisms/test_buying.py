"""What a budget buys costs what it says, whatever it buys."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bruit
from bruit.channels import CubeNoise, Exponential, GaussianVector, PermuteAndFlip
from bruit.errors import InvalidArgument, NotPrivate
from bruit.mechanisms import all_of, buy_choice, buy_integers, buy_vectors, part_of
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    EACH_ROW,
    REPLACE_ONE,
    DiscreteGaussian,
    DiscreteLaplace,
    Neighbours,
    ZeroConcentrated,
    basic,
    zcdp,
)


def budget(neighbours: Neighbours = ADD_OR_REMOVE_ONE, **price: float) -> bruit.ledger.Budget:
    book = bruit.Ledger("noise", epsilon=100, delta=0.1, neighbours=neighbours, person=EACH_ROW)
    return book.budget(**price)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 200))
def test_a_gaussian_price_pays_only_for_what_it_was_stated_for(each: int, entries: int, squared: int) -> None:
    """One person who moves `entries` numbers by `each` moves them by entries * each^2 in squared l2."""
    book = bruit.Ledger("rows", epsilon=100, delta="0.1", neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW, by="zcdp")
    loss = DiscreteGaussian(100, squared_sensitivity=squared, entries=entries, neighbours=ADD_OR_REMOVE_ONE)
    moved = {"l1": each * entries, "l2_squared": entries * each**2, "entries": entries}
    if squared >= entries * each**2:
        assert (
            buy_integers(book.budget(loss), l1=each * entries, l2_squared=entries * each**2, entries=entries).loss
            == loss
        )
    else:
        with pytest.raises(NotPrivate, match="cannot pay"):
            buy_integers(book.budget(loss), **moved)


@given(st.integers(1, 50), st.integers(1, 9), st.fractions(Fraction(1, 100), 20))
def test_an_epsilon_buys_laplace_noise_of_that_epsilon(each: int, entries: int, epsilon: Fraction) -> None:
    noise = buy_integers(budget(epsilon=epsilon), l1=each * entries, l2_squared=entries * each**2, entries=entries)
    assert noise.epsilon == epsilon
    assert noise.loss.sensitivity == each * entries


@pytest.mark.parametrize("kind", [Exponential, PermuteAndFlip])
@given(st.integers(1, 50), st.booleans(), st.fractions(Fraction(1, 100), 20))
def test_a_choice_costs_all_of_the_budget(kind: type, sensitivity: int, monotone: bool, epsilon: Fraction) -> None:
    asked: dict[str, Any] = {"sensitivity": sensitivity, "monotone": monotone, "what": "a choice"}
    assert buy_choice(budget(epsilon=epsilon), kind, **asked).epsilon == epsilon
    if monotone:
        with pytest.raises(NotPrivate, match="monotone"):
            buy_choice(budget(REPLACE_ONE, epsilon=epsilon), kind, **asked)


def test_a_single_loss_has_no_parts() -> None:
    laplace = DiscreteLaplace(1, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE)
    book = bruit.Ledger("noise", epsilon=100, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    assert part_of(book.budget(epsilon=3), 4, "a mean") == Fraction(3, 4)
    with pytest.raises(NotPrivate, match="a mean is made of 4 noisy numbers"):
        part_of(book.budget(laplace), 4, "a mean")


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_what_a_budget_buys_costs_what_it_says(neighbours: Neighbours) -> None:
    rows_changed = 1 if neighbours is ADD_OR_REMOVE_ONE else 2
    pure = buy_vectors(budget(neighbours, epsilon=2), entries=7, each=10, rows_changed=rows_changed)
    assert isinstance(pure, CubeNoise)
    assert pure.scale == Fraction(10 * rows_changed, 2)
    assert basic(pure.loss) == (2, 0)
    many = buy_vectors(budget(neighbours, epsilon=1, delta=1e-5), entries=500, each=10, rows_changed=rows_changed)
    assert isinstance(many, GaussianVector)
    assert zcdp(many.loss) == Fraction(500 * (10 * rows_changed) ** 2) / (2 * many.variance)


def test_shares_and_repeats_add_up() -> None:
    price = budget(epsilon=1, delta=1e-5)
    parts = [
        buy_vectors(price, entries=600, each=3, rows_changed=1, share=Fraction(1, 3)),
        buy_vectors(price, entries=600, each=3, rows_changed=1, share=Fraction(2, 3), times=4),
    ]
    assert all(isinstance(part, GaussianVector) for part in parts)
    whole = buy_vectors(price, entries=600, each=3, rows_changed=1)
    assert zcdp(all_of((parts[0], 1), (parts[1], 4))) == zcdp(whole.loss)


def test_one_entry_is_discrete_laplace_noise() -> None:
    noise = buy_vectors(budget(epsilon=1), entries=1, each=1, rows_changed=1)
    drawn = noise.draw(5, rng=np.random.default_rng(3))
    assert drawn.shape == (5, 1)
    same = DiscreteLaplace(1, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE)
    assert basic(noise.loss) == basic(same)


def test_noise_beyond_64_bits_is_refused_before_anything_is_charged() -> None:
    with pytest.raises(InvalidArgument, match="64 bits"):
        buy_vectors(budget(epsilon=1e-9), entries=100, each=2**20, rows_changed=1)
    stated = budget(epsilon=1)
    odd = bruit.ledger.Budget(
        stated.ledger, ZeroConcentrated(1, neighbours=ADD_OR_REMOVE_ONE), stated.epsilon, stated.delta
    )
    with pytest.raises(NotPrivate, match="basic"):
        buy_vectors(odd, entries=2, each=1, rows_changed=1)
