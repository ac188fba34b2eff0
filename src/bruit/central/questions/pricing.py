"""Prices a question: splits a budget equally over all measures of all levels, and chooses their noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import isqrt
from typing import TYPE_CHECKING, Any

import numpy as np
import polars

from bruit.central.questions.answers import Answer, draw_level, interpret
from bruit.central.questions.levels import Level
from bruit.central.questions.noises import BudgetShare, PricedNoise, Threshold, buy, threshold
from bruit.central.questions.quantile_draws import quantile_draws
from bruit.central.questions.sensitivities import RowRange, sensitivity
from bruit.core.guarantee import Assumption
from bruit.core.losses import Approximate, Loss, Pure, composed
from bruit.core.neighbours import Neighbours
from bruit.core.release import Outcome
from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger import Budget, Charge, Purchase
from bruit.mechanisms import part_of
from bruit.privacy import zcdp
from bruit.privacy.accounting.composition import approximation, total
from bruit.privacy.accounting.concentrated import concentrated_price
from bruit.tables.plan.reading import ExactIntegers

if TYPE_CHECKING:
    from bruit.central.questions.asking import Question

WHAT = "central.question"

LEAST_FAILURE, LARGEST_FAILURE = Fraction(1, 10**200), Fraction(99, 100)
LEAST_EPSILON, LARGEST_EPSILON = Fraction(1, 10**5), 10_000
"""Between these floats can compute the threshold of discovered groups."""

SLACK = Fraction(10**9 - 1, 10**9)
"""What is kept of a rho, so that the conversion of a sum never passes that of the whole by a rounding."""


@dataclass(frozen=True, eq=False)
class PricedLevel:
    """One level with the noise of each measure, or for quantiles the epsilon of their mechanism."""

    level: Level
    bought: Mapping[str, PricedNoise | Fraction]
    threshold: Threshold | None


@dataclass(frozen=True, eq=False)
class Prepared:
    """A question with its noise chosen before anything is read: loss, exact reading, noise and interpretation."""

    question: Question
    levels: tuple[PricedLevel, ...]
    neighbours: Neighbours

    @classmethod
    def of(cls, question: Question, price: Budget, *, share: Fraction = Fraction(1)) -> Prepared:
        """Prepares a question for a share of a budget, or refuses it; nothing is read."""
        question.require_public_size(price)
        each, failure = _parts_of(question, price, share)
        levels = tuple(_priced(question, level, each, failure, price.neighbours) for level in question.levels_asked)
        return cls(question, levels, price.neighbours)

    @property
    def loss(self) -> Loss:
        """The total privacy loss: of each measure of each level, and of showing discovered groups."""
        losses: list[Loss] = []
        for priced in self.levels:
            losses += [
                each.loss if isinstance(each, PricedNoise) else Pure(each, neighbours=self.neighbours)
                for each in priced.bought.values()
            ]
            losses += [] if priced.threshold is None else [priced.threshold.loss]
        return losses[0] if len(losses) == 1 else composed((loss, 1) for loss in losses)

    @property
    def assumes(self) -> tuple[Assumption, ...]:
        """The assumptions of the guarantee."""
        return self.question.assumes

    def pay(self, purchase: Purchase) -> Charge:
        """Charges the loss; a ledger that adds up zCDP converts Laplace noise to rho."""
        price = purchase.price
        if is_concentrated(price) and price.by is None and price.delta:
            purchase = replace(purchase, price=replace(price, by="zcdp"))
        return purchase.pay(self.loss, assumes=self.assumes)

    def read(self, rng: np.random.Generator) -> list[ExactIntegers]:
        """The exact integers of each level: private, never shown."""
        return self.question.reader.read_levels(rng, [priced.level.places for priced in self.levels])

    def send(self, exact: list[ExactIntegers], rng: np.random.Generator) -> Answer:
        """The noisy integers, the drawn quantiles and the groups that are shown."""
        drawn = (
            draw_level(self.question, priced, each, self.neighbours, rng)
            for priced, each in zip(self.levels, exact, strict=True)
        )
        return Answer(tuple(drawn))

    def interpret(self, answer: Answer) -> Outcome[Any]:
        """Values, intervals and labels from noisy numbers alone."""
        return interpret(self.question, self.levels, answer)

    def preview(self) -> polars.DataFrame:
        """The noise and half-width of each measure, in steps of its sums; nothing is read."""
        rows = [row for priced in self.levels for row in self._previewed(priced)]
        return polars.DataFrame(rows)

    def _previewed(self, priced: PricedLevel) -> list[dict[str, Any]]:
        by = {"by": ", ".join(priced.level.names)} if len(self.levels) > 1 else {}
        rows: list[dict[str, Any]] = []
        for name, each in priced.bought.items():
            law = type(each.noise.loss).__name__ if isinstance(each, PricedNoise) else "exponential mechanism"
            width = each.noise.half_width(self.question.confidence) if isinstance(each, PricedNoise) else None
            words = self.question.measures[name].words
            rows.append(by | {"measure": name, "of": words, "noise": law, "half width": width})
        if priced.threshold is not None:
            law, least = type(priced.threshold.noise.loss).__name__, priced.threshold.least
            rows.append(by | {"measure": "groups shown", "of": "people, at least", "noise": law, "half width": least})
        return rows


def paid_measures(question: Question, level: Level) -> list[str]:
    """The measures of a level that need their own noise; people of discovered groups have the threshold's noise."""
    return [name for name, each in question.measures.items() if not (level.found and each.what == "people")]


