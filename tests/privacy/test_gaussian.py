import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bruit import privacy
from bruit.privacy import ADD_OR_REMOVE_ONE, Gaussian, Pure
from bruit.privacy.accounting.gaussian import gaussian_delta, gaussian_epsilon, pure_shift


def exact_delta(shift: Any, epsilon: Any) -> Any:
    with mpmath.workdps(60):
        s, e = mpmath.mpf(shift), mpmath.mpf(epsilon)
        return mpmath.ncdf(s / 2 - e / s) - mpmath.exp(e) * mpmath.ncdf(-s / 2 - e / s)


@given(st.floats(0.01, 30), st.floats(0, 500))
def test_delta_is_above_the_exact_one_and_close(shift: float, epsilon: float) -> None:
    exact = exact_delta(shift, epsilon)
    if exact > 1e-290:
        assert (
            exact
            <= gaussian_delta(shift, epsilon)
            <= exact * (1 + mpmath.mpf(1e-11)) + mpmath.mpf(1e-13) * (exact > 0.5)
        )


@example(shift=2.32130872801036e-14, epsilons=0.0474602628)
@example(shift=1.2553046861041829e-10, epsilons=1.6767914)
@given(st.floats(-14, -0.5).map(lambda exponent: 10**exponent), st.floats(0, 36))
def test_delta_of_a_tiny_shift_is_above_the_exact_one_and_close(shift: float, epsilons: float) -> None:
    exact = exact_delta(shift, epsilons * shift)
    assert exact <= gaussian_delta(shift, epsilons * shift) <= exact * (1 + mpmath.mpf(1e-11))


@pytest.mark.parametrize(
    ("noise", "epsilon"), [("1819295554461", "1.3895850863706207e-18"), ("46022110565.98114", "7.100620901497803e-13")]
)
def test_delta_of_much_noise_is_never_below_the_true_one(noise: str, epsilon: str) -> None:
    found = privacy.delta(Gaussian(noise, neighbours=ADD_OR_REMOVE_ONE), epsilon=epsilon, by="pld")
    with mpmath.workdps(60):
        assert mpmath.mpf(found.numerator) / found.denominator >= exact_delta(
            1 / mpmath.mpf(noise), mpmath.mpf(epsilon)
        )


@given(st.floats(0.01, 30), st.floats(-30, -0.5))
def test_epsilon_is_above_the_exact_one_and_close(shift: float, exponent: float) -> None:
    delta = 10.0**exponent
    epsilon = gaussian_epsilon(shift, delta)
    assert exact_delta(shift, epsilon) <= delta
    if epsilon > 1e-6:
        assert exact_delta(shift, epsilon * (1 - 1e-7)) > delta


def test_known_values() -> None:
    assert gaussian_epsilon(1.0, 1e-5) == pytest.approx(4.377178095681, abs=1e-9)
    assert gaussian_epsilon(0.001, 0.01) == 0.0


def test_the_shift_of_a_pure_loss_meets_its_trade_off() -> None:
    for epsilon in (0.01, 1.0, 30.0):
        kink = 1 / (1 + mpmath.exp(epsilon))
        assert float(mpmath.ncdf(-float(pure_shift(Fraction(epsilon))) / 2)) == pytest.approx(float(kink), rel=1e-9)


@pytest.mark.parametrize("tenths", range(-180, 18, 3))
def test_the_shift_of_a_pure_loss_is_never_below_the_true_one(tenths: int) -> None:
    epsilon = Fraction(f"{10 ** (tenths / 10):.12e}")
    with mpmath.workdps(60):
        tail = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator))
        true = _shift_of(tail)
        found = pure_shift(epsilon)
        ratio = mpmath.mpf(found.numerator) / found.denominator / true
        assert 1 <= ratio <= 1 + mpmath.mpf("1e-13")


def _shift_of(tail: Any) -> Any:
    """-2 Phi^-1(tail) by Newton's steps, without a series."""
    x = mpmath.sqrt(2) * mpmath.erfinv(1 - 2 * tail) if tail > 1e-12 else mpmath.sqrt(-2 * mpmath.log(tail))
    for _ in range(60):
        x += (mpmath.erfc(x / mpmath.sqrt(2)) / 2 - tail) / mpmath.npdf(x)
    return 2 * x


@pytest.mark.parametrize("power", [17, 9, 4, 160])
def test_many_tiny_pure_losses_are_one_gaussian_of_their_slope(power: int) -> None:
    loss = Pure(Fraction(1, 10**power), neighbours=ADD_OR_REMOVE_ONE) * 10 ** (2 * power)
    limit = gaussian_epsilon(math.sqrt(math.pi / 2), 1e-6)
    assert limit * (1 - 1e-8) <= privacy.epsilon(loss, delta=1e-6, by="gdp") <= limit * (1 + 1e-9)


def test_delta_is_never_zero_for_gaussian_noise() -> None:
    assert 0 < gaussian_delta(1.0, 100.0) < 1e-300
    assert 0 < gaussian_delta(1e-150, 1e300) < 1e-300
