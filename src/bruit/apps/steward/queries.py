"""SQL queries over opened tables with their limit and confidence: previewed, then paid and answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.apps.steward.question import price_of
from bruit.central.questions import Limit, Measure, Prepared, Question
from bruit.central.questions.answers import Answer, LevelAnswer
from bruit.central.questions.asking import require_own_book
from bruit.central.questions.noises import PricedNoise
from bruit.central.questions.pricing import WHAT, is_concentrated
from bruit.central.questions.quantile_draws import quantile_draws
from bruit.core.guarantee import Guarantee
from bruit.core.losses import composed
from bruit.core.release import Release
from bruit.ledger import Budget, Charge, Ledger, Purchase, ask
from bruit.sql import PublicTable, Translated, translate
from bruit.sql.options import take_options
from bruit.tables.plan.operators import Plan

SIZES = (100, 1_000, 10_000)
"""Rows of a group for which a preview says how precise a mean would be: the true number is private."""

NOISES = {
    "DiscreteLaplace": "discrete Laplace",
    "DiscreteGaussian": "discrete Gaussian",
    "joint": "joint exponential mechanism",
    "recursive": "exponential mechanism, recursively",
    "exponential": "exponential mechanism",
}


@dataclass(frozen=True)
class Query:
    """A SELECT over opened tables, the limit per person, and the confidence of the intervals.

    `most` is how many rows of a person joins and summaries per person keep.
    """

    sql: str
    tables: Mapping[str, Plan | PublicTable]
    limit: Limit | None
    most: int | None = None
    confidence: float = 0.95
    noise: str | None = None
    dialect: str = "duckdb"

    @cached_property
    def translated(self) -> Translated:
        """The SELECT translated into a question, or refused; no row is read."""
        return translate(
            self.sql,
            self.tables,
            limit=self.limit,
            dialect=self.dialect,
            most=self.most,
            confidence=self.confidence,
            noise=self.noise,
        )

    @property
    def question(self) -> Question:
        """The question that the SELECT asks."""
        return self.translated.question

    @property
    def names(self) -> dict[str, str]:
        """The name of each measure in the answer's columns, by its name in the question."""
        found = self.translated
        selected = {node.sql(): name for name, node in found.selected}
        names: dict[str, list[str]] = {}
        for sql in found.measured:
            names.setdefault(found.measure_of(sql), []).append(selected.get(sql, sql.lower()))
        return {measure: ", ".join(each) for measure, each in names.items()}

    def price(self, book: Ledger, price: Mapping[str, str]) -> Budget:
        """The price as a budget of the ledger; a price stated in the SELECT must be the same."""
        budget = take_options(self.sql, self.dialect)[1].budget(price_of(book, price))
        assert budget is not None
        return budget

    def release(self, book: Ledger, price: Mapping[str, str]) -> Release[Any]:
        """Pays for the query from the ledger and answers it."""
        question, budget = self.question, self.price(book, price)
        return question.release(budget=budget)


@dataclass(frozen=True)
class Precision:
    """The expected precision of one measure: its noise, and its error in words."""

    name: str
    words: str
    noise: str
    expected: str


def preview_query(query: Query, book: Ledger, price: Mapping[str, str]) -> dict[str, Any]:
    """Previews a query's meaning, price and precision from public numbers alone; nothing is read or charged."""
    budget, left = query.price(book, price), book.remaining
    require_own_book(query.question.plan, budget)
    prepared = Prepared.of(query.question, budget)
    guarantee, cost = rehearse([prepared], book, price)
    return {
        "preview": True,
        "question": query.question.words,
        "digest": query.question.digest,
        "protects": book.person,
        "groups": query.question.groups,
        "measures": [vars(each) for each in precisions(query, prepared)],
        "confidence": query.confidence,
        "guarantee": guarantee.to_json(),
        "promise": str(guarantee),
        "ledger": book.name,
        "measure": left.measure,
        "price": float(cost),
        "left": float(left.total),
        "left_after": float(left.total - cost),
        "enough": left.total >= cost,
    }


