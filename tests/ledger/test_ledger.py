"""A book charges before, refuses to overspend, and keeps what it paid for."""

import copy
import dataclasses
import itertools
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit.core import Neighbours, Outcome, Receipt
from bruit.errors import (
    BudgetExceeded,
    InvalidArgument,
    LedgerError,
    NeighboursDiffer,
    NotPrivate,
    PrivacyError,
    TermsDiffer,
    UnknownLedger,
)
from bruit.ledger import Ledger
from bruit.ledger.books.entries import Place, Request
from bruit.ledger.books.units import Units
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    EACH_ROW,
    LOCAL,
    REPLACE_ONE,
    Approximate,
    Assumption,
    Covers,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Interval,
    NormalShift,
    Pure,
    ZeroConcentrated,
)


def pure(epsilon: Any, neighbours: Neighbours = ADD_OR_REMOVE_ONE) -> Pure:
    return Pure(epsilon, neighbours=neighbours)


def test_ten_tenths_are_one(new: Callable[..., Ledger]) -> None:
    ledger = new()
    budget = ledger.budget(epsilon=0.1)
    for _ in range(10):
        budget.charge(pure(0.1), what="count")
    assert ledger.spent.epsilon == 1
    assert ledger.remaining.epsilon == 0
    with pytest.raises(BudgetExceeded):
        ledger.budget(epsilon="1/1000000000000").charge(pure("1/1000000000000"), what="count")


def test_thirds_sevenths_and_thirteenths_add_up_to_one(new: Callable[..., Ledger]) -> None:
    ledger = new()
    for parts in (3, 7, 13):
        for _ in range(parts):
            ledger.budget(epsilon=Fraction(1, 3 * parts)).charge(pure(Fraction(1, 3 * parts)), what="count")
    assert ledger.spent.epsilon == 1


def test_a_refused_charge_names_asked_left_and_total_and_changes_nothing(new: Callable[..., Ledger]) -> None:
    ledger = new(epsilon=1, delta=1e-5)
    ledger.budget(epsilon=0.75).charge(pure(0.75), what="count")
    with pytest.raises(BudgetExceeded, match=r"asked ε = 0\.5; left ε = 0\.25, δ = 1e-05 of ε = 1, δ = 1e-05"):
        ledger.budget(epsilon=0.5).charge(pure(0.5), what="count")
    assert len(ledger.entries) == 1
    assert ledger.spent.epsilon == Fraction(3, 4)


@pytest.mark.parametrize("epsilon", [12_900, "1e300"])
def test_a_charge_beyond_64_bits_is_refused_like_any_other(new: Callable[..., Ledger], epsilon: Any) -> None:
    """Databases failed on such a number, with an error of their own."""
    ledger = new(epsilon=1)
    months = ledger.partition("month")
    for budget in (ledger.budget(epsilon=epsilon), months.budget("january", epsilon=epsilon)):
        with pytest.raises(BudgetExceeded, match=r"asked ε = .*; left ε = 1 of ε = 1; nothing was charged"):
            budget.charge(budget.loss, what="count")
    assert (len(ledger.entries), ledger.spent.epsilon, months.spent("january").epsilon) == (0, 0, 0)


def test_delta_runs_out_by_itself(new: Callable[..., Ledger]) -> None:
    ledger = new(delta=1e-5)
    loss = Approximate(0.01, 6e-6, neighbours=ADD_OR_REMOVE_ONE)
    budget = ledger.budget(epsilon=0.01, delta=6e-6)
    budget.charge(loss, what="mean")
    with pytest.raises(BudgetExceeded, match=r"left ε = 0\.99, δ = 4e-06 of ε = 1, δ = 1e-05"):
        budget.charge(loss, what="mean")
    ledger.budget(epsilon=0.01, delta=4e-6).charge(Approximate(0.01, 4e-6, neighbours=ADD_OR_REMOVE_ONE), what="mean")
    with pytest.raises(BudgetExceeded, match=r"left ε = 0\.98, δ = 0 of"):
        budget.charge(loss, what="mean")
    assert ledger.spent.delta == Fraction(1, 10**5)


