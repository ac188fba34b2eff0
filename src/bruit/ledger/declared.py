"""Lists of losses that are declared beforehand, priced together and charged at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bruit.core.losses import Loss
from bruit.core.numbers import Exact
from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger.budget import Budget, make_budget
from bruit.ledger.pricing import PricedLoss, price

if TYPE_CHECKING:
    from bruit.ledger.ledger import Ledger


def declare(ledger: Ledger, losses: Sequence[Loss], *, delta: Exact, by: str, what: str) -> tuple[Budget, ...]:
    """Charges a whole list of losses at once, and returns for each a budget that pays for that loss only, once."""
    if not losses:
        raise InvalidArgument("a declared list needs at least one loss")
    whole = make_budget(ledger, losses, epsilon=None, delta=delta, by=by, place=None)
    prices = [_price(loss, whole) for loss in losses]
    charge = whole.charge(whole.loss, what=what)
    charge.close()
    return tuple(
        Budget(ledger, loss, own.epsilon, own.delta, chosen, prepaid=f"entry {charge.number}, loss {number}")
        for number, (loss, (own, chosen)) in enumerate(zip(losses, prices, strict=True), start=1)
    )


def _price(loss: Loss, whole: Budget) -> tuple[PricedLoss, str | None]:
    """The price of one loss by itself, and the accountant of the list where the book's own has none for it."""
    try:
        return price(loss, delta=whole.delta, by=None, terms=whole.ledger.terms), None
    except NotPrivate:
        return price(loss, delta=whole.delta, by=whole.by, terms=whole.ledger.terms), whole.by
