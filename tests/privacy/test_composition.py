import math
from fractions import Fraction
from typing import Any

import mpmath
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bruit.core import Neighbours
from bruit.core.guarantee import factor_of_delta
from bruit.errors import NeighboursDiffer, NotPrivate
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    EACH_ROW,
    LOCAL,
    REPLACE_ONE,
    Approximate,
    DiscreteLaplace,
    Gaussian,
    Guarantee,
    Laplace,
    Pure,
    Sampled,
    Scheme,
    basic,
    epsilon,
    parallel,
    replacement,
)

AR = ADD_OR_REMOVE_ONE


@given(st.lists(st.integers(1, 10**9), min_size=1, max_size=30))
def test_basic_adds_rationals_exactly(numerators: list[int]) -> None:
    loss = Pure(Fraction(numerators[0], 10**9), neighbours=AR) * 1
    for numerator in numerators[1:]:
        loss = loss + Approximate(Fraction(numerator, 10**9), Fraction(1, 10**12), neighbours=AR)
    assert basic(loss) == (Fraction(sum(numerators), 10**9), Fraction(len(numerators) - 1, 10**12))


def test_a_tenth_ten_times_is_one() -> None:
    assert epsilon(Pure(0.1, neighbours=AR) * 10, delta=0, by="basic") == 1


def test_noise_of_given_scale_has_a_rational_price() -> None:
    assert basic(Laplace("0.5", sensitivity=2, neighbours=AR))[0] == 4
    assert basic(DiscreteLaplace(3, sensitivity=2, neighbours=AR))[0] == Fraction(2, 3)


def test_basic_shares_delta_among_gaussian_parts() -> None:
    two, one = Gaussian(2, neighbours=AR), Pure(1, neighbours=AR)
    single = epsilon(two, delta=5e-6, by="pld")
    assert epsilon(two * 2 + one, delta=1e-5, by="basic") == pytest.approx(2 * single + 1, rel=1e-12)
    with pytest.raises(NotPrivate, match="delta"):
        epsilon(two, delta=0, by="basic")


def test_s2_6_advanced_composition() -> None:
    k, e, d = 1000, 0.01, 1e-6
    written = e * math.sqrt(2 * k * math.log(1 / d)) + k * e * math.expm1(e)
    assert float(epsilon(Pure(e, neighbours=AR) * k, delta=d, by="advanced")) == pytest.approx(written, rel=1e-12)
    few = epsilon(Pure(1, neighbours=AR) * 2, delta=d, by="advanced")
    assert few == 2, "where the sum is less, the sum"


def test_advanced_sets_the_stated_deltas_aside() -> None:
    loss = Approximate(0.01, 1e-9, neighbours=AR) * 1000
    rest = epsilon(Pure(0.01, neighbours=AR) * 1000, delta=Fraction(9, 10**6), by="advanced")
    assert epsilon(loss, delta=1e-5, by="advanced") == rest
    with pytest.raises(NotPrivate, match="sum of the deltas"):
        epsilon(loss, delta=1e-7, by="advanced")


PARTS = [Pure(e, neighbours=AR) for e in (1, 5, 3, 2)]


def test_rule_5_add_or_remove_pays_the_worst_parts() -> None:
    assert basic(parallel(*PARTS))[0] == 5
    assert basic(parallel(*PARTS, cells=2))[0] == 8
    assert basic(parallel(*PARTS, cells=9))[0] == 11


@pytest.mark.parametrize("neighbours", [REPLACE_ONE, LOCAL])
def test_rule_5_replacement_pays_twice_as_many(neighbours: Neighbours) -> None:
    parts = [Pure(e, neighbours=neighbours) for e in (1, 5, 3, 2)]
    assert basic(parallel(*parts))[0] == 8
    assert basic(parallel(*parts, cells=2))[0] == 11
    assert basic(parallel(parts[0]))[0] == 1, "one part cannot be left for another"