def test_a_loss_dearer_than_its_price_is_refused(new: Callable[..., Ledger]) -> None:
    ledger = new()
    with pytest.raises(BudgetExceeded, match="its price was"):
        ledger.budget(epsilon=0.1).charge(pure(0.2), what="count")
    with pytest.raises(BudgetExceeded, match="its price was"):
        ledger.budget(DiscreteLaplace(10, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE)).charge(pure(0.2), what="count")
    assert not ledger.entries


def test_what_a_loss_really_costs_is_charged(new: Callable[..., Ledger]) -> None:
    ledger = new()
    charge = ledger.budget(epsilon=0.5).charge(
        DiscreteLaplace(10, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE), what="central.count"
    )
    assert ledger.spent.epsilon == charge.guarantee.epsilon == Fraction(1, 10)


def test_rule_3_a_book_refuses_losses_of_other_neighbours(new: Callable[..., Ledger]) -> None:
    ledger = new()
    with pytest.raises(NeighboursDiffer):
        ledger.budget(epsilon=0.1).charge(pure(0.1, REPLACE_ONE), what="count")
    with pytest.raises(NeighboursDiffer):
        ledger.budget(pure(0.1, REPLACE_ONE))


def test_the_unit_and_the_neighbours_stand_in_every_guarantee(new: Callable[..., Ledger]) -> None:
    ledger = new(person=EACH_ROW, neighbours=REPLACE_ONE)
    charge = ledger.budget(epsilon=0.1).charge(
        pure(0.1, REPLACE_ONE), what="mean", assumes=[Assumption.PUBLIC_SIZE, Assumption.SEEDED, Assumption.SEEDED]
    )
    for guarantee in (charge.guarantee, ledger.entries[0].guarantee, ledger.guarantee):
        assert (guarantee.person, guarantee.neighbours) == (EACH_ROW, REPLACE_ONE)
        assert guarantee.assumes == (Assumption.PUBLIC_SIZE, Assumption.SEEDED)
    assert ledger.guarantee.epsilon == 1


