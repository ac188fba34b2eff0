"""A request for a synthetic table: what is asked, in words and with its price, before anything is paid."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import sqrt
from statistics import NormalDist
from typing import Any, Final

from bruit.apps.steward.question import price_of
from bruit.core.toml import read_toml
from bruit.errors import InvalidArgument
from bruit.ledger import Ledger
from bruit.synthetic import Mode, Where
from bruit.synthetic.synthesis import Prepared, prepare
from bruit.tables.choice.limits import Limit
from bruit.tables.plan.operators import Plan
from bruit.tables.schema import Category, Number, Schema, YesNo

CONFIDENCE: Final = 0.95
HOW: Final = {
    Mode.ADAPTIVE: "In five rounds, the combinations of columns in which the invented rows are most wrong are chosen "
    "by a noisy choice and counted with noise; each time the rows are drawn afresh, to agree with all counts.",
    Mode.TREE: "Pairs of columns that join all columns into a tree are chosen by a noisy choice and counted.",
}
PREDICTED: Final = "All pairs of {} with other columns are counted first, with less noise: models will predict it."
EVERY_PAIR: Final = "All pairs of columns are counted with noise: there are so few that nothing has to be chosen."
REACH: Final = NormalDist().inv_cdf((1 + CONFIDENCE) / 2)


@dataclass(frozen=True)
class SynthesisRequest:
    """What a steward fills in: columns (None: all that can be), rows of one person, cells, and what is public."""

    columns: tuple[str, ...] | None
    limit: Limit | None
    mode: str = Mode.ADAPTIVE.value
    size: int | None = None
    expected_rows: int | None = None
    edges: Mapping[str, list[Any]] = field(default_factory=dict)
    impossible: Sequence[Mapping[str, Any]] = ()
    predict: str | None = None

    def prepare(self, plan: Plan, book: Ledger, price: Mapping[str, str]) -> Prepared:
        """Checks and prices the request; no row is read and nothing is charged."""
        settings = {name: value for name, value in vars(self).items() if name not in ("columns", "impossible")}
        known = [read_where(each) for each in self.impossible]
        names = columns_of(plan.leaves[0].schema) if self.columns is None else self.columns
        return prepare(plan, names, budget=price_of(book, price), impossible=known, **settings)

    def to_json(self) -> dict[str, Any]:
        """All fields in JSON types."""
        columns = None if self.columns is None else list(self.columns)
        return {**vars(self), "columns": columns, "limit": None if self.limit is None else self.limit.to_json()}


@dataclass(frozen=True)
class CountLine:
    """One kind of noisy count that a synthesis takes: how many, and how far the noise moves one of them."""

    what: str
    many: int
    reach: float


def columns_of(schema: Schema) -> list[str]:
    """The columns that a synthetic table can have: categories, numbers, and yes or no."""
    return [name for name, column in schema.columns.items() if isinstance(column, Category | Number | YesNo)]


def read_where(stated: Mapping[str, Any]) -> Where:
    """Conditions as TOML writes them: "missing" is a missing value, a pair of numbers a range, else categories."""
    return {name: None if value == "missing" else value for name, value in stated.items()}


def read_impossible_lines(text: str) -> list[dict[str, Any]]:
    """Impossible combinations, one a line, each as an inline table of TOML without its braces."""
    found = []
    for line in filter(None, map(str.strip, text.splitlines())):
        try:
            found.append(read_toml(f"line = {{ {line} }}")["line"])
        except tomllib.TOMLDecodeError:
            raise InvalidArgument(
                'an impossible combination is a line such as: age = [0, 15], licence = "yes"'
            ) from None
    return found


def preview_synthesis(prepared: Prepared, book: Ledger) -> dict[str, Any]:
    """The words, the noise and the price of a prepared synthesis; no row is read and nothing is charged."""
    quote, left = prepared.quote(), book.remaining
    return {
        "words": prepared.words,
        "steps": describe_steps(prepared),
        "counts": count_lines(prepared),
        "confidence": CONFIDENCE,
        "promise": str(quote.guarantee),
        "ledger": book.name,
        "measure": left.measure,
        "price": float(quote.total),
        "left": float(left.total),
        "left_after": float(left.total - quote.total),
        "enough": quote.cost.within(book.book.limit.minus(book.book.spent())),
    }


def describe_steps(prepared: Prepared) -> list[str]:
    """What will be done, one sentence each."""
    rows = "The number of rows is noisy too."
    if prepared.size is not None:
        rows = f"It gets {prepared.size} rows: you state that this number is public, and the guarantee says so."
    target = prepared.plan.question.target
    stated = [] if target is None else [PREDICTED.format(prepared.rows.coded[target].name)]
    return [
        "The whole price is charged at once, before the table is read. What fails after that stays charged.",
        f"The values of each column are counted, with exact integer noise. {rows}",
        *stated,
        EVERY_PAIR if prepared.plan.choice is None else HOW[prepared.plan.question.mode],
        "A last, small part of the price pays for a noisy check of combinations that nobody measured.",
        "Rows are invented from these noisy counts alone: no row belongs to anybody.",
    ]


def count_lines(prepared: Prepared) -> list[CountLine]:
    """Every kind of noisy count with the reach of its noise, from the plan alone."""
    plan = prepared.plan
    every = "all other pairs" if plan.question.stated else "all pairs of columns"
    pairs = every if plan.choice is None else "combinations of columns, chosen by noise"
    lines = [CountLine("single columns", plan.question.columns, REACH * sqrt(plan.singles))]
    if plan.question.stated:
        lines.append(
            CountLine("pairs with the column to predict", len(plan.question.stated), REACH * sqrt(plan.stated))
        )
    if plan.picks:
        lines.append(CountLine(pairs, plan.picks, REACH * sqrt(plan.pairs)))
    return lines
