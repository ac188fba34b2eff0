"""Repairs ledgers after a restore from a backup or a wrong clock; each repair is written as an entry."""

from __future__ import annotations

from fractions import Fraction

from bruit.core.guarantee import Guarantee
from bruit.core.losses import Pure
from bruit.core.numbers import Exact, exactly
from bruit.ledger.books.entries import Request, user
from bruit.ledger.books.units import NOTHING
from bruit.ledger.charges import Charge
from bruit.ledger.ledger import Ledger
from bruit.ledger.pricing import ACCOUNTANT


def mark_restored(store: str, at: int) -> tuple[str, ...]:
    """Makes the books of a restored store refuse charges until `resume`; returns their names."""
    from bruit.ledger.books.stored import mark_restored as mark

    return mark(store, at)


def resume(name: str, store: str, *, forgotten: Exact, delta: Exact = 0) -> Charge:
    """Charges for what was spent after the backup, and lets the restored book accept charges again.

    `forgotten` is the ε of everything that was released after the backup, 0 where nothing was: only people can know.
    """
    from bruit.ledger.books.stored import find

    ledger, what = Ledger.open(name, store), "ledger.resume"
    request = _free(ledger, what)
    if exactly(forgotten, "forgotten") > 0:
        budget = ledger.budget(epsilon=forgotten, delta=delta)
        quote = budget.quote(budget.loss, what=what)
        request = Request(what, user(), budget.loss, quote.guarantee, quote.cost, ACCOUNTANT)
    return _closed(ledger, request, find(name, store).resume(request).number)


def repair_clock(name: str, store: str) -> Charge:
    """Lets a book accept charges again whose last entry was dated in the future by a wrong clock.

    The entries stay as they are; the repair is one of them, at no cost.
    """
    from bruit.ledger.books.stored import find

    ledger = Ledger.open(name, store)
    request = _free(ledger, "ledger.repair-clock")
    return _closed(ledger, request, find(name, store).repair_clock(request).number)


def _free(ledger: Ledger, what: str) -> Request:
    nothing = Guarantee(Fraction(0), Fraction(0), ledger.neighbours, ledger.person, ledger.terms.accounting)
    return Request(what, user(), Pure(0, neighbours=ledger.neighbours), nothing, NOTHING, ACCOUNTANT)


def _closed(ledger: Ledger, request: Request, number: int) -> Charge:
    charge = Charge(ledger, number, request.loss, request.guarantee)
    charge.close()
    return charge
