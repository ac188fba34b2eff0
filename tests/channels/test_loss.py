"""The bound of ln for integer ratios, against fifty digits computed elsewhere."""

from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.channels.weights import ONE, checked_epsilon, log_above, share
from bruit.errors import InvalidArgument


@given(st.integers(1, ONE), st.integers(1, ONE))
def test_the_bound_is_above_the_logarithm_and_close(numerator: int, denominator: int) -> None:
    bound = log_above(numerator, denominator)
    with mpmath.workdps(60):
        truth = mpmath.log(mpmath.mpf(numerator) / denominator)
        above = mpmath.mpf(bound.numerator) / bound.denominator
        assert truth <= above <= truth + mpmath.mpf("3e-40")


def test_equal_numbers_have_no_loss() -> None:
    assert log_above(5, 5) == 0


@given(st.fractions(min_value=Fraction(1, 1000), max_value=36), st.integers(0, 10**6))
def test_the_share_is_the_rounded_up_weight(epsilon: Fraction, others: int) -> None:
    with mpmath.workdps(60):
        exact = ONE / (mpmath.exp(mpmath.mpf(epsilon.numerator) / epsilon.denominator) + others)
        assert 0 <= share(epsilon, others) - exact < 1


@pytest.mark.parametrize("epsilon", [0, -1, 37, 1e9, float("nan"), float("inf"), "much", True])
def test_an_absurd_epsilon_is_refused(epsilon: object) -> None:
    with pytest.raises(InvalidArgument, match="epsilon"):
        checked_epsilon(epsilon)  # type: ignore[arg-type]
