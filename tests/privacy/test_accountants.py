from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy import ACCOUNTANTS, ADD_OR_REMOVE_ONE, Approximate, Gaussian, Pure, delta, epsilon

AR = ADD_OR_REMOVE_ONE


@given(st.floats(0.01, 2), st.integers(1, 40), st.floats(-12, -2))
def test_no_accountant_is_below_the_tightest(size, times, exponent):
    loss, chance = Pure(size, neighbours=AR) * times, 10.0**exponent
    tightest = float(epsilon(loss, delta=chance, by="pld"))
    for by in ACCOUNTANTS:
        assert float(epsilon(loss, delta=chance, by=by)) >= tightest - 2e-4


@pytest.mark.parametrize("by", ACCOUNTANTS)
def test_delta_undoes_epsilon(by):
    loss = Approximate(0.1, 1e-9, neighbours=AR) * 30
    spent = epsilon(loss, delta=1e-5, by=by)
    found = delta(loss, epsilon=spent, by=by)
    assert isinstance(spent, Fraction)
    assert found <= Fraction(1, 10**5) * (1 + Fraction(1, 1000))
    assert found >= Fraction(30, 10**9)


def test_an_unknown_accountant_is_named():
    with pytest.raises(InvalidArgument, match="choose one of basic, advanced"):
        epsilon(Pure(1, neighbours=AR), delta=0, by="magic")


def test_ranges_are_checked():
    with pytest.raises(InvalidArgument, match="delta"):
        epsilon(Pure(1, neighbours=AR), delta=1, by="pld")
    with pytest.raises(InvalidArgument, match="epsilon"):
        delta(Pure(1, neighbours=AR), epsilon=-1, by="pld")
    with pytest.raises(NotPrivate, match="above epsilon"):
        delta(Pure(1, neighbours=AR) * 2, epsilon=1, by="basic")


def test_gdp_is_exact_for_gaussians_and_covers_pure_losses():
    loss = Gaussian(2, neighbours=AR) * 3
    assert epsilon(loss, delta=1e-6, by="gdp") == pytest.approx(float(epsilon(loss, delta=1e-6, by="pld")), rel=1e-9)
    assert epsilon(Pure(0, neighbours=AR), delta=1e-6, by="gdp") == 0
    with pytest.raises(NotPrivate, match="Gaussian trade-off"):
        from bruit.privacy import Sampled, Scheme

        sampled = Sampled(Gaussian(1, neighbours=AR), rate=0.1, scheme=Scheme.POISSON)
        epsilon(sampled, delta=1e-6, by="gdp")
