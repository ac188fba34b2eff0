"""Cells are paid for side by side, people pay for the cells they can be in."""

from collections.abc import Callable
from fractions import Fraction

import pytest

from bruit.errors import BudgetExceeded, InvalidArgument, NeighboursDiffer, TermsDiffer
from bruit.ledger import Ledger, Partition
from bruit.privacy import ADD_OR_REMOVE_ONE, LOCAL, REPLACE_ONE, Approximate, Pure


def pay(partition: Partition, cell: str, epsilon: float) -> None:
    loss = Pure(epsilon, neighbours=partition.ledger.neighbours)
    partition.budget(cell, epsilon=epsilon).charge(loss, what="count")


def test_rule_5_add_or_remove_pays_the_worst_cell(new: Callable[..., Ledger]) -> None:
    ledger = new()
    months = ledger.partition("month")
    for cell, epsilon in (("january", 0.5), ("february", 0.75), ("january", 0.125)):
        pay(months, cell, epsilon)
    assert ledger.spent.epsilon == Fraction(3, 4)
    pay(months, "january", 0.375)
    with pytest.raises(BudgetExceeded, match=r"asked ε = 0\.5; left ε = 0\.25"):
        pay(months, "february", 0.5)
    assert months.spent("february").epsilon == Fraction(3, 4)


def test_rule_5_replacement_pays_the_two_largest(new: Callable[..., Ledger]) -> None:
    ledger = new(neighbours=REPLACE_ONE)
    regions = ledger.partition("region")
    for cell, epsilon in (("north", 0.25), ("south", 0.5), ("west", 0.125)):
        pay(regions, cell, epsilon)
    assert ledger.spent.epsilon == Fraction(3, 4)


def test_rule_5_a_person_in_two_cells_pays_the_two_largest(new: Callable[..., Ledger]) -> None:
    ledger = new()
    shops = ledger.partition("shop", cells=2)
    for cell in "abc":
        pay(shops, cell, 0.25)
    assert ledger.spent.epsilon == Fraction(1, 2)


def test_the_whole_and_two_partitions_add_up(new: Callable[..., Ledger]) -> None:
    ledger = new()
    ledger.budget(epsilon=0.25).charge(Pure(0.25, neighbours=ADD_OR_REMOVE_ONE), what="count")
    pay(ledger.partition("month"), "january", 0.25)
    pay(ledger.partition("region"), "north", 0.5)
    assert ledger.remaining.epsilon == 0
    assert ledger.partition("month").spent("january").epsilon == Fraction(1, 2)
    pay(ledger.partition("month"), "february", 0.25)
    assert [line.cell for line in ledger.entries] == [None, "january", "north", "february"]


def test_epsilon_and_delta_may_be_worst_in_different_cells(new: Callable[..., Ledger]) -> None:
    ledger = new(delta=1e-5)
    months = ledger.partition("month")
    for cell, epsilon, delta in (("a", 0.5, 1e-6), ("b", 0.25, 5e-6)):
        loss = Approximate(epsilon, delta, neighbours=ADD_OR_REMOVE_ONE)
        months.budget(cell, epsilon=epsilon, delta=delta).charge(loss, what="mean")
    assert (ledger.spent.epsilon, ledger.spent.delta) == (Fraction(1, 2), Fraction(5, 10**6))


def test_a_partition_is_declared_once(new: Callable[..., Ledger]) -> None:
    ledger = new()
    ledger.partition("month", cells=2)
    ledger.partition("month", cells=2)
    with pytest.raises(TermsDiffer):
        ledger.partition("month")


def test_a_local_book_keeps_a_running_total_for_each_person(new: Callable[..., Ledger]) -> None:
    ledger = new(neighbours=LOCAL, person="respondent")
    people = ledger.respondents
    ledger.budget(epsilon=0.25).charge(Pure(0.25, neighbours=LOCAL), what="asked of everybody")
    pay(people, "ada", 0.5)
    pay(people, "bob", 0.25)
    assert people.spent("ada").epsilon == Fraction(3, 4)
    assert people.spent("bob").epsilon == Fraction(1, 2)
    assert people.spent("eve").epsilon == Fraction(1, 4)
    assert ledger.spent.epsilon == Fraction(3, 4)
    with pytest.raises(BudgetExceeded):
        pay(people, "ada", 0.5)
    pay(people, "bob", 0.5)


def test_only_a_local_book_knows_its_respondents(new: Callable[..., Ledger]) -> None:
    ledger = new()
    with pytest.raises(NeighboursDiffer):
        ledger.respondents  # noqa: B018
    for wrong in ({"name": "respondents"}, {"name": ""}, {"name": "month", "cells": 0}):
        with pytest.raises(InvalidArgument):
            ledger.partition(**wrong)
    with pytest.raises(InvalidArgument):
        ledger.partition("month").budget("", epsilon=1)
