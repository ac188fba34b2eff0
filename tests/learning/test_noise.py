"""Noise of whole vectors: its law, and what it costs."""

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from laws import assert_law

import bruit
from bruit.errors import InvalidArgument, NotPrivate
from bruit.learning import PCA, KMeans, LinearRegression, LogisticRegression, NaiveBayes
from bruit.learning._noise import CubeNoise, GaussianNoise, all_of, cube_radius, vector_noise
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    EACH_ROW,
    REPLACE_ONE,
    DiscreteLaplace,
    Neighbours,
    Pure,
    ZeroConcentrated,
    basic,
    zcdp,
)
from bruit.tables import among, within

UNIT = within(-1, 1, grid="0.01")
PURE = Pure(1, neighbours=ADD_OR_REMOVE_ONE)


def budget(neighbours: Neighbours = ADD_OR_REMOVE_ONE, **price: float) -> bruit.ledger.Budget:
    book = bruit.Ledger("noise", epsilon=100, delta=0.1, neighbours=neighbours, person=EACH_ROW)
    return book.budget(**price)


def test_a_radius_follows_its_law() -> None:
    rng = np.random.default_rng(1)
    drawn = np.array([cube_radius(Fraction(3, 2), 2, rng=rng) for _ in range(5_000)])
    mass = (2 * np.arange(200.0) + 1) ** 2 * np.exp(-np.arange(200) / 1.5)
    expected = np.append(mass[:11], mass[11:].sum()) / mass.sum()
    assert_law(np.bincount(np.minimum(drawn, 11), minlength=12), expected)


def test_a_block_follows_its_law() -> None:
    drawn = CubeNoise(Fraction(1), 2, PURE).draw(5_000, rng=np.random.default_rng(2))
    cells = list(product(range(-2, 3), repeat=2))
    mass = {cell: np.exp(-max(map(abs, cell))) for cell in product(range(-60, 61), repeat=2)}
    whole = sum(mass.values())
    found = [int(np.sum((drawn == cell).all(axis=1))) for cell in cells]
    shares = [mass[cell] / whole for cell in cells]
    assert_law(np.array([*found, len(drawn) - sum(found)]), np.array([*shares, 1 - sum(shares)]))


def test_the_deviation_of_a_cube_is_that_of_its_law() -> None:
    noise = CubeNoise(Fraction(5), 3, PURE)
    outer = np.arange(301)
    radius = (2 * outer + 1.0) ** 3 * np.exp(-outer / 5)
    radius /= radius.sum()
    variance = float(np.sum(radius * outer * (outer + 1)) / 3)  # of a uniform integer between -r and r
    assert noise.deviation == pytest.approx(variance**0.5, rel=0.02)


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_what_a_budget_buys_costs_what_it_says(neighbours: Neighbours) -> None:
    people = 1 if neighbours is ADD_OR_REMOVE_ONE else 2
    pure = vector_noise(budget(neighbours, epsilon=2), entries=7, each=10, people=people)
    assert isinstance(pure, CubeNoise)
    assert pure.scale == Fraction(10 * people, 2)
    assert basic(pure.loss) == (2, 0)
    many = vector_noise(budget(neighbours, epsilon=1, delta=1e-5), entries=500, each=10, people=people)
    assert isinstance(many, GaussianNoise)
    assert zcdp(many.loss) == Fraction(500 * (10 * people) ** 2) / (2 * many.variance)


def test_shares_and_repeats_add_up() -> None:
    price = budget(epsilon=1, delta=1e-5)
    parts = [
        vector_noise(price, entries=600, each=3, people=1, share=Fraction(1, 3)),
        vector_noise(price, entries=600, each=3, people=1, share=Fraction(2, 3), times=4),
    ]
    assert all(isinstance(part, GaussianNoise) for part in parts)
    whole = vector_noise(price, entries=600, each=3, people=1)
    assert zcdp(all_of((parts[0], 1), (parts[1], 4))) == zcdp(whole.loss)


@pytest.mark.parametrize("epsilon", [0.05, 8])
@pytest.mark.parametrize("by", ["basic", "zcdp", ("rdp", 8)])
@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_every_model_stays_within_its_price_in_every_book(neighbours: Neighbours, by: Any, epsilon: float) -> None:
    rng = np.random.default_rng(4)
    X, y = rng.uniform(-1, 1, (40, 3)), rng.integers(0, 2, 40)
    mixed = [UNIT, UNIT, among([0, 1])]
    for size in (None, 10**6):
        book = bruit.Ledger("all", epsilon=1000, delta=0.1, neighbours=neighbours, person=EACH_ROW, by=by)
        paid = {"size": size, "budget": book.budget(epsilon=epsilon, delta=1e-6)}
        for model in (
            LinearRegression(domain=UNIT, target=UNIT, **paid),
            LogisticRegression(domain=mixed, classes=[0, 1, 2], **paid),
            NaiveBayes(domain=mixed, classes=[0, 1], **paid),
            KMeans(2, domain=mixed, **paid),
            PCA(domain=[UNIT, UNIT, among(range(20))], **paid),
        ):
            model.fit(X, y)
            assert model.guarantee_.epsilon <= Fraction(str(epsilon))


def test_one_entry_is_discrete_laplace_noise() -> None:
    noise = vector_noise(budget(epsilon=1), entries=1, each=1, people=1)
    drawn = noise.draw(5, rng=np.random.default_rng(3))
    assert drawn.shape == (5, 1)
    same = DiscreteLaplace(1, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE)
    assert basic(noise.loss) == basic(same)


def test_noise_beyond_64_bits_is_refused_before_anything_is_charged() -> None:
    with pytest.raises(InvalidArgument, match="64 bits"):
        vector_noise(budget(epsilon=1e-9), entries=100, each=2**20, people=1)
    stated = budget(epsilon=1)
    odd = bruit.ledger.Budget(
        stated.ledger, ZeroConcentrated(1, neighbours=ADD_OR_REMOVE_ONE), stated.epsilon, stated.delta
    )
    with pytest.raises(NotPrivate, match="basic"):
        vector_noise(odd, entries=2, each=1, people=1)
