"""Noise on integers: its law, its draws, its half-width and its price are one."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law

from bruit.channels import (
    Channel,
    IntegerNoise,
    channel_from_json,
    laplace_log_characteristic,
    laplace_variance,
)
from bruit.core.losses import DiscreteGaussian, DiscreteLaplace
from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.errors import BadFile, InvalidArgument

REACH = 3000


def laplace(scale: Fraction | int, sensitivity: int = 1) -> IntegerNoise:
    return IntegerNoise(DiscreteLaplace(scale, sensitivity=sensitivity, neighbours=ADD_OR_REMOVE_ONE))


def gaussian(variance: Fraction | int) -> IntegerNoise:
    return IntegerNoise(DiscreteGaussian(variance, squared_sensitivity=1, neighbours=ADD_OR_REMOVE_ONE))


NOISES = st.one_of(st.fractions(Fraction(1, 10), 50).map(laplace), st.fractions(Fraction(1, 4), 400).map(gaussian))


@given(NOISES, st.floats(0.01, 0.999))
def test_a_half_width_is_the_least_that_covers(noise: IntegerNoise, confidence: float) -> None:
    width, law = noise.half_width(confidence), noise.law(REACH)

    def inside(reach: int) -> float:
        return float(law[REACH - reach : REACH + reach + 1].sum())

    assert inside(width) >= confidence - 1e-9
    assert width == 0 or inside(width - 1) < confidence + 1e-9


@given(NOISES)
def test_a_law_is_whole_even_and_falls_outwards(noise: IntegerNoise) -> None:
    law = noise.law(REACH)
    assert law.sum() == pytest.approx(1)
    np.testing.assert_array_equal(law, law[::-1])
    assert (np.diff(law[REACH:]) <= 0).all()


@given(st.fractions(Fraction(1, 10), 50), st.integers(1, 6))
def test_epsilon_is_the_worst_ratio_of_the_law(scale: Fraction, sensitivity: int) -> None:
    noise = laplace(scale, sensitivity)
    law = noise.law(40)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.log(law[sensitivity:]) - np.log(law[:-sensitivity])
    assert noise.epsilon == sensitivity / scale
    assert np.nanmax(ratios[np.isfinite(ratios)]) == pytest.approx(float(noise.epsilon))
    assert gaussian(scale).epsilon == math.inf


@pytest.mark.parametrize("noise", [laplace(Fraction(3, 2)), gaussian(Fraction(7, 3))], ids=["laplace", "gaussian"])
def test_what_is_sent_comes_out_by_the_law(noise: IntegerNoise) -> None:
    sent = np.full((100, 500), 7)
    received = noise.send(sent, np.random.default_rng(4))
    law = noise.law(6)
    counts = np.bincount(np.clip(received.reshape(-1) - 7, -7, 7) + 7, minlength=15)
    outside = (1 - law.sum()) / 2
    assert received.shape == sent.shape
    assert_law(counts, np.array([outside, *law, outside]))


def test_a_python_integer_stays_one_however_large() -> None:
    received = laplace(2).send(10**30, np.random.default_rng(1))
    assert type(received) is int
    assert abs(received - 10**30) < 1000


def test_the_noise_of_a_release_is_that_of_its_draws() -> None:
    noise = laplace(5)
    drawn = noise.draw(4, rng=np.random.default_rng(3))
    np.testing.assert_array_equal(noise.send(np.arange(4), np.random.default_rng(3)), np.arange(4) + drawn)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, 95.0, float("nan")])
def test_an_absurd_confidence_is_refused(confidence: float) -> None:
    with pytest.raises(InvalidArgument, match="confidence"):
        laplace(1).half_width(confidence)


def test_noise_that_leaves_64_bits_is_no_channel() -> None:
    with pytest.raises(InvalidArgument, match="beyond 64 bits"):
        laplace(2**53)
    with pytest.raises(InvalidArgument, match="beyond 64 bits"):
        gaussian(2**106)
    with pytest.raises(InvalidArgument, match="beyond 64 bits"):
        IntegerNoise.laplace(Fraction(1, 2**54), sensitivity=1, neighbours=ADD_OR_REMOVE_ONE)


@given(NOISES)
def test_noise_survives_its_json(noise: IntegerNoise) -> None:
    again = channel_from_json(noise.to_json())
    assert isinstance(again, Channel)
    assert again == noise


def test_another_loss_is_no_integer_noise() -> None:
    block = {"kind": "integer noise", "loss": {"kind": "Pure", "neighbours": "add or remove one", "epsilon": "1"}}
    with pytest.raises(BadFile, match="Pure is not the loss"):
        channel_from_json(block)


@pytest.mark.parametrize("scale", [0.05, 0.7, 30.0])
def test_a_variance_is_that_of_the_law(scale: float) -> None:
    ratio, steps = np.exp(-1 / scale), np.arange(-3000, 3001)
    law = (1 - ratio) / (1 + ratio) * ratio ** np.abs(steps)
    assert laplace_variance(scale) == pytest.approx(law @ steps**2, rel=1e-9)
    (curved,) = -2e6 * laplace_log_characteristic(scale, np.array([1e-3]))
    assert curved == pytest.approx(laplace_variance(scale), rel=1e-2)
