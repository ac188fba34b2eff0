"""Prices of losses in a ledger, in the units of its accountant: epsilon, rho or a Rényi divergence.

No mathematics of losses stands here: `bruit.privacy` prices, this module rounds up and compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np

from bruit.core.losses import Approximate, Loss, ZeroConcentrated
from bruit.core.numbers import Rational, as_float, rounded_up
from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger.books.units import PER_ONE, Units, round_down, round_up
from bruit.ledger.terms import Terms
from bruit.privacy import epsilon, rdp, zcdp
from bruit.privacy.accounting.composition import approximation, basic, total
from bruit.privacy.accounting.renyi import improved_epsilon

ACCOUNTANT: Final = "1"
"""The version of the prices; it stands in every entry, so that a corrected formula can find what it priced before."""


REMEMBERED: Final = 256
"""For how many terms the capacity is remembered: the runs of a search all have the same."""

UNITS: Final = {"basic": "ε", "zcdp": "ρ", "rdp": "Rényi divergence"}
"""What each kind of book adds up."""


@dataclass(frozen=True)
class PricedLoss:
    """The epsilon and delta of one loss alone, and the accountant that computed them."""

    epsilon: Fraction
    delta: Fraction
    by: str


@dataclass(frozen=True)
class Amount:
    """A running total as (ε, δ), and as the exact sum in the book's own measure: ε, ρ or a Rényi divergence."""

    epsilon: Fraction
    delta: Fraction
    total: Fraction
    measure: str

    def __post_init__(self) -> None:
        for name in ("epsilon", "delta", "total"):
            object.__setattr__(self, name, Rational(getattr(self, name)))

    def __repr__(self) -> str:
        own = "" if self.measure == "ε" else f"{self.measure} = {as_float(self.total):g}; "
        return f"Amount({own}ε = {as_float(self.epsilon):g}, δ = {as_float(self.delta):g})"


def price(loss: Loss, *, delta: Fraction | None, by: str | None, terms: Terms) -> PricedLoss:
    """The (ε, δ) of a loss: the exact sum if every part has an ε, else the ε at the stated δ by an accountant."""
    if by in (None, "basic"):
        try:
            return PricedLoss(*basic(loss), by="basic")
        except NotPrivate:
            if by == "basic":
                raise
    chosen = by or {"basic": "pld"}.get(terms.by, terms.by)
    if not delta:
        raise InvalidArgument(f"{type(loss).__name__} has an ε only at some δ: give delta= to ledger.budget")
    return PricedLoss(epsilon(loss, delta=delta, by=chosen), delta, chosen)


@lru_cache(REMEMBERED)
def capacity(terms: Terms) -> Units:
    """The largest running total that still keeps the book within its (ε, δ)."""
    if terms.by == "basic":
        return round_down(terms.epsilon, terms.delta)
    # At a high order and a large δ a divergence converts into a little less than itself.
    low, high = -1, int((terms.epsilon + 2) * PER_ONE)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _worth(middle, terms) <= terms.epsilon else (low, middle - 1)
    if low < 0:
        raise InvalidArgument(
            f"at δ = {float(terms.delta):.3g} the {terms.accounting} accountant starts above "
            f"ε = {float(terms.epsilon):.6g}: give a larger order, epsilon or delta"
        )
    return Units(low, round_down(Fraction(0), terms.failures).delta)


def cost(loss: Loss, value: PricedLoss, terms: Terms) -> Units:
    """What a loss adds to the running total of a book."""
    if terms.by == "basic":
        return round_up(value.epsilon, value.delta)
    failing = total(loss, approximation)
    if failing and (not terms.failures or total(loss, _mixed)):
        raise NotPrivate(
            f"a book by {terms.accounting} adds Rényi divergences, and a loss that may fail with some δ has none; "
            "charge what was really done (its Gaussian or Laplace loss, and its chance of failure by itself in a book "
            "with failures=...), or keep a book by 'basic'"
        )
    divergence = zcdp(loss) if terms.order is None else rdp(loss, terms.order)
    return round_up(divergence, failing)


def _mixed(loss: Loss) -> Fraction:
    """1 for a loss whose δ is more than a chance of failure, such as Gaussian noise priced as (ε, δ); else 0."""
    return Fraction(int(approximation(loss) > 0 and not (isinstance(loss, Approximate) and loss.epsilon == 0)))


def amount(spent: Units, terms: Terms) -> Amount:
    """The (ε, δ) that a running total in the book's units amounts to."""
    total, delta = spent.exact
    if terms.by == "basic" or spent.main == 0:
        return Amount(total, delta, total, UNITS[terms.by])
    return Amount(_worth(spent.main, terms), terms.delta, total, UNITS[terms.by])


def _worth(units: int, terms: Terms) -> Fraction:
    value, left = Fraction(units, PER_ONE), terms.delta - terms.failures
    if terms.order is None:
        return epsilon(ZeroConcentrated(value, neighbours=terms.neighbours), delta=left, by="zcdp")
    divergence, order = np.array([float(value)]), np.array([float(terms.order)])
    return rounded_up(float(improved_epsilon(divergence, order, float(left))[0]))


def refusal(terms: Terms, *, asked: Units, left: Units, limit: Units) -> str:
    """The message for a charge that does not fit: what was asked, what is left of the total, and what to do."""
    measure, with_delta = UNITS[terms.by], bool(limit.delta)
    return (
        f"asked {_words(asked, measure, with_delta=bool(asked.delta))}; "
        f"left {_words(left, measure, with_delta=with_delta)} of {_words(limit, measure, with_delta=with_delta)}; "
        "nothing was charged. Ask for less, or read again what was released: ledger.releases, or bruit ledger export"
    )


def _words(amount: Units, measure: str, *, with_delta: bool) -> str:
    main, delta = amount.exact
    return f"{measure} = {as_float(main):.6g}" + (f", δ = {float(delta):.3g}" if with_delta else "")
