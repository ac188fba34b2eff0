"""A book's limit is inside its (ε, δ), tightly, and prices come from bruit.privacy."""

from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger.books.units import Units
from bruit.ledger.pricing import amount, capacity, cost, price
from bruit.ledger.terms import check_terms, terms_from_json
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    Gaussian,
    Pure,
    Sampled,
    Scheme,
    ZeroConcentrated,
    epsilon,
    parallel,
    rdp,
    zcdp,
)

ACCOUNTING = st.sampled_from(["basic", "zcdp", ("rdp", 4), ("rdp", "9.5"), ("rdp", 64)])


@settings(max_examples=40)
@given(st.integers(1, 60), st.integers(2, 9), ACCOUNTING)
def test_rule_4_a_full_book_is_worth_its_epsilon_and_not_a_bit_more(tenths: int, digits: int, by: Any) -> None:
    terms = check_terms(Fraction(tenths, 10), Fraction(1, 10**digits), ADD_OR_REMOVE_ONE, "id", by)
    try:
        limit = capacity(terms)
    except InvalidArgument:
        assert terms.by == "rdp"
        return
    full = amount(limit, terms)
    assert full.epsilon <= terms.epsilon
    assert full.delta <= terms.delta
    if terms.by != "basic":
        assert amount(Units(limit.main + 10**7, 0), terms).epsilon > terms.epsilon


def test_each_kind_of_book_asks_its_own_accountant() -> None:
    losses = [
        Pure(0.5, neighbours=ADD_OR_REMOVE_ONE),
        Gaussian(2, neighbours=ADD_OR_REMOVE_ONE),
        Gaussian(3, neighbours=ADD_OR_REMOVE_ONE) * 7,
        parallel(ZeroConcentrated("1/3", neighbours=ADD_OR_REMOVE_ONE), Gaussian(1, neighbours=ADD_OR_REMOVE_ONE)),
        Sampled(Gaussian(1, neighbours=ADD_OR_REMOVE_ONE), rate="1/100", scheme=Scheme.POISSON),
    ]
    for loss in losses:
        for by, own in (("zcdp", zcdp(loss)), (("rdp", 8), rdp(loss, 8))):
            terms = check_terms(3, 1e-5, ADD_OR_REMOVE_ONE, "id", by)
            charged = cost(loss, price(loss, delta=terms.delta, by=None, terms=terms), terms).exact
            assert own <= charged[0] <= own + Fraction(1, 10**14)
            assert charged[1] == 0


def test_a_basic_book_takes_the_exact_sum_and_otherwise_pld() -> None:
    terms = check_terms(3, 1e-5, ADD_OR_REMOVE_ONE, "id", "basic")
    pure, noise = Pure(0.5, neighbours=ADD_OR_REMOVE_ONE), Gaussian(5, neighbours=ADD_OR_REMOVE_ONE)
    exact = price(pure * 3, delta=None, by=None, terms=terms)
    assert (exact.epsilon, exact.delta, exact.by) == (Fraction(3, 2), 0, "basic")
    planned = price(noise, delta=Fraction(1, 10**6), by=None, terms=terms)
    assert planned.by == "pld"
    assert planned.epsilon == epsilon(noise, delta=Fraction(1, 10**6), by="pld")
    with pytest.raises(NotPrivate):
        price(noise, delta=Fraction(1, 10**6), by="basic", terms=terms)


@given(ACCOUNTING, st.fractions(min_value=Fraction(1, 1000), max_value=100))
def test_terms_survive_json(by: Any, total: Fraction) -> None:
    terms = check_terms(total, "1e-7", ADD_OR_REMOVE_ONE, "id", by)
    assert terms_from_json(terms.to_json()) == terms
