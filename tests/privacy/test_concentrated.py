import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.errors import NotPrivate
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    REPLACE_ONE,
    Approximate,
    DiscreteGaussian,
    Gaussian,
    Pure,
    Sampled,
    Scheme,
    ZeroConcentrated,
    concentrated_price,
    delta,
    epsilon,
    zcdp,
)
from bruit.privacy.accounting.concentrated import concentrated_epsilon

AR = ADD_OR_REMOVE_ONE


def test_prices_are_exact_rationals() -> None:
    assert zcdp(Pure("1/3", neighbours=AR)) == Fraction(1, 18)
    assert zcdp(Gaussian(2, neighbours=AR) * 3) == Fraction(3, 8)
    assert zcdp(DiscreteGaussian(8, squared_sensitivity=4, entries=4, neighbours=AR)) == Fraction(1, 4)
    assert zcdp(ZeroConcentrated("0.1", neighbours=AR) * 10) == 1


@given(st.integers(1, 60), st.lists(st.integers(1, 4), min_size=1, max_size=3), st.floats(1.1, 40))
def test_many_entries_of_discrete_gaussian_noise_need_no_correction(
    tenths: int, shifts: list[int], order: float
) -> None:
    variance = tenths / 10
    k = np.arange(-400, 401, dtype=float)
    log_mass = -(k**2) / (2 * variance)
    log_mass -= np.log(np.exp(log_mass).sum())
    total = 0.0
    for shift in shifts:
        moved = -((k - shift) ** 2) / (2 * variance) - np.log(np.exp(-(k**2) / (2 * variance)).sum())
        exponent = order * log_mass + (1 - order) * moved
        total += (exponent.max() + np.log(np.exp(exponent - exponent.max()).sum())) / (order - 1)
    squares = sum(shift**2 for shift in shifts)
    loss = DiscreteGaussian(variance, squared_sensitivity=squares, entries=len(shifts), neighbours=AR)
    assert total <= float(zcdp(loss)) * order * (1 + 1e-9)


def test_sampling_never_raises_a_price() -> None:
    whole, rate = Gaussian(1, neighbours=AR), 0.01
    assert zcdp(Sampled(whole, rate=rate, scheme=Scheme.POISSON)) == zcdp(whole)
    small = Sampled(Pure(1, neighbours=REPLACE_ONE), rate=rate, scheme=Scheme.FIXED_SIZE)
    assert float(zcdp(small)) == pytest.approx(math.log1p(0.01 * math.expm1(1)) ** 2 / 2, rel=1e-9)
    assert zcdp(Sampled(whole, rate=rate, scheme=Scheme.POISSON) * 2) == 2 * zcdp(whole)


@given(st.floats(1e-6, 50), st.floats(-20, -1))
def test_the_conversion_is_below_the_textbook_one_and_above_the_gaussian_truth(rho: float, exponent: float) -> None:
    chance = 10.0**exponent
    found = concentrated_epsilon(rho, chance)
    textbook = rho + 2 * math.sqrt(rho * math.log(1 / chance))
    truth = epsilon(Gaussian(math.sqrt(1 / (2 * rho)), neighbours=AR), delta=chance, by="pld")
    assert float(truth) * (1 - 1e-9) <= found <= textbook


def test_epsilon_and_delta_are_inverse() -> None:
    loss = ZeroConcentrated("0.05", neighbours=AR)
    spent = epsilon(loss, delta=1e-6, by="zcdp")
    assert float(delta(loss, epsilon=spent, by="zcdp")) == pytest.approx(1e-6, rel=1e-5)
    assert epsilon(ZeroConcentrated(0, neighbours=AR), delta=1e-6, by="zcdp") == 0


def test_stated_deltas_are_set_aside() -> None:
    loss = Approximate(0.1, 1e-7, neighbours=AR) * 5
    assert epsilon(loss, delta=1e-6, by="zcdp") > epsilon(Pure(0.1, neighbours=AR) * 5, delta=1e-6, by="zcdp")
    with pytest.raises(NotPrivate, match="leaves nothing"):
        epsilon(loss, delta=5e-7, by="zcdp")


@given(st.floats(0.01, 20), st.floats(-12, -2))
def test_what_a_budget_is_worth_is_never_too_much(target: float, exponent: float) -> None:
    rho = concentrated_price(target, 10.0**exponent)
    assert concentrated_epsilon(float(rho), 10.0**exponent) <= target
    assert concentrated_epsilon(float(rho) * 1.001, 10.0**exponent) > target * 0.999


@pytest.mark.parametrize(("target", "allowed"), [(1e-13, 1e-6), (1e13, 1e-6), (1, 1e-290), (1, 0.0), (1, 1.0)])
def test_a_budget_beyond_floats_is_worth_no_rho(target: float, allowed: float) -> None:
    with pytest.raises(NotPrivate, match="zcdp computes with an epsilon from 1e-12 to 1e\\+12"):
        concentrated_price(target, allowed)
