"""Budgets: a price together with the ledger that pays it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal

from bruit.core.guarantee import Assumption, Guarantee
from bruit.core.losses import Approximate, Loss, Pure, composed
from bruit.core.neighbours import LOCAL, REPLACE_ONE, Neighbours
from bruit.core.numbers import Exact, as_float, exactly, positive, probability
from bruit.errors import (
    BudgetExceeded,
    BudgetMissing,
    InvalidArgument,
    NeighboursDiffer,
    NotPrivate,
)
from bruit.ledger.books.entries import Place, Request, user
from bruit.ledger.books.units import NOTHING, Units
from bruit.ledger.charges import Charge, Quote
from bruit.ledger.pricing import ACCOUNTANT, PricedLoss, cost, price
from bruit.privacy.groups import LossCurve

if TYPE_CHECKING:
    from bruit.ledger.ledger import Ledger


class WithoutPrivacy(Enum):
    """The type of `WITHOUT_PRIVACY`, the budget that asks for the exact algorithm without noise."""

    WITHOUT_PRIVACY = "without privacy"


WITHOUT_PRIVACY: Final = WithoutPrivacy.WITHOUT_PRIVACY
"""Given as `budget=`, it asks for the exact algorithm: nothing is charged and nothing is promised."""


@dataclass(frozen=True)
class Budget:
    """A price and the ledger that pays it; every use charges again, so clones, retries and folds pay too."""

    ledger: Ledger
    loss: Loss
    epsilon: Fraction
    delta: Fraction
    by: str | None = None
    place: Place | None = None
    room: Units | None = field(default=None, repr=False)
    prepaid: str | None = None

    def __repr__(self) -> str:
        by = f", by {self.by}" if self.by else ""
        return f"Budget(ε = {as_float(self.epsilon):g}, δ = {as_float(self.delta):g}{by} of {self.ledger!r})"

    @property
    def neighbours(self) -> Neighbours:
        """The neighbouring relation of the ledger."""
        return self.ledger.neighbours

    @property
    def person(self) -> str:
        """The person that the book protects: a column's name, or EACH_ROW."""
        return self.ledger.person

    @property
    def covers_a_part(self) -> bool:
        """Whether this budget pays for one cell of a partition only, which records can enter or leave."""
        return self.place is not None

    def quote(self, loss: Loss, *, what: str, assumes: Iterable[Assumption] = ()) -> Quote:
        """The guarantee and cost of a loss, without charging; refuses a loss that costs more than the price."""
        if loss.neighbours is not self.neighbours:
            raise NeighboursDiffer(
                f"the loss of {what} is for {loss.neighbours}, the book {self.ledger.name!r} for {self.neighbours}; "
                "state the loss for the book's neighbours"
            )
        amount = price(loss, delta=self.delta, by=self.by, terms=self.ledger.terms)
        added = self._cost(loss, amount, what)
        assumed = tuple(dict.fromkeys(assumes))
        behind = LossCurve(loss, amount.by)
        promised = Guarantee(amount.epsilon, amount.delta, self.neighbours, self.person, amount.by, assumed, behind)
        return Quote(loss, promised, added)

    def charge(self, loss: Loss, *, what: str, assumes: Iterable[Assumption] = (), source: str | None = None) -> Charge:
        """Charges a loss before any data is read, or raises and changes nothing.

        The loss may cost less than the price, never more; what is charged is what the loss costs. With a `source` the
        book refuses a second charge from it: what a process that died had paid for is not paid for again.
        """
        if source is not None and self.prepaid is not None:
            raise InvalidArgument(
                f"{what} is charged under a name of its own, a loss of a declared list under its place there: pay with "
                "budget=ledger.budget(...)"
            )
        quote = self.quote(loss, what=what, assumes=assumes)
        asked = (what, user(), loss, quote.guarantee, quote.cost, ACCOUNTANT, self.place)
        of = source or self.prepaid
        request = Request(*asked, source=of, once=of is not None)
        return Charge(self.ledger, self.ledger.book.write(request).number, loss, quote.guarantee)

    def _cost(self, loss: Loss, amount: PricedLoss, what: str) -> Units:
        """What the book must add: nothing for the loss of a declared list, which was charged as a whole."""
        if self.prepaid is None:
            added = cost(loss, amount, self.ledger.terms)
            self._require_within(amount, added, what)
            return added
        if loss != self.loss:
            raise BudgetExceeded(
                f"{what} would lose {loss}, declared and paid for was {self.loss}; nothing was charged"
            )
        return NOTHING

    def _require_within(self, amount: PricedLoss, added: Units, what: str) -> None:
        fits = added.within(self.room) if self.room is not None else _not_dearer(amount, self.epsilon, self.delta)
        if not fits:
            raise BudgetExceeded(
                f"{what} would cost ε = {as_float(amount.epsilon):.6g}, δ = {float(amount.delta):.3g}; its price was "
                f"ε = {as_float(self.epsilon):.6g}, δ = {float(self.delta):.3g}; nothing was charged. Raise the price"
            )