def rehearse(prepared: Sequence[Prepared], book: Ledger, price: Mapping[str, str]) -> tuple[Guarantee, Fraction]:
    """The guarantee and total cost of prepared questions, charged to a copy of the ledger in memory."""
    copy = Ledger.in_memory(book.name, book.terms)
    person = prepared[0].question.plan.person
    charge = pay_together(prepared, ask(price_of(copy, price), what=WHAT, person=person))
    return charge.guarantee, copy.spent.total


def pay_together(prepared: Sequence[Prepared], purchase: Purchase) -> Charge:
    """Pays for all questions in one charge; a zCDP ledger prices Laplace noise by its rho too."""
    price = purchase.price
    if is_concentrated(price) and price.by is None and price.delta:
        purchase = replace(purchase, price=replace(price, by="zcdp"))
    assumed = dict.fromkeys(each for one in prepared for each in one.assumes)
    return purchase.pay(composed((one.loss, 1) for one in prepared), assumes=assumed)


def precisions(query: Query, prepared: Prepared) -> list[Precision]:
    """The precision of each measure at each level, and the threshold of groups found in the data."""
    question, lines = query.question, []
    for place, priced in enumerate(prepared.levels):
        by = f" by {', '.join(priced.level.names) or 'nothing'}" if len(prepared.levels) > 1 else ""
        for name, measure in question.measures.items():
            bought = priced.bought.get(name)
            law = NOISES[type(bought.noise.loss).__name__] if isinstance(bought, PricedNoise) else "rank mechanism"
            if bought is None and priced.threshold is not None:
                law = NOISES[type(priced.threshold.noise.loss).__name__]
            expected = _expected(prepared, place, name, measure)
            lines.append(Precision(query.names[name], measure.words + by, law, expected))
        if priced.threshold is not None:
            law = NOISES[type(priced.threshold.noise.loss).__name__]
            least = f"shown from a noisy number of {priced.threshold.least} people on"
            lines.append(Precision("groups", f"groups that nobody listed{by}", law, least))
    return lines


def _expected(prepared: Prepared, place: int, name: str, measure: Measure) -> str:
    priced = prepared.levels[place]
    bought = priced.bought.get(name)
    if measure.what == "quantiles" and not isinstance(bought, PricedNoise) and bought is not None:
        draws = quantile_draws(prepared.question, priced.level, measure, bought, prepared.neighbours)
        return f"about {max(draws.middle.details['expected_rank_error']):.3g} rows in rank"
    if measure.what in ("mean", "variance"):
        widths = (f"± {short(half_widths(prepared, name, rows)[place])} among {rows} rows" for rows in SIZES)
        return ", ".join(widths)
    return f"± {half_widths(prepared, name, SIZES[0])[place]:.6g}"


def short(figure: float) -> str:
    """A figure to four digits, without a power of ten below a thousand million."""
    rounded = f"{figure:.4g}"
    return f"{float(rounded):.0f}" if 1e4 <= figure < 1e9 else rounded


def half_widths(prepared: Prepared, name: str, rows: int) -> list[float]:
    """The half-width of a measure's interval at each level, for a typical group of `rows` rows.

    The interval of a release is computed from noisy integers alone; here from those that such a group would have.
    """
    question = prepared.question
    noisy = {each: _typical(measure, rows) for each, measure in question.measures.items()}
    group = LevelAnswer(noisy, ((None,) * len(question.keys),), None)
    outcome = prepared.interpret(Answer((group,) * len(prepared.levels)))
    columns = [each for each, measure in question.measures.items() for _ in measure.columns]
    assert outcome.noise is not None
    return [float(each) for each in np.reshape(outcome.noise, (-1, len(columns)))[:, columns.index(name)]]


def _typical(measure: Measure, rows: int) -> NDArray[np.int64]:
    """The integers of one group: the two ends of a mean in the middle, the three ends of values at both quarters."""
    if measure.what == "quantiles":
        return np.zeros((len(measure.probabilities), 1), np.int64)
    if measure.value is None or measure.what not in ("mean", "variance"):
        return np.full((1, 1), rows, np.int64)
    width = measure.value.numbers.highest - measure.value.numbers.lowest
    if measure.what == "mean":
        return np.full((2, 1), rows * width // 2, np.int64)
    whole = rows * width**2
    return np.array([[whole * 5 // 16], [whole * 6 // 16], [whole * 5 // 16]], np.int64)
