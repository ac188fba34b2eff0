"""Lists of losses that are declared beforehand, priced together and charged at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from bruit.core.losses import Loss
from bruit.core.numbers import Exact
from bruit.errors import InvalidArgument
from bruit.ledger.budget import Budget, make_budget
from bruit.ledger.pricing import price

if TYPE_CHECKING:
    from bruit.ledger.ledger import Ledger


def declare(ledger: Ledger, losses: Sequence[Loss], *, delta: Exact, by: str, what: str) -> tuple[Budget, ...]:
    """Charges a whole list of losses at once, and returns for each a budget that pays for that loss only, once."""
    if not losses:
        raise InvalidArgument("a declared list needs at least one loss")
    whole = make_budget(ledger, losses, epsilon=None, delta=delta, by=by, place=None)
    charge = whole.charge(whole.loss, what=what)
    charge.close()
    prices = [price(loss, delta=whole.delta, by=None, terms=ledger.terms) for loss in losses]
    return tuple(
        Budget(ledger, loss, own.epsilon, own.delta, prepaid=f"entry {charge.number}, loss {number}")
        for number, (loss, own) in enumerate(zip(losses, prices, strict=True), start=1)
    )
