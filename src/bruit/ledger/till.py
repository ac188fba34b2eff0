"""How every private answer is paid for: ask, price, pay, only then read the data, and finish the entry.

    purchase = ask(budget, what="central.count", person=table.person, rng=rng)   # everything public is checked
    loss = ...                                                                   # the noise that purchase.price buys
    charge = purchase.pay(loss)                                                  # stands in the book, as open
    value = ...                                                                  # only now is the data read
    return charge.finish(Outcome(value, ...))                                    # the release, kept in its entry

After `pay` only the store can refuse: an error would depend on records, and what was charged stays charged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, overload

import numpy as np

from bruit.core.guarantee import Assumption
from bruit.core.losses import Loss
from bruit.core.neighbours import EACH_ROW, LOCAL
from bruit.core.seeds import RandomState, Seed, seed_of_rng, seed_of_state
from bruit.errors import BudgetMissing, InvalidArgument, NeighboursDiffer, NotPrivate, PrivacyError
from bruit.ledger.budget import WITHOUT_PRIVACY, Budget, Payment, require
from bruit.ledger.charges import Charge, Quote

R = TypeVar("R")


@dataclass(frozen=True)
class Purchase:
    """An answer about to be paid for: its budget, its name in the ledger and the source of its noise."""

    price: Budget
    what: str
    seed: Seed

    def quote(self, loss: Loss, *, assumes: Iterable[Assumption] = (), otherwise: str | None = None) -> Quote:
        """The guarantee and the cost that a loss would have; nothing is charged."""
        told = (*assumes, *self.seed.assumes)
        return self._try_price(lambda price: price.quote(loss, what=self.what, assumes=told), otherwise)

    def pay(
        self,
        loss: Loss,
        *,
        assumes: Iterable[Assumption] = (),
        otherwise: str | None = None,
        source: str | None = None,
    ) -> Charge:
        """Commits the charge, or raises and changes nothing; the guarantee says whether the noise is seeded.

        `otherwise` names the accountant of a loss for which a book by "basic" has none; a `source` can pay only once.
        """
        told = (*assumes, *self.seed.assumes)
        charge = self._try_price(
            lambda price: price.charge(loss, what=self.what, assumes=told, source=source), otherwise
        )
        return replace(charge, seed=self.seed)

    def _try_price(self, act: Callable[[Budget], R], otherwise: str | None) -> R:
        try:
            return act(self.price)
        except NotPrivate:
            chosen = self.price.by is not None or self.price.ledger.terms.by != "basic"
            if otherwise is None or chosen or not self.price.delta:
                raise
            return act(replace(self.price, by=otherwise))


@overload
def ask(
    budget: Payment,
    *,
    what: str,
    person: str | None,
    rng: np.random.Generator | None = ...,
    random_state: RandomState = ...,
    exact: Literal[False] = ...,
) -> Purchase: ...


@overload
def ask(
    budget: Payment,
    *,
    what: str,
    person: str | None,
    rng: np.random.Generator | None = ...,
    random_state: RandomState = ...,
    exact: bool,
) -> Purchase | None: ...


def ask(
    budget: Payment,
    *,
    what: str,
    person: str | None,
    rng: np.random.Generator | None = None,
    random_state: RandomState = None,
    exact: bool = False,
) -> Purchase | None:
    """Prepares a purchase, or raises an error that says what to give; None if the exact algorithm is asked for.

    `person` is whose rows the data holds; None where people have several rows and only the book names them. `exact`
    says that there is a form without privacy. Refused are, in this order: no budget, a LOCAL book, an ε of zero, a book
    that protects other people, and what is no source of randomness (`rng` of a function, `random_state` of an
    estimator).
    """
    price = None if exact and budget is WITHOUT_PRIVACY else _price(budget, what, exact=exact)
    if price is not None:
        _require_curator(price, what)
        _require_own_people(price, what, person)
    seed = seed_of_rng(rng) if random_state is None else seed_of_state(random_state)
    return None if price is None else Purchase(price, what, seed)


def _price(budget: Any, what: str, *, exact: bool) -> Budget:
    if budget is None:
        raise BudgetMissing(what, exact=exact)
    return require(budget, what)


def _require_curator(price: Budget, what: str) -> None:
    if price.neighbours is LOCAL:
        raise NeighboursDiffer(
            f"{what} reads data behind one curator; the book {price.ledger.name!r} is local, kept by respondents: "
            "use a book for add or remove one, or for replace one"
        )
    if price.epsilon == 0:
        raise InvalidArgument(f"{what}: a price of epsilon=0 buys no answer; give an epsilon above zero")


def _require_own_people(price: Budget, what: str, person: str | None) -> None:
    fits = price.person != EACH_ROW if person is None else price.person == person
    if not fits:
        told = {None: "people have several rows", EACH_ROW: "each row is a person of its own"}
        raise PrivacyError(
            f"{what}: the book {price.ledger.name!r} protects {price.person!r}, but here "
            f"{told.get(person, f'the rows belong to {person!r}')}; use a book for these people, or say whose row each "
            "is: tables.read(..., person=...), or fit(..., groups=...)"
        )