def make_budget(
    ledger: Ledger,
    loss: Loss | Sequence[Loss] | None,
    *,
    epsilon: Exact | None,
    delta: Exact | None,
    by: str | None,
    place: Place | None,
) -> Budget:
    """Makes a budget from an (ε, δ), from a loss, or from a list of losses declared beforehand."""
    if (loss is None) == (epsilon is None):
        raise InvalidArgument("a price is budget(epsilon=..., delta=...) or budget(loss): give one of them")
    if epsilon is not None:
        positive(epsilon, "epsilon")
        stated = _stated_loss(epsilon, delta or 0, ledger.neighbours)
        return Budget(ledger, stated, exactly(epsilon, "epsilon"), probability(delta or 0, "delta"), by, place)
    planned = loss if isinstance(loss, Loss) else composed([(each, 1) for each in loss or ()])
    if planned.neighbours is not ledger.neighbours:
        raise NeighboursDiffer(
            f"the loss is for {planned.neighbours}, the book {ledger.name!r} for {ledger.neighbours}; "
            "state the loss for the book's neighbours"
        )
    terms = ledger.terms
    own = None if terms.by == "basic" else terms.delta
    value = price(planned, delta=own if delta is None else probability(delta, "delta"), by=by, terms=terms)
    return Budget(ledger, planned, value.epsilon, value.delta, by, place, cost(planned, value, terms))


def carry(local: Ledger, *, into: Ledger) -> Charge | None:
    """Charges a LOCAL ledger's largest total, as pure ε, to a replace-one ledger, less what was carried before."""
    if local.neighbours is not LOCAL or into.neighbours is not REPLACE_ONE:
        raise NeighboursDiffer(
            f"a book for {local.neighbours} cannot be carried into one for {into.neighbours}: "
            f"only a book for {LOCAL} into one for {REPLACE_ONE}"
        )
    if local.terms.by != "basic" or local.spent.delta:
        raise NotPrivate(f"the book {local.name!r} is not purely ε-private; only pure ε is carried into another book")
    lost = Pure(local.spent.epsilon, neighbours=REPLACE_ONE)
    value = price(lost, delta=None, by=None, terms=into.terms)
    # Two who carry at once both read the same sum and charge twice: too much is charged, never too little.
    new = cost(lost, value, into.terms).minus(into.book.carried(local.book.identity))
    if new.main <= 0:
        return None
    assumed = local.guarantee.assumes
    guarantee = Guarantee(value.epsilon, value.delta, REPLACE_ONE, into.person, value.by, assumed)
    what = f"carried from the local book {local.name}"
    request = Request(what, user(), lost, guarantee, new, ACCOUNTANT, None, local.book.identity)
    charge = Charge(into, into.book.write(request).number, lost, guarantee)
    charge.close()
    return charge


def _stated_loss(epsilon: Exact, delta: Exact, neighbours: Neighbours) -> Loss:
    return Approximate(epsilon, delta, neighbours=neighbours) if delta else Pure(epsilon, neighbours=neighbours)


Payment = Budget | Literal[WithoutPrivacy.WITHOUT_PRIVACY] | None
"""What may be given as `budget=`."""


def require(budget: Any, what: str) -> Budget:
    """Returns the budget given for `what`, or raises an error that says how to give one."""
    if isinstance(budget, Budget):
        return budget
    if budget is None:
        raise BudgetMissing(what)
    if budget is WITHOUT_PRIVACY:
        raise InvalidArgument(f"{what} has no form without privacy: give budget=ledger.budget(epsilon=...)")
    raise InvalidArgument(f"budget={budget!r} is not a budget: {what} is paid with budget=ledger.budget(epsilon=...)")


def _not_dearer(amount: PricedLoss, epsilon: Fraction, delta: Fraction) -> bool:
    return amount.epsilon <= epsilon and amount.delta <= delta
