"""Faults in ledgers: how a naive budget fails when answers crash, race or are copied."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass

import numpy as np

from bruit.apps.faults.fault import Done, Fault
from bruit.core.losses import Pure
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.errors import BudgetExceeded
from bruit.ledger import Ledger

TOTAL = 1.0


@dataclass
class NaiveBook:
    """A budget as most scripts keep it: a number that the caller must remember to lower."""

    spent: float = 0.0

    def has_room(self, epsilon: float) -> bool:
        """Whether the budget has room, checked without reserving it (the planted race)."""
        return self.spent + epsilon <= TOTAL

    def spend(self, epsilon: float) -> None:
        """Lowers the budget without checking that it has room (the planted race)."""
        self.spent += epsilon


class Crash(Exception):
    """The exception that interrupts an answer after its charge."""


def faults() -> Iterator[Fault]:
    """The planted faults, each beside what the ledger does."""
    for name, story, wrong, right in (
        ("charge after release", "The charge follows the answer; a crash between them makes it free.", _late, _early),
        ("refund on failure", "An answer that crashed is given back, though the data was read.", _refunded, _kept),
        ("look, then take", "Two users both see room for one.", _race, _atomic),
        ("copied book", "A clone of an estimator carries a copy of its budget.", _copied, _one_book),
        ("clone without its accountant", "A clone starts with a new accountant.", _new_accountant, _one_book),
        ("charged at the first fit only", "Fits on other data find the model paid.", _first_fit_only, _every_fit),
    ):
        yield Fault(name, story, "ledger", _overspends(wrong, right), 1, 1)


def _overspends(wrong: Callable[[], bool], right: Callable[[], bool]) -> Callable[..., bool]:
    def looks_wrong(done: Done, _samples: int, _alarm: float, _rng: np.random.Generator) -> bool:
        return wrong() if done == "wrong" else right()

    return looks_wrong


def _ledger() -> Ledger:
    return Ledger("planted", epsilon=TOTAL, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)


def _charge(ledger: Ledger) -> None:
    loss = Pure(1, neighbours=ADD_OR_REMOVE_ONE)
    ledger.budget(epsilon=1).charge(loss, what="planted")


def _late() -> bool:
    """Whether the book is still full although the data was read."""
    book = NaiveBook()
    try:
        _read_and_crash()
        book.spend(1)
    except Crash:
        pass
    return book.has_room(1)


def _early() -> bool:
    ledger = _ledger()
    try:
        _charge(ledger)
        _read_and_crash()
    except Crash:
        pass
    return _has_room(ledger)


def _read_and_crash() -> None:
    """The data was read, and perhaps seen, before this."""
    raise Crash


def _refunded() -> bool:
    """Whether the book is as full after a crash as before."""
    book = NaiveBook()
    book.spend(1)
    try:
        _read_and_crash()
    except Crash:
        book.spend(-1)
    return book.has_room(1)


def _kept() -> bool:
    ledger = _ledger()
    _charge(ledger)
    try:
        _read_and_crash()
    except Crash:
        return _has_room(ledger)
    return False


def _has_room(ledger: Ledger) -> bool:
    try:
        _charge(ledger)
    except BudgetExceeded:
        return False
    return True


def _race() -> bool:
    """Whether two users who look before either takes spend more than there is."""
    book = NaiveBook()
    seen = [book.has_room(1), book.has_room(1)]
    for room in seen:
        if room:
            book.spend(1)
    return book.spent > TOTAL


def _atomic() -> bool:
    ledger = _ledger()
    budgets = [ledger.budget(epsilon=1), ledger.budget(epsilon=1)]
    for budget in budgets:
        try:
            budget.charge(Pure(1, neighbours=ADD_OR_REMOVE_ONE), what="planted")
        except BudgetExceeded:
            continue
    return float(ledger.spent.epsilon) > TOTAL


def _copied() -> bool:
    """Whether a copy spends what the original spent already."""
    book = NaiveBook()
    copy = deepcopy(book)
    book.spend(1)
    return copy.has_room(1)


def _one_book() -> bool:
    ledger = _ledger()
    copy = deepcopy(ledger)
    _charge(ledger)
    return _has_room(copy)


def _new_accountant() -> bool:
    """Whether a clone, made from the same arguments, spends again what the original spent."""
    book = NaiveBook()
    book.spend(1)
    return NaiveBook().has_room(1)


@dataclass
class NaiveModel:
    """An estimator that pays for its first fit only; later fits read the data without paying."""

    book: NaiveBook
    fits: int = 0

    def fit(self) -> None:
        """Reads its data."""
        if self.fits == 0:
            self.book.spend(1)
        self.fits += 1


def _first_fit_only() -> bool:
    """Whether more fits were made than were paid for."""
    model = NaiveModel(NaiveBook())
    model.fit()
    model.fit()
    return model.fits > model.book.spent


def _every_fit() -> bool:
    ledger, fits = _ledger(), 0
    for _ in range(2):
        try:
            _charge(ledger)
        except BudgetExceeded:
            break
        fits += 1
    return fits > float(ledger.spent.epsilon)
