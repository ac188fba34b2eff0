"""Every accountant at any noise: an answer that no attack refutes, or a refusal by name, in little memory."""

import math
import tracemalloc
from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import special

from bruit import privacy
from bruit.core import Composed, Neighbours
from bruit.errors import NotPrivate
from bruit.privacy import ADD_OR_REMOVE_ONE, REPLACE_ONE, Gaussian, Sampled, Scheme
from bruit.privacy.accountants import ACCOUNTANTS
from bruit.privacy.accounting.gaussian import gaussian_delta, gaussian_epsilon
from bruit.privacy.accounting.sampled_gaussian import (
    log_moment_bound,
    replaced_gaussian_rdp,
    replaced_log_moment_bound,
    sampled_gaussian_rdp,
)
from bruit.privacy.pld.pairs import GaussianPair

ROOM = 2**30
DELTA = 1e-5
NEIGHBOURS = st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE])
POWERS = st.integers(-12, 12).map(lambda half: f"1e{half // 2}" if half % 2 == 0 else f"3e{half // 2}")
RATES = st.sampled_from(["1e-9", "1e-4", "0.01", "0.5", "0.999", "1"])
STEPS = st.sampled_from([1, 100, 10**5, 10**7])


def steps_of_noise(noise: str, rate: Any, steps: int, neighbours: Neighbours) -> Composed:
    there = Gaussian(noise, neighbours=ADD_OR_REMOVE_ONE)
    return Sampled(there, rate=rate, scheme=Scheme.POISSON, neighbours=neighbours) * steps


def attack(noise: float, rate: float, steps: int) -> tuple[float, float]:
    """The chance that some step ends above one: at least that with the record, the logarithm of at most that without.

    Without the record, or with another that moves each sum the other way, no step is likelier to end there.
    """
    present = -math.expm1(steps * math.log1p(-rate / 2 * (1 - 1e-12)))
    return present, math.log(steps) + float(special.log_ndtr(-1 / noise))


def answered(ask: Callable[..., Any]) -> Any:
    """What an accountant answers, or None where it refuses; in either case it keeps its memory small."""
    tracemalloc.start()
    try:
        return float(ask())
    except NotPrivate:
        return None
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < ROOM


@settings(max_examples=60)
@given(POWERS, RATES, STEPS, NEIGHBOURS, st.sampled_from(ACCOUNTANTS))
@example("0.0003", "0.999", 10**7, ADD_OR_REMOVE_ONE, "rdp")
@example("0.001", "0.01", 100, REPLACE_ONE, "rdp-simple")
@example("0.0003", "0.5", 10**5, REPLACE_ONE, "pld")
@example("0.0001", "0.01", 10**7, REPLACE_ONE, "basic")
@example("0.000001", "1e-9", 1, ADD_OR_REMOVE_ONE, "pld")
def test_no_attack_refutes_an_epsilon_at_any_noise(
    noise: str, rate: str, steps: int, neighbours: Neighbours, by: str
) -> None:
    loss = steps_of_noise(noise, rate, steps, neighbours)
    found = answered(lambda: privacy.epsilon(loss, delta=DELTA, by=by))
    present, log_absent = attack(float(noise), float(rate), steps)
    if found is not None and present > DELTA:
        assert found >= math.log(present - DELTA) - log_absent


@settings(max_examples=40)
@given(POWERS, RATES, STEPS, NEIGHBOURS, st.sampled_from(ACCOUNTANTS))
@example("0.001", "1e-9", 10**5, ADD_OR_REMOVE_ONE, "rdp")
@example("0.005", "1e-9", 1, REPLACE_ONE, "pld")
def test_no_attack_refutes_a_delta_at_any_noise(
    noise: str, rate: str, steps: int, neighbours: Neighbours, by: str
) -> None:
    loss = steps_of_noise(noise, rate, steps, neighbours)
    found = answered(lambda: privacy.delta(loss, epsilon=1, by=by))
    present, log_absent = attack(float(noise), float(rate), steps)
    if found is not None:
        assert found >= present - math.exp(min(1 + log_absent, 1))


@given(
    st.floats(0.05, 2),
    st.floats(1e-6, 0.999),
    st.lists(st.floats(1.1, 12), min_size=1, max_size=4),
)
def test_the_closed_bounds_are_above_the_divergences(noise: float, rate: float, orders: list[float]) -> None:
    asked = np.array(orders)
    for bound, exact in ((log_moment_bound, sampled_gaussian_rdp), (replaced_log_moment_bound, replaced_gaussian_rdp)):
        assert (bound(rate, noise, asked) * (1 + 1e-9) + 1e-300 >= (asked - 1) * exact(rate, noise, asked)).all()


