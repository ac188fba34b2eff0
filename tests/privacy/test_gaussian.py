import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.privacy.gaussian import gaussian_delta, gaussian_epsilon, pure_shift


def exact_delta(shift, epsilon):
    with mpmath.workdps(60):
        s, e = mpmath.mpf(shift), mpmath.mpf(epsilon)
        return mpmath.ncdf(s / 2 - e / s) - mpmath.exp(e) * mpmath.ncdf(-s / 2 - e / s)


@given(st.floats(0.01, 30), st.floats(0, 500))
def test_delta_is_above_the_exact_one_and_close(shift, epsilon):
    exact = exact_delta(shift, epsilon)
    if exact > 1e-290:
        assert (
            exact
            <= gaussian_delta(shift, epsilon)
            <= exact * (1 + mpmath.mpf(1e-11)) + mpmath.mpf(1e-13) * (exact > 0.5)
        )


@given(st.floats(0.01, 30), st.floats(-30, -0.5))
def test_epsilon_is_above_the_exact_one_and_close(shift, exponent):
    delta = 10.0**exponent
    epsilon = gaussian_epsilon(shift, delta)
    assert exact_delta(shift, epsilon) <= delta
    if epsilon > 1e-6:
        assert exact_delta(shift, epsilon * (1 - 1e-7)) > delta


def test_known_values():
    assert gaussian_epsilon(1.0, 1e-5) == pytest.approx(4.377178095681, abs=1e-9)
    assert gaussian_epsilon(0.001, 0.01) == 0.0


def test_the_shift_of_a_pure_loss_meets_its_trade_off():
    for epsilon in (0.01, 1.0, 30.0):
        kink = 1 / (1 + mpmath.exp(epsilon))
        assert float(mpmath.ncdf(-pure_shift(epsilon) / 2)) == pytest.approx(float(kink), rel=1e-9)
