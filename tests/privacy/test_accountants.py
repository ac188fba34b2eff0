import itertools
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.core import Loss
from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy import (
    ACCOUNTANTS,
    ADD_OR_REMOVE_ONE,
    Approximate,
    DiscreteGaussian,
    Gaussian,
    Pure,
    ZeroConcentrated,
    delta,
    epsilon,
)

AR = ADD_OR_REMOVE_ONE


@given(st.floats(0.01, 2), st.integers(1, 40), st.floats(-12, -2))
def test_no_accountant_is_below_the_tightest(size: float, times: int, exponent: float) -> None:
    loss, chance = Pure(size, neighbours=AR) * times, 10.0**exponent
    tightest = float(epsilon(loss, delta=chance, by="pld"))
    for by in ACCOUNTANTS:
        assert float(epsilon(loss, delta=chance, by=by)) >= tightest - 2e-4


@pytest.mark.parametrize("by", ACCOUNTANTS)
def test_delta_undoes_epsilon(by: str) -> None:
    loss = Approximate(0.1, 1e-9, neighbours=AR) * 30
    spent = epsilon(loss, delta=1e-5, by=by)
    found = delta(loss, epsilon=spent, by=by)
    assert isinstance(spent, Fraction)
    assert found <= Fraction(1, 10**5) * (1 + Fraction(1, 1000))
    assert found >= Fraction(30, 10**9)


def test_an_unknown_accountant_is_named() -> None:
    with pytest.raises(InvalidArgument, match="choose one of basic, advanced"):
        epsilon(Pure(1, neighbours=AR), delta=0, by="magic")


def test_ranges_are_checked() -> None:
    with pytest.raises(InvalidArgument, match="delta"):
        epsilon(Pure(1, neighbours=AR), delta=1, by="pld")
    with pytest.raises(InvalidArgument, match="epsilon"):
        delta(Pure(1, neighbours=AR), epsilon=-1, by="pld")
    with pytest.raises(NotPrivate, match="above epsilon"):
        delta(Pure(1, neighbours=AR) * 2, epsilon=1, by="basic")


def test_gdp_is_exact_for_gaussians_and_covers_pure_losses() -> None:
    loss = Gaussian(2, neighbours=AR) * 3
    assert epsilon(loss, delta=1e-6, by="gdp") == pytest.approx(float(epsilon(loss, delta=1e-6, by="pld")), rel=1e-9)
    assert epsilon(Pure(0, neighbours=AR), delta=1e-6, by="gdp") == 0
    with pytest.raises(NotPrivate, match="Gaussian trade-off"):
        from bruit.privacy import Sampled, Scheme

        sampled = Sampled(Gaussian(1, neighbours=AR), rate=0.1, scheme=Scheme.POISSON)
        epsilon(sampled, delta=1e-6, by="gdp")


SMOOTH, TINY = Gaussian(1, neighbours=AR), ZeroConcentrated("1e-400", neighbours=AR)


@pytest.mark.parametrize(
    ("by", "loss"),
    [
        *itertools.product(["pld", "gdp", "rdp", "rdp-simple", "zcdp"], [SMOOTH, SMOOTH * 3]),
        *itertools.product(["rdp", "rdp-simple", "zcdp"], [TINY]),
    ],
)
@pytest.mark.parametrize("size", [100, 5000])
def test_rule_a_law_without_a_largest_loss_never_has_delta_zero(by: str, loss: Loss, size: int) -> None:
    assert delta(loss, epsilon=size, by=by) > 0


def test_rule_discrete_gaussian_noise_never_has_delta_zero() -> None:
    loss = DiscreteGaussian(4, squared_sensitivity=1, neighbours=AR)
    for by in ("pld", "rdp", "zcdp"):
        assert 0 < delta(loss, epsilon=10**4, by=by) < 1e-280


def test_a_bounded_loss_keeps_delta_zero_above_its_top() -> None:
    for by in ("pld", "basic", "advanced"):
        assert delta(Pure(1, neighbours=AR) * 2, epsilon=2, by=by) == 0


def test_rule_advanced_delta_is_one_where_no_delta_is_enough() -> None:
    loss = Pure(1, neighbours=AR) * 10
    found = delta(loss, epsilon=1, by="advanced")
    assert found == 1
    assert found >= delta(loss, epsilon=1, by="pld")


@pytest.mark.parametrize("by", ["zcdp", "gdp", "rdp", "rdp-simple", "pld"])
@pytest.mark.parametrize("tiny", ["1e-300", "1e-400"])
def test_a_delta_below_every_float_is_refused_in_a_sentence(by: str, tiny: str) -> None:
    with pytest.raises(NotPrivate, match="computes with a delta of at least 1e-280"):
        epsilon(Gaussian(1, neighbours=AR) * 10, delta=tiny, by=by)


def test_a_delta_below_every_float_is_exact_for_pure_losses() -> None:
    many = Pure("0.01", neighbours=AR) * 10**4
    for tiny, log_inverse in (("1e-300", 690.775527898), ("1e-400", 921.034037198)):
        true = 100 * 0.01 * 1.00501670842 + (2 * log_inverse) ** 0.5
        assert epsilon(many, delta=tiny, by="advanced") == pytest.approx(true, rel=1e-9)
        assert epsilon(many, delta=tiny, by="pld") == 100


def test_a_delta_near_the_least_is_priced_by_every_accountant() -> None:
    loss = Gaussian(1, neighbours=AR) * 2 + Pure("0.1", neighbours=AR)
    tightest = epsilon(loss, delta="1e-279", by="pld")
    for by in ("zcdp", "gdp", "rdp", "rdp-simple", "basic"):
        assert epsilon(loss, delta="1e-279", by=by) > tightest * Fraction(999, 1000)


def test_the_failures_of_losses_are_not_forgotten_at_delta_zero() -> None:
    with pytest.raises(NotPrivate, match="below 1e-06"):
        epsilon(Approximate(1, 1e-6, neighbours=AR), delta=0, by="pld")


def test_a_loss_beyond_every_float_is_refused_in_a_sentence() -> None:
    for by in ("zcdp", "gdp", "rdp"):
        with pytest.raises(NotPrivate, match=r"too large|no finite price"):
            epsilon(Pure("1e400", neighbours=AR), delta=1e-6, by=by)
    assert epsilon(Pure("1e400", neighbours=AR), delta=0, by="basic") == 10**400
