from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    DOCUMENT_ORDERS,
    REPLACE_ONE,
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Pure,
    RenyiBounded,
    Sampled,
    Scheme,
    delta,
    epsilon,
    parallel,
    rdp,
    zcdp,
)
from bruit.privacy.accounting.renyi import renyi

AR = ADD_OR_REMOVE_ONE


def divergence_of_masses(p: Any, q: Any, order: Any) -> Any:
    return np.log(np.sum(np.exp(order * np.log(p) + (1 - order) * np.log(q)))) / (order - 1)


def test_a_bound_at_one_order_holds_for_lower_ones_and_proves_nothing_else() -> None:
    loss = RenyiBounded("3/10", order=8, neighbours=AR)
    assert rdp(loss, 2) == rdp(loss, 8) == pytest.approx(0.3)
    assert renyi(loss * 2, np.array([4.0, 9.0])).tolist() == pytest.approx([0.6, np.inf])
    gaussian = Gaussian(2, neighbours=AR)
    bound = RenyiBounded(rdp(gaussian, 8), order=8, neighbours=AR)
    assert epsilon(bound, delta=1e-5, by="rdp") == pytest.approx(epsilon(gaussian, delta=1e-5, by="rdp", orders=[8]))
    with pytest.raises(NotPrivate, match="order 9"):
        rdp(loss, 9)
    with pytest.raises(NotPrivate):
        zcdp(loss)
    with pytest.raises(NotPrivate):
        epsilon(loss, delta=1e-5, by="pld")
    with pytest.raises(InvalidArgument, match="above 1"):
        RenyiBounded(1, order=1, neighbours=AR)


@given(st.floats(1e-12, 20), st.floats(1.01, 60))
def test_pure_losses_are_the_two_point_law(size: float, order: float) -> None:
    with mpmath.workdps(50):
        e, a = mpmath.mpf(size), mpmath.mpf(order)
        top = mpmath.exp(e) / (1 + mpmath.exp(e))
        exact = mpmath.log(top * mpmath.exp((a - 1) * e) + (1 - top) * mpmath.exp(-(a - 1) * e)) / (a - 1)
    found = float(rdp(Pure(size, neighbours=AR), order))
    assert exact <= found <= exact * (1 + mpmath.mpf(1e-10)) + mpmath.mpf(3e-14) / (order - 1)


@given(st.integers(1, 40), st.integers(1, 5), st.floats(1.01, 30))
def test_discrete_laplace_is_the_sum_of_its_masses(tenths: int, sensitivity: int, order: float) -> None:
    scale = tenths / 10
    k = np.arange(-60 * tenths // 10 - 40, 60 * tenths // 10 + 46)
    p = np.exp(-np.abs(k) / scale)
    q = np.exp(-np.abs(k - sensitivity) / scale)
    keep = (p > 1e-250) & (q > 1e-250)
    exact = divergence_of_masses(p[keep] / p.sum(), q[keep] / p.sum(), order)
    found = float(rdp(DiscreteLaplace(scale, sensitivity=sensitivity, neighbours=AR), order))
    assert found == pytest.approx(exact, rel=1e-6, abs=1e-9)


@settings(max_examples=25)
@given(st.floats(0.01, 10), st.floats(1.01, 30))
def test_laplace_is_its_integral_and_below_pure(size: float, order: float) -> None:
    loss = Laplace(1, sensitivity=size, neighbours=AR)
    pieces = [mpmath.linspace(-40, 0, 3), mpmath.linspace(0, size, 3), mpmath.linspace(size, size + 40, 3)]

    def integrand(x: Any) -> Any:
        return mpmath.exp(-order * abs(x) - (1 - order) * abs(x - size)) / 2

    exact = mpmath.log(sum(mpmath.quad(integrand, piece) for piece in pieces)) / (order - 1)
    found = float(rdp(loss, order))
    assert found == pytest.approx(float(exact), rel=1e-6, abs=1e-9)
    assert found <= float(rdp(Pure(size, neighbours=AR), order)) * (1 + 1e-9) + 1e-12


def test_gaussian_divergences_add() -> None:
    loss = Gaussian(2, neighbours=AR) * 3 + DiscreteGaussian(8, squared_sensitivity=2, neighbours=AR)
    assert float(rdp(loss, 5)) == pytest.approx(5 * (3 / 8 + 1 / 8), rel=1e-12)


def test_parallel_takes_the_largest_at_each_order() -> None:
    cells = [Gaussian(1, neighbours=REPLACE_ONE), Pure(2, neighbours=REPLACE_ONE), Gaussian(3, neighbours=REPLACE_ONE)]
    orders = np.array([1.5, 8.0])
    each = np.sort([renyi(cell, orders) for cell in cells], axis=0)
    assert renyi(parallel(*cells), orders) == pytest.approx(each[-2:].sum(axis=0))


@given(st.floats(0.1, 4), st.floats(1e-4, 0.99), st.floats(1.05, 40))
def test_a_sampled_pure_loss_covers_both_directions(size: float, rate: float, order: float) -> None:
    likely, rare = 1 / (1 + np.exp(-size)), 1 / (1 + np.exp(size))
    p, q = np.array([likely, rare]), np.array([rare, likely])
    mixed = (1 - rate) * q + rate * p
    exact = max(divergence_of_masses(mixed, q, order), divergence_of_masses(q, mixed, order))
    found = float(rdp(Sampled(Pure(size, neighbours=AR), rate=rate, scheme=Scheme.POISSON), order))
    assert exact * (1 - 1e-9) - 1e-14 <= found <= exact * (1 + 1e-6) + 1e-12 / (order - 1)


def test_the_document_orders() -> None:
    assert len(DOCUMENT_ORDERS) == 151
    assert DOCUMENT_ORDERS[[0, 98, 99, 150]].tolist() == [1.1, 10.9, 12.0, 63.0]


@pytest.mark.parametrize("by", ["rdp", "rdp-simple"])
def test_epsilon_and_delta_are_inverse(by: str) -> None:
    loss = Gaussian(1, neighbours=AR) * 4
    spent = epsilon(loss, delta=1e-6, by=by)
    assert float(delta(loss, epsilon=spent, by=by)) == pytest.approx(1e-6, rel=1e-6)


def test_orders_are_the_callers_or_a_wide_search() -> None:
    loss = Gaussian(100, neighbours=AR)
    own = epsilon(loss, delta=1e-6, by="rdp", orders=[2, 60])
    default, fine = (epsilon(loss, delta=1e-6, by="rdp", orders=orders) for orders in (None, "fine"))
    assert fine <= default < own
    for orders in ([], [0.5], "coarse", [np.inf]):
        with pytest.raises(InvalidArgument, match="orders"):
            epsilon(loss, delta=1e-6, by="rdp", orders=orders)
    with pytest.raises(InvalidArgument, match="above 1"):
        rdp(loss, 1)


def test_stated_deltas_are_set_aside() -> None:
    with pytest.raises(NotPrivate, match="sum of the deltas"):
        epsilon(Approximate(1, 1e-5, neighbours=AR), delta=1e-6, by="rdp")


def test_what_has_no_bound_is_refused() -> None:
    loss = Sampled(DiscreteGaussian(4, squared_sensitivity=1, neighbours=AR), rate=0.1, scheme=Scheme.POISSON)
    with pytest.raises(NotPrivate, match="no Rényi bound"):
        rdp(loss, 4)
