"""What a loss costs in a book, in the book's own units.

No mathematics of losses stands here: `bruit.privacy` prices, this module rounds up and compares.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger.terms import Terms
from bruit.ledger.units import Units, rounded_down, rounded_up
from bruit.privacy import Loss
from bruit.privacy.composition import basic

ACCOUNTANT: Final = "1"
"""The version of the prices; it stands in every entry, so that a corrected formula can find what it priced before."""


@dataclass(frozen=True)
class Price:
    """What one loss amounts to by itself, and by which accountant."""

    epsilon: Fraction
    delta: Fraction
    by: str


def price(loss: Loss, *, delta: Fraction | None, by: str | None, terms: Terms) -> Price:
    """The (ε, δ) of a loss: the exact sum where every part has one, else at the stated δ by the book's accountant."""
    if by in (None, "basic"):
        try:
            epsilon, failure = basic(loss)
            return Price(epsilon, failure, "basic")
        except NotPrivate:
            if by == "basic":
                raise
    chosen = by or {"basic": "pld"}.get(terms.by, terms.by)
    if not delta:
        raise InvalidArgument(
            f"a loss with {type(loss).__name__} has an ε only at some δ: give delta= to ledger.budget"
        )
    from bruit.privacy import accounting

    return Price(accounting.epsilon(loss, delta=delta, by=chosen), delta, chosen)


def capacity(terms: Terms) -> Units:
    """The most a book may add up to, so that its whole stays within its (ε, δ)."""
    return rounded_down(terms.epsilon, terms.delta)


def cost(loss: Loss, amount: Price, terms: Terms) -> Units:
    """What a loss adds to the running total of a book."""
    return rounded_up(amount.epsilon, amount.delta)


def refusal(terms: Terms, *, asked: Units, left: Units, limit: Units) -> str:
    """Why a charge was refused: asked, left and total, and what can be done."""
    measure = {"basic": "ε", "zcdp": "ρ"}.get(terms.by, "Rényi divergence")
    return (
        f"asked {_words(asked, measure)}; left {_words(left, measure)} of {_words(limit, measure)}; "
        "nothing was charged. Ask for less, or read again what was released: ledger.releases"
    )


def _words(amount: Units, measure: str) -> str:
    main, delta = amount.exact
    return f"{measure} = {float(main):.6g}" + (f", δ = {float(delta):.3g}" if delta else "")