@pytest.mark.parametrize("rate", [1e-6, 0.5])
@pytest.mark.parametrize("exchanged", [False, True])
def test_divergences_of_little_noise_are_those_of_the_integral(rate: float, exchanged: bool) -> None:
    order, noise = mpmath.mpf("2.5"), 0.3

    def law(x: Any, mean: Any) -> Any:
        return mpmath.npdf(x, mean, noise)

    def integrand(x: Any) -> Any:
        first = (1 - rate) * law(x, 0) + rate * law(x, 1)
        second = (1 - rate) * law(x, 0) + rate * law(x, -1) if exchanged else law(x, 0)
        return second * (first / second) ** order

    with mpmath.workdps(20):
        places = [mpmath.mpf(n) / 4 for n in range(-10, 22)]
        true = float(mpmath.log(mpmath.quad(integrand, places)) / (order - 1))
    found = (replaced_gaussian_rdp if exchanged else sampled_gaussian_rdp)(rate, noise, np.array([2.5]))[0]
    assert true <= found <= true * (1 + 1e-6)


@pytest.mark.parametrize("noise", [1e-6, 3e-4, 1e-3, 5e-3])
@pytest.mark.parametrize("rate", [1e-9, 0.01, 0.999])
def test_divergences_grow_with_the_order_from_series_to_bound(noise: float, rate: float) -> None:
    orders = np.array([2, 2.5, 3, 3.001, 4, 10, 10.9, 11])
    for found in (sampled_gaussian_rdp(rate, noise, orders), replaced_gaussian_rdp(rate, noise, orders)):
        assert (np.diff(found) >= 0).all()
        assert (found <= orders / (2 * noise**2) * (1 + 1e-11) + math.log(1 / (1 - rate)) + 1).all()


def test_without_noise_worth_the_name_no_divergence_is_finite() -> None:
    for law in (sampled_gaussian_rdp, replaced_gaussian_rdp):
        assert np.isinf(law(0.5, 1e-200, np.array([2.0]))).all()


@given(st.floats(1e-6, 0.05), st.floats(1e-6, 0.999), st.floats(-1e4, 1e4))
def test_a_loss_is_found_again_at_its_position(noise: float, rate: float, share: float) -> None:
    pair, loss = GaussianPair(noise, rate, rate), np.array([share / noise**2 / 1e5])
    x = pair.position(loss)
    assert np.isfinite(x).all()
    assert pair.loss(x)[0] == pytest.approx(loss[0], rel=1e-6, abs=1e-6 / noise**2)


@given(POWERS, STEPS, NEIGHBOURS)
def test_a_sample_of_everything_is_no_sample(noise: str, steps: int, neighbours: Neighbours) -> None:
    shift = (2 if neighbours is REPLACE_ONE else 1) * math.sqrt(steps) / float(noise)
    found = float(privacy.epsilon(steps_of_noise(noise, 1, steps, neighbours), delta=DELTA, by="pld"))
    assert found == pytest.approx(gaussian_epsilon(shift, DELTA), rel=1e-9)


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_pld_never_asks_more_than_the_whole_data_or_the_rate(neighbours: Neighbours) -> None:
    shift = 2 if neighbours is REPLACE_ONE else 1
    loss = steps_of_noise("0.001", "0.999", 10**5, neighbours)
    assert (
        privacy.epsilon(loss, delta=DELTA, by="pld") <= gaussian_epsilon(shift * math.sqrt(1e5) / 1e-3, 1e-5) * 1.0001
    )
    assert privacy.epsilon(steps_of_noise("0.001", "1e-9", 100, neighbours), delta=DELTA, by="pld") == 0
    assert 0.9e-9 < privacy.delta(steps_of_noise("0.005", "1e-9", 1, neighbours), epsilon=1, by="pld") < 1.001e-9


@given(st.floats(1, 6e9), st.floats(0.3, 3))
def test_the_delta_of_a_huge_shift_is_never_below_the_true_one(shift: float, share: float) -> None:
    epsilon = shift**2 / 2 * share
    with mpmath.workdps(60):
        s, e = mpmath.mpf(shift), mpmath.mpf(epsilon)
        true = mpmath.ncdf(s / 2 - e / s) - mpmath.exp(e) * mpmath.ncdf(-s / 2 - e / s)
        assert gaussian_delta(shift, epsilon) >= true
