"""Noise of whole vectors: its law, its shape and its JSON."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from laws import assert_law

from bruit.channels import CubeNoise, GaussianVector, VectorNoise, channel_from_json
from bruit.channels.vector_noise import cube_radius
from bruit.core.losses import DiscreteGaussian, Pure
from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.errors import InvalidArgument

PURE = Pure(1, neighbours=ADD_OR_REMOVE_ONE)
CUBE = CubeNoise(Fraction(5), 3, PURE)
GAUSSIAN = GaussianVector(3, DiscreteGaussian(Fraction(9, 2), squared_sensitivity=3, neighbours=ADD_OR_REMOVE_ONE))


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


@pytest.mark.parametrize("noise", [CUBE, GAUSSIAN])
def test_blocks_are_sent_with_their_own_draws(noise: VectorNoise) -> None:
    sent = np.arange(12).reshape(2, 2, 3)
    received = noise.send(sent, np.random.default_rng(6))
    np.testing.assert_array_equal(received - sent, noise.draw(4, rng=np.random.default_rng(6)).reshape(2, 2, 3))


@pytest.mark.parametrize("noise", [CUBE, GAUSSIAN])
def test_noise_survives_its_json(noise: VectorNoise) -> None:
    assert channel_from_json(noise.to_json()) == noise


def test_only_a_pure_loss_has_an_epsilon() -> None:
    assert CUBE.epsilon == 1
    assert GAUSSIAN.epsilon == math.inf
    assert GAUSSIAN.deviation == pytest.approx(math.sqrt(4.5))


def test_rule_13_gaussian_noise_beyond_64_bits_is_refused_before_it_is_drawn() -> None:
    """Once its first draw refused it, after the charge."""
    loss = DiscreteGaussian(2**106, squared_sensitivity=1, entries=1, neighbours=ADD_OR_REMOVE_ONE)
    with pytest.raises(InvalidArgument, match="64 bits"):
        GaussianVector(3, loss)