def test_entries_say_when_what_by_whom_and_the_running_total(
    new: Callable[..., Ledger], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("getpass.getuser", lambda: "ada")
    ledger = new()
    loss = DiscreteLaplace("20/3", sensitivity=1, neighbours=ADD_OR_REMOVE_ONE)
    for what in ("first", "second"):
        ledger.budget(epsilon=0.15).charge(loss, what=what)
    first, second = ledger.entries
    assert (first.number, second.number) == (1, 2)
    assert (first.what, second.what, second.who) == ("first", "second", "ada")
    assert first.when <= second.when
    assert first.loss == second.loss == loss
    assert second.total.exact[0] == Fraction(3, 10)


def test_a_finished_release_stays_and_reading_it_is_free(new: Callable[..., Ledger]) -> None:
    ledger = new()
    charge = ledger.budget(epsilon=0.1).charge(pure(0.1), what="histogram")
    interval = Interval(np.array([0.0, 1.0]), np.array([2.0, 3.0]), 0.95, Covers.TABLE, joint=True)
    release = charge.finish(Outcome(np.array([1, 2]), "histogram", ("a", "b"), interval, 0.5, {"cells": 2}))
    assert (release.guarantee, release.receipt) == (charge.guarantee, Receipt("payroll", ledger.book.identity, 1))
    (kept,) = ledger.releases
    assert (kept.to_json(), kept.receipt) == (release.to_json(), release.receipt)
    assert ledger.spent.epsilon == Fraction(1, 10)


def test_what_was_never_finished_counts_as_spent(new: Callable[..., Ledger]) -> None:
    ledger = new()
    ledger.budget(epsilon=1).charge(pure(1), what="crashed")
    assert ledger.releases == ()
    assert (ledger.entries[0].release, ledger.entries[0].state) == (None, "open")
    with pytest.raises(BudgetExceeded):
        ledger.budget(epsilon=1).charge(pure(1), what="again")


def test_a_second_finish_does_not_replace_the_first(new: Callable[..., Ledger]) -> None:
    charge = new().budget(epsilon=0.1).charge(pure(0.1), what="count")
    charge.finish(Outcome(1, "count"))
    charge.finish(Outcome(2, "count"))
    assert [kept.value for kept in charge.ledger.releases] == [1]


def test_the_same_terms_open_and_other_terms_are_refused(store: Any) -> None:
    terms: dict[str, Any] = {"epsilon": 2, "delta": 1e-6, "neighbours": REPLACE_ONE, "person": "id", "by": ("rdp", 8)}
    ledger = Ledger("payroll", **terms, store=store)
    assert Ledger("payroll", **terms, store=store) == ledger
    assert Ledger.open("payroll", store) == ledger
    assert Ledger.open("payroll", store).terms == ledger.terms
    other = {"epsilon": 3, "delta": 1e-5, "neighbours": ADD_OR_REMOVE_ONE, "person": EACH_ROW, "by": "zcdp"}
    for name, value in other.items():
        with pytest.raises(TermsDiffer, match=name):
            Ledger("payroll", **(terms | {name: value}), store=store)


def test_an_unknown_book_is_not_made_by_opening_it(store: str, tmp_path: Path) -> None:
    Ledger("payroll", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person="id", store=store)
    with pytest.raises(UnknownLedger, match="payroll"):
        Ledger.open("pay", store)
    missing = tmp_path / "missing.db"
    with pytest.raises(UnknownLedger):
        Ledger.open("payroll", f"sqlite:///{missing}")
    assert not missing.exists()


def test_nothing_is_lost_after_reopening(store: str) -> None:
    ledger = Ledger("payroll", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person="id", store=store)
    charge = ledger.budget(epsilon=0.25).charge(pure(0.25), what="count")
    charge.finish(Outcome(7, "count"))
    again = Ledger.open("payroll", store)
    assert again.entries == ledger.entries
    assert again.remaining == ledger.remaining


@pytest.mark.parametrize(
    "terms",
    [
        {"epsilon": 0},
        {"epsilon": 20_000},
        {"epsilon": float("inf")},
        {"delta": 1},
        {"neighbours": "replace one"},
        {"person": ""},
        {"by": "pld", "delta": 1e-5},
        {"by": "zcdp"},
        {"by": ("rdp", 1), "delta": 1e-5},
        {"by": ("rdp", 1.1), "delta": 1e-9},
        {"name": ""},
    ],
)
def test_rule_1_terms_are_stated_and_make_sense(terms: Any) -> None:
    usual = {"name": "x", "epsilon": 1, "neighbours": ADD_OR_REMOVE_ONE, "person": "id"}
    with pytest.raises(InvalidArgument):
        Ledger(**(usual | terms))


def test_rule_1_no_term_has_a_private_default() -> None:
    for missing in ("epsilon", "neighbours", "person"):
        terms: dict[str, Any] = {"epsilon": 1, "neighbours": ADD_OR_REMOVE_ONE, "person": "id"}
        del terms[missing]
        with pytest.raises(TypeError, match=missing):
            Ledger("x", **terms)


def test_a_book_by_zcdp_takes_more_small_releases_than_one_by_basic(new: Callable[..., Ledger]) -> None:
    loss = Pure(0.01, neighbours=ADD_OR_REMOVE_ONE)
    granted = {}
    for by in ("basic", "zcdp", ("rdp", 20)):
        ledger = new(f"book {by}", delta=1e-6, by=by)
        granted[by] = int(ledger.book.limit.main // _cost(ledger, loss))
        assert ledger.remaining.total * 10**9 > 0
    assert granted["basic"] == 100
    assert granted["zcdp"] > 300
    assert granted["rdp", 20] > 100


def _cost(ledger: Ledger, loss: Pure) -> int:
    ledger.budget(loss).charge(loss, what="one")
    return ledger.entries[-1].cost.main


def test_rule_4_books_by_zcdp_and_rdp_stop_within_their_epsilon(new: Callable[..., Ledger]) -> None:
    loss = ZeroConcentrated(0.004, neighbours=ADD_OR_REMOVE_ONE)
    for by in ("zcdp", ("rdp", 12)):
        ledger = new(f"book {by}", delta=1e-6, by=by)
        with pytest.raises(BudgetExceeded):
            for _ in range(10_000):
                ledger.budget(loss).charge(loss, what="gaussian")
        spent = ledger.spent
        assert Fraction(9, 10) < spent.epsilon <= 1
        assert spent.delta == Fraction(1, 10**6)
        assert ledger.remaining.total < Fraction(4, 1000) * 12


def test_rule_4_a_loss_that_may_fail_has_no_place_among_divergences(new: Callable[..., Ledger]) -> None:
    ledger = new(delta=1e-5, by="zcdp")
    with pytest.raises(NotPrivate):
        ledger.budget(epsilon=0.1, delta=1e-6).charge(Approximate(0.1, 1e-6, neighbours=ADD_OR_REMOVE_ONE), what="mean")
    assert not ledger.entries


def test_rule_4_gaussian_noise_in_a_basic_book_is_priced_at_the_delta_of_its_budget(new: Callable[..., Ledger]) -> None:
    ledger = new(epsilon=3, delta=1e-5)
    loss = DiscreteGaussian(100, squared_sensitivity=1, neighbours=ADD_OR_REMOVE_ONE)
    with pytest.raises(InvalidArgument, match="delta="):
        ledger.budget(epsilon=1).charge(loss, what="count")
    charge = ledger.budget(epsilon=1, delta=1e-6).charge(loss, what="count")
    assert 0 < ledger.spent.epsilon <= 1
    assert ledger.spent.delta == charge.guarantee.delta == Fraction(1, 10**6)


def test_rule_4_a_declared_list_is_one_charge(new: Callable[..., Ledger]) -> None:
    ledger = new(epsilon=3, delta=1e-5)
    losses = [Gaussian(20, neighbours=ADD_OR_REMOVE_ONE)] * 30
    together = ledger.budget(losses, delta=1e-6, by="pld")
    alone = ledger.budget(losses[0], delta=1e-6, by="pld")
    together.charge(together.loss, what="thirty means, declared beforehand")
    (entry,) = ledger.entries
    assert entry.guarantee.by == "pld"
    assert ledger.spent.epsilon < 30 * alone.epsilon
    assert dict(entry.loss.parts()) == {losses[0]: 30}


def test_rule_4_the_losses_of_a_declared_list_are_drawn_once_each_from_one_charge(new: Callable[..., Ledger]) -> None:
    ledger = new(epsilon=3, delta=1e-5)
    losses = [DiscreteLaplace(10, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE)] * 30
    budgets = ledger.declare(losses, delta=1e-6, what="thirty counts")
    spent = ledger.spent
    assert spent.epsilon < Fraction(30, 10)
    for budget in budgets[:2]:
        assert budget.epsilon == Fraction(1, 10)
        charge = budget.charge(losses[0], what="central.count")
        charge.finish(Outcome(3, "count"))
    with pytest.raises(BudgetExceeded, match="used before"):
        copy.deepcopy(budgets[1]).charge(losses[0], what="central.count")
    with pytest.raises(BudgetExceeded, match="declared"):
        budgets[2].charge(DiscreteLaplace(20, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE), what="central.count")
    assert ledger.spent == spent
    assert [line.source for line in ledger.entries] == [None, "entry 1, loss 1", "entry 1, loss 2"]
    assert len(ledger.releases) == 2
    assert [line.state for line in ledger.entries] == ["finished"] * 3, "the list itself releases nothing"


def test_rule_13_a_declared_list_is_priced_before_it_is_charged(new: Callable[..., Ledger]) -> None:
    """Once it was charged, and then refused where the book's own accountant had no price for one of its losses."""
    ledger = new(epsilon=3, delta=1e-5)
    shift = NormalShift("0.01", neighbours=ADD_OR_REMOVE_ONE)
    budgets = ledger.declare([shift] * 3, delta=1e-6, by="gdp", what="three streams")
    spent = ledger.spent
    assert budgets[0].charge(shift, what="one of them").guarantee.by == "gdp"
    assert (ledger.spent, len(ledger.entries)) == (spent, 2)

    with pytest.raises(PrivacyError):
        ledger.declare([shift], delta=1e-6, by="pld", what="no price")
    assert len(ledger.entries) == 2


def test_a_price_is_one_thing(new: Callable[..., Ledger]) -> None:
    ledger = new()
    for wrong in ({}, {"loss": pure(1), "epsilon": 1}):
        with pytest.raises(InvalidArgument):
            ledger.budget(**wrong)


@pytest.mark.parametrize("epsilon", [0, -1, "0", "-1e-9"])
def test_a_price_of_nothing_is_refused_at_the_door(new: Callable[..., Ledger], epsilon: Any) -> None:
    ledger = new()
    for door in (ledger.budget, lambda **price: ledger.partition("region").budget("north", **price)):
        with pytest.raises(InvalidArgument, match="must be above zero"):
            door(epsilon=epsilon)


def test_rule_4_no_charge_gives_back_what_was_spent(new: Callable[..., Ledger]) -> None:
    ledger = new()
    ledger.budget(epsilon=1).charge(pure(1), what="all of it")
    place = Place(ledger.partition("region").name, "north", 1)
    paid = ledger.entries[0]
    for cost, where in itertools.product([Units(-1, 0), Units(0, -1), Units(5, -1)], [None, place]):
        with pytest.raises(LedgerError, match="must not be negative"):
            ledger.book.write(Request("refund", "nobody", pure(1), paid.guarantee, cost, "1", where))
    assert (ledger.spent.epsilon, ledger.spent.delta, len(ledger.entries)) == (1, 0, 1)
    with pytest.raises(BudgetExceeded):
        ledger.budget(epsilon="1e-12").charge(pure("1e-12"), what="more")


def test_rule_5_a_cell_is_charged_by_the_partition_that_was_declared(new: Callable[..., Ledger]) -> None:
    ledger = new(epsilon=1)
    honest = ledger.partition("region", cells=2).budget("a", epsilon="0.5")
    for cell in "ab":
        forged = dataclasses.replace(honest, place=Place("region", cell, 0))
        forged.charge(pure("0.5"), what="count")
    assert ledger.spent.epsilon == 1
    unknown = dataclasses.replace(honest, place=Place("never declared", "a", 0))
    with pytest.raises(LedgerError, match="was not declared"):
        unknown.charge(pure("0.5"), what="count")
    assert len(ledger.entries) == 2


def test_a_budget_says_whether_it_pays_for_a_part(new: Callable[..., Ledger]) -> None:
    ledger = new()
    assert not ledger.budget(epsilon=1).covers_a_part
    assert ledger.partition("region").budget("north", epsilon=1).covers_a_part


def test_what_a_local_book_assumes_is_carried_with_it(new: Callable[..., Ledger]) -> None:
    local = new("survey", neighbours=LOCAL, person="respondent", epsilon=5)
    local.budget(epsilon=1).charge(pure(1, LOCAL), what="question", assumes=[Assumption.SEEDED])
    table = new("table", neighbours=REPLACE_ONE, epsilon=5)
    assert table.carry(local).guarantee.assumes == (Assumption.SEEDED,)
    assert table.guarantee.assumes == (Assumption.SEEDED,)


def test_a_local_book_is_carried_into_replacement_as_pure_epsilon_and_only_what_is_new(
    new: Callable[..., Ledger],
) -> None:
    local = new("survey", neighbours=LOCAL, person="respondent", epsilon=5)
    local.budget(epsilon=1).charge(pure(1, LOCAL), what="question 1")
    table = new("table", neighbours=REPLACE_ONE, epsilon=5)
    table.carry(local)
    assert table.carry(local) is None
    local.respondents.budget("17", epsilon=0.5).charge(pure(0.5, LOCAL), what="question 2")
    table.carry(local)
    assert table.spent.epsilon == Fraction(3, 2)
    assert [line.guarantee.neighbours for line in table.entries] == [REPLACE_ONE, REPLACE_ONE]
    assert [(line.state, line.release) for line in table.entries] == [("finished", None)] * 2


def test_rule_3_a_local_book_is_never_carried_into_add_or_remove(new: Callable[..., Ledger]) -> None:
    local = new("survey", neighbours=LOCAL, person="respondent")
    local.budget(epsilon=1).charge(pure(1, LOCAL), what="question")
    for target in (new("table"), new("other survey", neighbours=LOCAL)):
        with pytest.raises(NeighboursDiffer):
            target.carry(local)
    failing = new("failing", neighbours=LOCAL, delta=1e-3)
    failing.budget(epsilon=0.1, delta=1e-4).charge(Approximate(0.1, 1e-4, neighbours=LOCAL), what="question")
    with pytest.raises(NotPrivate):
        new("replacement", neighbours=REPLACE_ONE).carry(failing)