def is_concentrated(price: Budget) -> bool:
    """Whether a budget is split as rho: in a zCDP ledger, unless it is a pure epsilon."""
    return price.ledger.terms.by == "zcdp" and not isinstance(price.loss, Pure)


def _parts_of(question: Question, price: Budget, share: Fraction) -> tuple[BudgetShare, Fraction]:
    """What each noisy measure may cost, and the chance that is left for showing groups of one level."""
    asked = question.levels_asked
    found = sum(bool(level.found) for level in asked)
    if found:
        _require_usual(price)
    parts = sum(len(paid_measures(question, level)) for level in asked) + found
    if is_concentrated(price):
        rho, failure = _rho_and_failure(price, found=bool(found))
        rho, failure = rho * share / parts, failure * share / max(found, 1)
        epsilon = Fraction(isqrt(int(2 * rho * 10**40)), 10**20)  # so that epsilon^2 / 2 is at most rho
        return BudgetShare(epsilon, Fraction(0), price.neighbours, rho), failure
    epsilon = part_of(price, parts, WHAT) * share
    delta = price.delta * share / parts if price.ledger.terms.by == "basic" else Fraction(0)
    if found and not delta:
        raise NotPrivate(
            "groups that nobody declared need a delta: give budget=ledger.budget(epsilon=..., delta=...) from a book "
            "that accounts by 'basic', or by 'zcdp' with failures=..."
        )
    return BudgetShare(epsilon, delta, price.neighbours), delta


def _require_usual(price: Budget) -> None:
    """Refuses an ε or δ so extreme that floats cannot compute the threshold for discovered groups."""
    if price.delta and not LEAST_FAILURE <= price.delta <= LARGEST_FAILURE:
        raise InvalidArgument("groups that nobody listed need a delta from 1e-200 to 0.99")
    if not LEAST_EPSILON <= price.epsilon <= LARGEST_EPSILON:
        raise InvalidArgument("groups that nobody listed need an epsilon from 1e-5 to 10000")


def _rho_and_failure(price: Budget, *, found: bool) -> tuple[Fraction, Fraction]:
    """What a price is worth in a book by zCDP, and what of its delta may be spent on failures.

    Half of a stated delta is for failures where groups are found: the book holds both totals as limits by themselves.
    """
    if found and not price.ledger.terms.failures:
        raise NotPrivate(
            f"groups that nobody declared may fail to be hidden, and the book {price.ledger.name!r} has no delta for "
            "that: create one with Ledger(..., by='zcdp', failures=...)"
        )
    if isinstance(price.loss, Approximate):
        failure = price.delta / 2 if found else Fraction(0)
        return concentrated_price(float(price.epsilon), float(price.delta - failure)) * SLACK, failure
    return zcdp(price.loss), total(price.loss, approximation)


def _priced(
    question: Question, level: Level, each: BudgetShare, failure: Fraction, neighbours: Neighbours
) -> PricedLevel:
    bought: dict[str, PricedNoise | Fraction] = {}
    for name in paid_measures(question, level):
        if question.measures[name].what == "quantiles":
            quantile_draws(question, level, question.measures[name], each.epsilon, neighbours)
            bought[name] = each.epsilon
            continue
        moved = question.sensitivity(name, neighbours, level)
        bought[name] = buy(moved, each, confidence=question.confidence, kind=question.noise)
    return PricedLevel(level, bought, _threshold(question, each, failure) if level.found else None)


def _threshold(question: Question, each: BudgetShare, failure: Fraction) -> Threshold:
    row, limit = RowRange(0, 1, once=True), question.limit
    moved = sensitivity(row, limit, groups=None, neighbours=each.neighbours)
    groups = 1 if limit is None else limit.rows or limit.groups or 1
    return threshold(moved, each, failure, groups=groups, kind=question.noise)
