from typing import Any

import mpmath
import numpy as np
import pytest

from bruit.privacy.accounting._kernels import log_excess_integral, log_excess_whole
from bruit.privacy.accounting.sampled_gaussian import replaced_gaussian_rdp, sampled_gaussian_rdp


def integrated(p_rate: float, q_rate: float, noise: float, order: float) -> Any:
    """ln E_Q[(P/Q)^order] / (order - 1) in high precision, on A - 1."""
    with mpmath.workdps(40):
        p, q, s, a = map(mpmath.mpf, (p_rate, q_rate, noise, order))

        def integrand(x: Any) -> Any:
            base = mpmath.npdf(x, 0, s)
            top = (1 - p) * base + p * mpmath.npdf(x, 1, s)
            bottom = (1 - q) * base + q * mpmath.npdf(x, -1, s)
            ratio = top / bottom
            return bottom * (ratio**a - 1 - a * (ratio - 1))

        reach = [x * s for x in range(-14, 15, 2)]
        points = sorted({*reach, *(x + a for x in reach), mpmath.mpf(1), a / 2})
        return mpmath.log1p(mpmath.quad(integrand, points)) / (a - 1)


CASES = [
    (0.001066, 1.0, 1.1), (0.001066, 1.0, 1.7), (0.01, 0.5, 2.5), (0.3, 2.0, 10.9), (0.9, 0.8, 3.3), (1e-4, 3.0, 1.05),
    (1e-3, 4.0, 33.3), (0.02, 0.4, 1.3),
]  # fmt: skip


@pytest.mark.parametrize(("rate", "noise", "order"), CASES)
def test_s2_10_fractional_orders(rate: float, noise: float, order: float) -> None:
    exact = integrated(rate, 0, noise, order)
    found = float(sampled_gaussian_rdp(rate, noise, np.array([order]))[0])
    assert exact * (1 - mpmath.mpf(1e-13)) <= found
    assert found == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize(("rate", "noise", "order"), CASES)
def test_orders_under_replacement(rate: float, noise: float, order: float) -> None:
    exact = integrated(rate, rate, noise, order)
    found = float(replaced_gaussian_rdp(rate, noise, np.array([order]))[0])
    assert exact * (1 - mpmath.mpf(1e-13)) <= found
    assert found == pytest.approx(float(exact), rel=1e-9)


@pytest.mark.parametrize("rate", [1e-9, 1e-3, 0.4])
@pytest.mark.parametrize("order", [2, 3, 13, 64])
def test_s2_10_whole_orders(rate: float, order: int) -> None:
    with mpmath.workdps(60):
        q = mpmath.mpf(rate)
        terms = (
            mpmath.binomial(order, k) * (1 - q) ** (order - k) * q**k * mpmath.exp(mpmath.mpf(k * k - k) / 2)
            for k in range(order + 1)
        )
        exact = mpmath.log(sum(terms)) / (order - 1)
    found = float(sampled_gaussian_rdp(rate, 1.0, np.array([float(order)]))[0])
    assert exact <= found * (1 + 1e-13)
    assert found == pytest.approx(float(exact), rel=1e-10)


def test_whole_and_fractional_orders_meet() -> None:
    around = sampled_gaussian_rdp(0.01, 0.7, np.array([8 - 1e-9, 8.0, 8 + 1e-9]))
    assert around == pytest.approx(around[1], rel=1e-7)
    assert sampled_gaussian_rdp(0.01, 0.1, np.array([1e4]))[0] == pytest.approx(5e5, rel=0.01), "nothing overflows"


def test_a_rate_of_one_is_no_sampling() -> None:
    orders = np.array([1.5, 4.0])
    assert sampled_gaussian_rdp(1.0, 2.0, orders) == pytest.approx(orders / 8)
    assert replaced_gaussian_rdp(1.0, 2.0, orders) == pytest.approx(orders / 2)


def test_kernels_agree_with_plain_sums() -> None:
    orders = np.array([2, 5, 30])
    k = np.arange(2, 31)[:, None]
    from scipy.special import comb

    terms = comb(orders, k) * 0.9 ** np.maximum(orders - k, 0) * 0.1**k * np.expm1((k * k - k) / 18)
    assert log_excess_whole(0.1, 3.0, orders) == pytest.approx(np.log(terms.sum(axis=0)), rel=1e-12)
    rng = np.random.default_rng(5)
    log_ratio, log_weight = rng.normal(0, 0.5, 50), rng.normal(-3, 1, 50)
    powers = np.array([1.5, 4.0])[:, None]
    plain = np.exp(log_weight) * (np.exp(powers * log_ratio) - 1 - powers * np.expm1(log_ratio))
    found = log_excess_integral(log_ratio, np.expm1(log_ratio), log_weight, np.array([50, 50]), powers[:, 0].copy())
    assert found == pytest.approx(np.log(plain.sum(axis=1)), rel=1e-12)