@pytest.mark.parametrize("by", ["basic", "zcdp", "rdp", "pld"])
def test_rule_5_holds_for_every_accountant(by: str) -> None:
    worst_two = Pure(5, neighbours=AR) + Pure(3, neighbours=AR)
    found = epsilon(parallel(*PARTS, cells=2), delta=1e-6, by=by)
    assert float(found) == pytest.approx(float(epsilon(worst_two, delta=1e-6, by=by)), rel=1e-9)


def test_parallel_inside_a_composition_and_a_composition_inside_parallel() -> None:
    inner = PARTS[0] * 3
    assert basic(parallel(inner, PARTS[3]) + PARTS[1])[0] == 8


def exact(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


@example(size=Fraction(200), power=97)
@example(size=Fraction(125), power=254)
@example(size=Fraction(2001, 10), power=0)
@given(st.fractions(0, 900, max_denominator=1000), st.integers(0, 300))
def test_amplification_is_never_below_the_true_one(size: Fraction, power: int) -> None:
    """A large epsilon and a tiny rate are of one size: their logarithms must not be subtracted."""
    loss = Sampled(Pure(size, neighbours=AR), rate=Fraction(1, 10**power), scheme=Scheme.POISSON)
    with mpmath.workdps(900):
        true = mpmath.log1p(mpmath.expm1(exact(size)) / mpmath.mpf(10) ** power)
        assert true <= exact(epsilon(loss, delta=0, by="basic")) <= true * (1 + mpmath.mpf(1e-11)) + mpmath.mpf(1e-300)


@example(size=Fraction(4361, 11), people=2)
@given(st.fractions(0, 230, max_denominator=1000), st.integers(1, 4))
def test_powers_of_e_in_a_delta_are_never_below_the_true_ones(size: Fraction, people: int) -> None:
    tiny = Fraction(1, 10**400)
    changed = replacement(Guarantee(size, tiny, AR, EACH_ROW, "basic")).delta / tiny
    with mpmath.workdps(400):
        assert exact(factor_of_delta(size, people)) >= sum(mpmath.exp(i * exact(size)) for i in range(people))
        assert exact(changed) >= 1 + mpmath.exp(exact(size))


def test_amplification_of_a_pure_loss() -> None:
    loss = Sampled(Pure(1, neighbours=AR), rate=0.1, scheme=Scheme.POISSON)
    assert float(basic(loss)[0]) == pytest.approx(math.log1p(0.1 * math.expm1(1)), rel=1e-12)
    huge = Sampled(Pure(2000, neighbours=AR), rate=0.1, scheme=Scheme.POISSON)
    assert float(basic(huge)[0]) == pytest.approx(2000 + math.log(0.1), rel=1e-12)
    failing = Sampled(Approximate(1, 1e-6, neighbours=AR), rate=0.1, scheme=Scheme.POISSON)
    assert basic(failing)[1] == Fraction(1, 10**7)


@pytest.mark.parametrize(
    ("scheme", "neighbours"),
    [(Scheme.POISSON, REPLACE_ONE), (Scheme.FIXED_SIZE, AR), (Scheme.SHUFFLED, AR), (Scheme.POISSON, LOCAL)],
)
@pytest.mark.parametrize("by", ["basic", "advanced", "zcdp", "gdp", "rdp", "rdp-simple", "pld"])
def test_rule_3_a_scheme_without_a_proof_is_refused_by_name(scheme: Scheme, neighbours: Neighbours, by: str) -> None:
    loss = Sampled(Pure(1, neighbours=neighbours), rate=0.1, scheme=scheme)
    with pytest.raises(NotPrivate, match=f"{scheme} sampling for {neighbours}"):
        epsilon(loss, delta=1e-6, by=by)


def test_rule_3_the_only_conversion_is_shown_as_such() -> None:
    given = Guarantee(Fraction(1), Fraction(1, 10**6), AR, EACH_ROW, "pld")
    converted = replacement(given)
    assert converted.epsilon == 2
    assert float(converted.delta) == pytest.approx((1 + math.e) * 1e-6, rel=1e-12)
    assert converted.delta >= Fraction(1 + math.e) / 10**6
    assert converted.neighbours is REPLACE_ONE
    assert "converted" in converted.by
    with pytest.raises(NeighboursDiffer, match="cannot be converted"):
        replacement(converted)
