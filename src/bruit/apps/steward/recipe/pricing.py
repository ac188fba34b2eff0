"""Divides one price between the questions of a recipe, by weights or by the errors they must reach.

Only public numbers enter: a price that hung on records would tell of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log10

from bruit.apps.steward.queries import Query, half_widths
from bruit.apps.steward.recipe.reading import QuestionEntry, Recipe
from bruit.central.questions import Prepared
from bruit.errors import BudgetExceeded, InvalidArgument
from bruit.ledger import Budget

STEPS = 24
"""Halvings in the search of the least price that reaches an error."""

DIGITS = 4
"""Digits to which a found share is rounded up."""

LEAST, MOST = Fraction(1, 10**6), Fraction(64)
"""The least and the largest share of the price that is tried; beyond the whole price, to say what it would take."""


@dataclass(frozen=True)
class Priced:
    """A question of a recipe with the noise that its share of the price pays for."""

    entry: QuestionEntry
    query: Query
    prepared: Prepared
    share: Fraction


def share_price(recipe: Recipe, queries: Sequence[Query], budget: Budget) -> list[Priced]:
    """Prices every question; refused where the errors asked for cost more than the price."""
    weights = [Fraction(each.weight) for each in recipe.questions]
    shares = [weight / sum(weights) for weight in weights]
    if recipe.split == "errors":
        shares = _by_errors(recipe, queries, budget)
    return [
        Priced(entry, query, Prepared.of(query.question, budget, share=share), share)
        for entry, query, share in zip(recipe.questions, queries, shares, strict=True)
    ]


def _by_errors(recipe: Recipe, queries: Sequence[Query], budget: Budget) -> list[Fraction]:
    """The least shares that reach every error; what is left of the price is not charged."""
    least = [_least_share(entry, query, budget) for entry, query in zip(recipe.questions, queries, strict=True)]
    factor = float(sum(least))
    if factor > 1:
        fitting = [f"{each.title!r} ± {each.within * factor:.4g}" for each in recipe.questions if each.within]
        raise BudgetExceeded(
            f"the errors asked for cost {factor:.3g} times the price of the recipe; nothing was charged. About these "
            f"errors fit: {', '.join(fitting)}; or raise epsilon"
        )
    return least


def _least_share(entry: QuestionEntry, query: Query, budget: Budget) -> Fraction:
    """The least share of the price at which every interval of the question is within its error, rounded up."""
    rows = _rows_of(entry, query)
    low, high = LEAST, MOST
    if not _reaches(entry, query, budget, high, rows):
        raise InvalidArgument(
            f"{entry.title!r}: no price near this one gives errors within {entry.within}: allow more or pay more"
        )
    for _ in range(STEPS):
        middle = Fraction(float(low * high) ** 0.5)
        low, high = (low, middle) if _reaches(entry, query, budget, middle, rows) else (middle, high)
    return _rounded_up(high)


def _reaches(entry: QuestionEntry, query: Query, budget: Budget, share: Fraction, rows: int) -> bool:
    assert entry.within is not None
    prepared = Prepared.of(query.question, budget, share=share)
    names = [name for name, measure in query.question.measures.items() if measure.what != "quantiles"]
    return max(width for name in names for width in half_widths(prepared, name, rows)) <= entry.within


def _rows_of(entry: QuestionEntry, query: Query) -> int:
    """The public size of the smallest group that the error is meant for; a mean or a variance must state it."""
    kinds = {measure.what for measure in query.question.measures.values()}
    if kinds == {"quantiles"}:
        raise InvalidArgument(f"{entry.title!r}: quantiles have no interval; take split = 'weights'")
    if entry.for_groups_of is None and kinds & {"mean", "variance"}:
        raise InvalidArgument(
            f"{entry.title!r}: the error of a mean depends on the private number of rows: state for_groups_of = ..., a "
            "public size of the smallest group it is meant for"
        )
    return entry.for_groups_of or 1


def _rounded_up(value: Fraction) -> Fraction:
    step = Fraction(10) ** (floor(log10(float(value))) + 1 - DIGITS)
    return ceil(value / step) * step
