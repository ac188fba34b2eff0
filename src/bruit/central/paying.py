"""Charging a release before its data is read."""

from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from bruit.errors import InvalidArgument, NeighboursDiffer, NotPrivate, PrivacyError
from bruit.ledger import Budget, Charge, require
from bruit.privacy import LOCAL, Approximate, Assumption, Loss, Pure
from bruit.randomness import generator, is_strong
from bruit.tables import Table


def require_price(budget: Any, table: Table, what: str) -> Budget:
    """The budget, where its book protects the people whose rows the table holds."""
    price = require(budget, what)
    if price.neighbours is LOCAL:
        raise NeighboursDiffer(
            f"{what} reads a table behind one curator; the book {price.ledger.name!r} is local, kept by respondents: "
            "use a book for add or remove one, or for replace one"
        )
    if price.epsilon == 0:
        raise InvalidArgument(f"{what}: a price of epsilon=0 buys no answer; give an epsilon above zero")
    if price.person != table.person:
        raise PrivacyError(
            f"{what}: the book {price.ledger.name!r} protects {price.person!r}, the rows of this table belong to "
            f"{table.person!r}; read the table with person={price.person!r}, or use a book for {table.person!r}"
        )
    return price


def pay(
    budget: Budget,
    loss: Loss,
    *,
    what: str,
    rng: np.random.Generator | None,
    assumes: Iterable[Assumption] = (),
) -> tuple[Charge, np.random.Generator]:
    """Commits the charge; the generator that the release draws from is marked where a caller can repeat it."""
    source = generator(rng)
    seeded = () if is_strong(source) else (Assumption.SEEDED,)
    return budget.charge(loss, what=what, assumes=(*assumes, *seeded)), source


def equal_part(budget: Budget, parts: int, what: str) -> Fraction:
    """An equal share of the budget's epsilon for a statistic that is made of several noisy numbers."""
    if not isinstance(budget.loss, Pure | Approximate):
        raise NotPrivate(
            f"{what} is made of {parts} noisy numbers: give its budget as an epsilon, not as a single loss"
        )
    return budget.epsilon / parts
