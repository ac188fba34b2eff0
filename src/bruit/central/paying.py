"""Charging a release before its data is read."""

from collections.abc import Iterable
from fractions import Fraction

import numpy as np

from bruit.errors import NotPrivate
from bruit.ledger import Budget, Charge
from bruit.privacy import Assumption, Loss
from bruit.randomness import generator, is_strong


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


def share(budget: Budget, parts: int, what: str) -> Fraction:
    """An equal share of the budget's epsilon for a statistic that is made of several noisy numbers."""
    if budget.loss is not None:
        raise NotPrivate(
            f"{what} is made of {parts} noisy numbers: give its budget as an epsilon, not as a single loss"
        )
    return budget.epsilon / parts
