"""Releases a recipe: checks everything, charges once, reads each table once, answers each question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.apps.steward.answers import AnswerTable, answer_table
from bruit.apps.steward.queries import Query, pay_together, precisions, rehearse
from bruit.apps.steward.question import price_of
from bruit.apps.steward.recipe.pricing import Priced, share_price
from bruit.apps.steward.recipe.reading import Recipe
from bruit.apps.steward.recipe.sections import Sections, open_sections, with_sections
from bruit.apps.steward.recipe.totals import check_totals, with_consistent_totals
from bruit.apps.steward.schemas import read_schema
from bruit.apps.steward.sources import HeldTable, hold, open_plan, read_public
from bruit.apps.steward.statements import Statement, make_statement
from bruit.central.questions import Prepared
from bruit.central.questions.asking import require_own_book
from bruit.core.intervals import Covers, Interval
from bruit.core.release import Outcome, Release
from bruit.errors import InvalidArgument
from bruit.ledger import Budget, Ledger, Purchase, ask
from bruit.synthetic import SyntheticTable
from bruit.tables.plan.parts import parts_of
from bruit.tables.plan.steps import Leaf

WHAT = "steward.recipe"
"""What stands in the book for a recipe."""


@dataclass(frozen=True)
class Opened:
    """A recipe with open tables and priced questions; no row is read yet."""

    recipe: Recipe
    book: Ledger
    budget: Budget
    priced: tuple[Priced, ...]
    held: tuple[HeldTable, ...]
    sections: Sections

    @property
    def prepared(self) -> list[Prepared]:
        """The questions with their noise."""
        return [each.prepared for each in self.priced]

    @property
    def leaves(self) -> tuple[Leaf, ...]:
        """The tables that are read, each once."""
        every = (leaf for each in self.priced for leaf in each.query.question.plan.leaves)
        return tuple({leaf.schema.digest: leaf for leaf in every}.values())

    @property
    def purchase(self) -> Purchase:
        """The purchase of all answers, checked against the ledger."""
        people = {each.query.question.plan.person for each in self.priced}
        purchases = [ask(self.budget, what=WHAT, person=person) for person in sorted(people)]
        return purchases[0]

    def preview(self) -> dict[str, Any]:
        """Each question in words with its noise, precision and share of the price; nothing is read or charged."""
        (guarantee, cost), left = rehearse(self.prepared, self.book, self.recipe.price), self.book.remaining
        return {
            "preview": True,
            "recipe": self.recipe.title,
            "questions": [
                {
                    "title": each.entry.title,
                    "question": each.query.question.words,
                    "digest": each.query.question.digest,
                    "share": float(each.share),
                    "measures": [vars(line) for line in precisions(each.query, each.prepared)],
                }
                for each in self.priced
            ],
            "sections": self.sections.price,
            "confidence": self.recipe.confidence,
            "promise": str(guarantee),
            "guarantee": guarantee.to_json(),
            "ledger": self.book.name,
            "measure": left.measure,
            "price": float(cost),
            "left": float(left.total),
            "left_after": float(left.total - cost),
            "enough": left.total >= cost,
        }


@dataclass(frozen=True)
class Published:
    """The result of a recipe: one answer per question, and the one release in the ledger for all."""

    recipe: Recipe
    answers: tuple[AnswerTable, ...]
    release: Release[Any]
    statement: Statement
    synthetic: Release[SyntheticTable] | None = None


def open_recipe(recipe: Recipe, book: Ledger) -> Opened:
    """Opens every table, translates and prices every question; refuses whatever cannot be answered."""
    held, tables, budget = _open_tables(recipe, book)
    queries = []
    for entry in recipe.questions:
        query = Query(entry.sql, tables, entry.limit, entry.most, recipe.confidence)
        try:
            require_own_book(query.question.plan, budget)
            check_totals(entry, query)
        except InvalidArgument as error:
            raise type(error)(f"{entry.title!r}: {error}") from None
        queries.append(query)
    priced = tuple(share_price(recipe, queries, budget))
    opened = Opened(recipe, book, budget, priced, tuple(held), open_sections(recipe, book, tables))
    opened.purchase  # noqa: B018  people of another book are refused here
    return opened


def _open_tables(recipe: Recipe, book: Ledger) -> tuple[list[HeldTable], dict[str, Any], Budget]:
    """The tables of a recipe by name, and the price: of the book, or of the part that a table is."""
    held, tables, budget = [], dict[str, Any](), price_of(book, recipe.price)
    for name, entry in recipe.tables.items():
        schema = read_schema(entry.schema)
        if schema.name != name:
            raise InvalidArgument(f"{recipe.path}: tables.{name}: its schema says name = {schema.name!r}; use one name")
        table = hold(open_plan(entry.source, schema, table=entry.table, book=book), entry.source)
        held.append(table)
        tables[name] = table.plan
        if entry.part is not None:
            parts = parts_of(table.plan, book, entry.part.column, entry.part.cells)
            tables[name] = parts[entry.part.cell]
            budget = parts.budget(entry.part.cell, epsilon=budget.epsilon, delta=budget.delta)
    tables |= {name: read_public(*entry) for name, entry in recipe.public.items()}
    return held, tables, budget


def release_recipe(opened: Opened) -> Published:
    """Pays once for all questions, reads the tables, and answers every question."""
    if opened.sections.price:
        opened.sections.require_enough(float(rehearse(opened.prepared, opened.book, opened.recipe.price)[1]))
    charge = pay_together(opened.prepared, opened.purchase)
    source = charge.generator()
    for table in opened.held:
        table.read()
    outcomes = [
        each.prepared.interpret(each.prepared.send(each.prepared.read(source), source)) for each in opened.priced
    ]
    release = charge.finish(_together(opened, outcomes))
    answers = tuple(
        _answer(each, outcome.release(charge.guarantee, charge.receipt))
        for each, outcome in zip(opened.priced, outcomes, strict=True)
    )
    statement = make_statement(
        f"Statement: {opened.recipe.title}",
        answers,
        book=opened.book,
        guarantee=charge.guarantee,
        number=charge.number,
    )
    running, made = opened.sections.publish()
    statement = with_sections(statement, running, made)
    return Published(opened.recipe, (*answers, *running), release, statement, made)


def _answer(priced: Priced, release: Release[Any]) -> AnswerTable:
    answer = answer_table(priced.query, release, title=priced.entry.title)
    return with_consistent_totals(answer, priced.query) if priced.entry.totals == "consistent" else answer


def _together(opened: Opened, outcomes: Sequence[Outcome[Any]]) -> Outcome[Any]:
    """All answers as one outcome, so that the book holds every number that was published."""
    labels = [
        f"{each.entry.title}: {label}"
        for each, one in zip(opened.priced, outcomes, strict=True)
        for label in one.labels
    ]

    def joined(parts: Sequence[ArrayLike]) -> NDArray[np.float64]:
        return np.concatenate([np.ravel(np.asarray(part, np.float64)) for part in parts])

    intervals = [one.interval for one in outcomes if one.interval is not None]
    low, high = (joined([getattr(each, end) for each in intervals]) for end in ("low", "high"))
    words = "; ".join(f"{each.entry.title}: {each.query.question.words}" for each in opened.priced)
    asked = {"words": words, "tables": [leaf.to_json() for leaf in opened.leaves]}
    return Outcome(
        value=joined([one.value for one in outcomes]),
        method=", ".join(dict.fromkeys(one.method for one in outcomes)),
        labels=tuple(labels),
        interval=Interval(low, high, opened.recipe.confidence, Covers.TABLE),
        noise=joined([np.nan if one.noise is None else one.noise for one in outcomes]),
        details={"asked": asked, "recipe": [one.details for one in outcomes]},
    )
