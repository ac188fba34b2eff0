"""Pays for a stream: one entry in the ledger, charged before any noise is drawn, and never twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fractions import Fraction
from math import exp, log, sqrt
from typing import Any

import numpy as np

from bruit.continual.plan import StreamPlan
from bruit.core import Approximate, Assumption, Loss, NormalShift, Pure, ZeroConcentrated, composed
from bruit.errors import BudgetExceeded, InvalidArgument, NotPrivate
from bruit.ledger import Budget, Charge, Ledger, Payment, Purchase, ask
from bruit.ledger.books.entries import entry

LEAST_SHIFT, LARGEST_SHIFT = 1e-6, 1e3
"""The range of Gaussian shifts (μ) that is searched, from very strong noise to almost none."""

HALVINGS = 60

KEYS_SHARE = Fraction(1, 2)
"""The share of δ that hides keys of a single person; the rest is the noise's."""

NORMAL = "gdp"
"""The accountant of a stream where a book by "basic" names none: the trade-off of the normal law."""


def ask_for_stream(budget: Payment, name: str, rng: np.random.Generator | None = None) -> Purchase:
    """Prepares the purchase of a stream; refuses a budget that could not pay for any stream."""
    what = f"continual.Stream {name}"
    purchase = ask(budget, what=what, person=budget.person if isinstance(budget, Budget) else None, rng=rng)
    price = purchase.price
    if price.covers_a_part:
        raise InvalidArgument(f"{what} is paid for by the whole book, not by one cell of a partition")
    if price.prepaid is not None:
        raise InvalidArgument(
            f"{what} has an entry of its own in the book, beside a declared list: give ledger.budget(...)"
        )
    if price.ledger.book.store is None:
        raise InvalidArgument(
            f"{what} outlives this process: give its book a store, Ledger(..., store='sqlite:///file.db')"
        )
    if isinstance(price.loss, Pure) or price.delta == 0:
        raise NotPrivate(f"{what} has an ε only at some δ: give budget=ledger.budget(epsilon=..., delta=...)")
    return purchase


def affordable(purchase: Purchase, make: Callable[[float], StreamPlan], keys_delta: Fraction) -> StreamPlan:
    """The plan with the least noise that a budget pays for; `make` builds the plan of a Gaussian shift."""
    shift = _stated_shift(purchase.price.loss) or _largest_shift(purchase, keys_delta)
    step = 2.0**-40
    while step < 0.5:
        plan = make(shift)
        if _fits(purchase, loss_of(plan.loss, keys_delta)):
            return plan
        shift, step = shift * (1 - step), 2 * step
    raise BudgetExceeded(
        f"{purchase.what}: ε = {float(purchase.price.epsilon):.6g} does not pay for any noise that 64 bits hold"
    )


def loss_of(shift: NormalShift, keys_delta: Fraction) -> Loss:
    """The loss of a stream, including the δ for keys found in the data."""
    if not keys_delta:
        return shift
    return composed([(shift, 1), (Approximate(0, keys_delta, neighbours=shift.neighbours), 1)])


def pay(purchase: Purchase, loss: Loss, *, assumes: Iterable[Assumption], source: str) -> Charge:
    """Charges a loss once for a source; if it was charged before, returns that charge."""
    try:
        return purchase.pay(loss, assumes=assumes, otherwise=NORMAL, source=source)
    except BudgetExceeded:
        found = charge_from(purchase.price.ledger, source)
        if found is None:
            raise
        return found


def charge_from(ledger: Ledger, source: str) -> Charge | None:
    """The charge that a source was paid with; None where it was not paid."""
    if not any(ledger.book.carried(source)):
        return None
    return next((_charge(ledger, row) for row in ledger.book.rows() if row["source"] == source), None)


def charge_numbered(ledger: Ledger, number: int) -> Charge:
    """The charge of the ledger's entry with that number."""
    return _charge(ledger, next(iter(ledger.book.rows(after=number - 1))))


def keys_delta_of(budget: Budget) -> Fraction:
    """The part of a budget's δ for keys found in the data; a "zcdp" ledger takes it from its failures=."""
    terms = budget.ledger.terms
    if terms.by == "basic":
        return budget.delta * KEYS_SHARE
    if not terms.failures:
        raise NotPrivate(
            "keys that nobody listed may show with some δ, which a book by Rényi divergences cannot add: "
            "keep a book by 'basic' or one with failures=..., or list the keys"
        )
    return min(budget.delta * KEYS_SHARE, terms.failures)


def _charge(ledger: Ledger, row: dict[str, Any]) -> Charge:
    line = entry({**row, "release": None}, ledger.receipt(row["number"]))
    return Charge(ledger, line.number, line.loss, line.guarantee)


def _stated_shift(loss: Loss) -> float | None:
    """The shift that a budget states by itself, where it was given as a loss."""
    if isinstance(loss, NormalShift):
        return sqrt(loss.squared_shift)
    return sqrt(2 * loss.rho) if isinstance(loss, ZeroConcentrated) else None


def _largest_shift(purchase: Purchase, keys_delta: Fraction) -> float:
    low, high = log(LEAST_SHIFT), log(LARGEST_SHIFT)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        bare = NormalShift(Fraction(exp(middle)) ** 2, neighbours=purchase.price.neighbours)
        low, high = (middle, high) if _fits(purchase, loss_of(bare, keys_delta)) else (low, middle)
    return exp(low)


def _fits(purchase: Purchase, loss: Loss) -> bool:
    try:
        purchase.quote(loss, otherwise=NORMAL)
    except (NotPrivate, BudgetExceeded):
        return False
    return True
