"""The price of integer noise that is moved step by step: accountants, and the law that stands behind them."""

from fractions import Fraction
from math import erf, exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.core import ADD_OR_REMOVE_ONE, Approximate, Gaussian, NormalShift, loss_from_json
from bruit.errors import NotPrivate
from bruit.privacy import delta, epsilon, rdp, zcdp
from bruit.privacy.accounting.gaussian import gaussian_delta, gaussian_epsilon


def shifted(shift: float, near: float = 0, far: float = 0) -> NormalShift:
    return NormalShift(Fraction(shift) ** 2, near=near, far=far, neighbours=ADD_OR_REMOVE_ONE)


def test_the_normal_trade_off_is_cheaper_than_the_conversion() -> None:
    loss = shifted(0.2367)
    assert float(epsilon(loss, delta="1e-6", by="gdp")) == pytest.approx(1, abs=1e-4)
    assert float(epsilon(loss, delta="1e-6", by="zcdp")) == pytest.approx(1.0778, abs=1e-4)
    assert float(zcdp(loss)) == pytest.approx(0.2367**2 / 2)
    assert float(rdp(loss, 8)) == pytest.approx(8 * 0.2367**2 / 2)
    assert epsilon(loss, delta="1e-6", by="basic") == epsilon(loss, delta="1e-6", by="gdp")


def test_without_near_and_far_it_is_gaussian_noise() -> None:
    noise = Gaussian(4, neighbours=ADD_OR_REMOVE_ONE)
    assert epsilon(shifted(0.25), delta="1e-6", by="gdp") == epsilon(noise, delta="1e-6", by="gdp")


@given(shift=st.floats(0.01, 5), near=st.floats(0, 1e-3), far=st.floats(0, 1e-7))
def test_near_and_far_are_paid_for(shift: float, near: float, far: float) -> None:
    loss = shifted(shift, near, far)
    found = epsilon(loss, delta="1e-6", by="gdp")
    assert found >= 2 * Fraction(near)
    assert found >= gaussian_epsilon(shift, 1e-6)
    reached = delta(loss, epsilon=found, by="gdp")
    assert reached <= Fraction("1e-6") * (1 + Fraction(1, 10**6))
    assert reached >= Fraction(str(far))


def test_streams_compose_by_their_squared_shifts() -> None:
    both = shifted(0.3, near=1e-9, far=1e-12) + shifted(0.4, near=1e-9, far=1e-12)
    one = shifted(0.5, near=2e-9, far=2e-12)
    assert float(epsilon(both, delta="1e-6", by="gdp")) == pytest.approx(float(epsilon(one, delta="1e-6", by="gdp")))
    with_failure = shifted(0.5) + Approximate(0, "1e-7", neighbours=ADD_OR_REMOVE_ONE)
    assert epsilon(with_failure, delta="1e-6", by="gdp") > epsilon(shifted(0.5), delta="1e-6", by="gdp")
    with pytest.raises(NotPrivate):
        epsilon(with_failure, delta="1e-7", by="gdp")


def test_an_epsilon_beyond_the_proof_is_refused() -> None:
    with pytest.raises(NotPrivate, match="below 59"):
        epsilon(shifted(9, near=1e-12), delta="1e-6", by="gdp")
    epsilon(shifted(9), delta="1e-6", by="gdp")  # the normal law itself has no such bound


def test_a_loss_comes_back_from_its_description() -> None:
    loss = shifted(0.5, near=1e-9, far=1e-12)
    assert loss_from_json(loss.to_json()) == loss


@pytest.mark.parametrize("sigma", [4, 16, 64])
def test_the_discrete_law_is_as_near_to_the_rounded_normal_one_as_is_paid_for(sigma: int) -> None:
    """ln of the ratio lies in [-1/(8 σ²), k²/(24 σ⁴)] where both have mass: within 20 σ below 17.7/σ²."""
    k = np.arange(-7 * sigma, 7 * sigma + 1)
    discrete = np.exp(-(k**2) / (2 * sigma**2))
    discrete /= np.exp(-(np.arange(-50 * sigma, 50 * sigma + 1) ** 2) / (2 * sigma**2)).sum()
    edges = [0.5 * erf((x - 0.5) / (sigma * sqrt(2))) for x in (*k, k[-1] + 1)]
    ratio = np.log(np.diff(edges) / discrete)
    inside = np.abs(k) <= 5 * sigma
    assert ratio[inside].min() >= -1 / (8 * sigma**2) - 1e-6
    assert (ratio[inside] <= k[inside] ** 2 / (24 * sigma**4) + 1e-6).all()
    assert np.abs(ratio[inside]).max() <= (20**2 // 24 + 2) / sigma**2


def test_composed_steps_of_coarse_noise_stay_below_the_stated_delta() -> None:
    """Two steps of discrete Gaussian noise moved by whole numbers, enumerated, against the loss with its near."""
    sigma, moves = 12, (3, 4)
    k = np.arange(-9 * sigma, 9 * sigma + 1)
    mass = np.exp(-(k**2) / (2 * sigma**2)) / np.exp(-(np.arange(-99 * sigma, 99 * sigma) ** 2) / (2 * sigma**2)).sum()
    losses = [(2 * k * move + move**2) / (2 * sigma**2) for move in moves]
    joint, chance = np.add.outer(*losses).ravel(), np.multiply.outer(mass, mass).ravel()
    loss = shifted(5 / sigma, near=2 * 18 / sigma**2, far=1e-30)
    for asked in (0.5, 0.75, 1.0):
        exact = float((chance * np.maximum(0, -np.expm1(asked - joint))).sum())
        assert exact <= float(delta(loss, epsilon=str(asked), by="gdp"))
        assert exact <= gaussian_delta(5 / sigma, asked) * exp(0.1)
