"""Books by zCDP that set a part of δ aside: losses that may fail add up in both numbers, and never beyond the book."""

from fractions import Fraction
from typing import Any

import pytest

from bruit.core import ADD_OR_REMOVE_ONE, Approximate, ZeroConcentrated
from bruit.errors import BudgetExceeded, InvalidArgument, NotPrivate
from bruit.ledger import Ledger
from bruit.ledger.terms import terms_from_json
from bruit.privacy import epsilon


def book(by: str, **more: Any) -> Ledger:
    terms = {"epsilon": 2, "delta": "1e-5", "neighbours": ADD_OR_REMOVE_ONE, "person": "id"}
    return Ledger("aside", **{**terms, **more}, by=by)


def spend(ledger: Ledger, loss: Any) -> Any:
    return ledger.budget(loss).charge(loss, what="test")


def may_fail(delta: str, rho: str | int = 0) -> Any:
    parts = [Approximate(0, delta, neighbours=ADD_OR_REMOVE_ONE), ZeroConcentrated(rho, neighbours=ADD_OR_REMOVE_ONE)]
    return parts[0] + parts[1]


def test_both_numbers_add_up_and_either_may_be_used_up() -> None:
    ledger = book("zcdp", failures="1e-6")
    spend(ledger, may_fail("6e-7", "0.01"))
    spend(ledger, may_fail("4e-7", "0.02"))
    assert ledger.book.spent().exact == (Fraction("0.03"), Fraction("1e-6"))
    with pytest.raises(BudgetExceeded):
        spend(ledger, may_fail("1e-9"))
    spend(ledger, ZeroConcentrated("0.01", neighbours=ADD_OR_REMOVE_ONE))
    with pytest.raises(BudgetExceeded):
        spend(ledger, ZeroConcentrated(1, neighbours=ADD_OR_REMOVE_ONE))


def test_the_whole_book_keeps_its_promise_with_everything_spent() -> None:
    ledger = book("zcdp", failures="1e-6")
    rho, delta = ledger.book.limit.exact
    whole = ZeroConcentrated(rho, neighbours=ADD_OR_REMOVE_ONE)
    assert epsilon(whole, delta=ledger.delta - delta, by="zcdp") <= ledger.epsilon
    assert rho < book("zcdp").book.limit.exact[0]
    assert delta == Fraction("1e-6")


def test_the_terms_are_kept_and_an_older_description_sets_nothing_aside() -> None:
    terms = book("zcdp", failures="1e-6").terms
    assert terms_from_json(terms.to_json()) == terms

    older = book("zcdp").terms.to_json()
    assert "failures" not in older
    assert terms_from_json(older).failures == 0


def test_what_cannot_be_set_aside_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="a part of delta"):
        book("zcdp", failures="1e-5")
    with pytest.raises(NotPrivate, match="failures="):
        spend(book("zcdp"), may_fail("1e-7"))
