"""Sections of a recipe that are charged separately: a synthetic table, and streams published every period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bruit.apps.steward.answers import AnswerTable, labelled_table
from bruit.apps.steward.queries import Query
from bruit.apps.steward.question import price_of
from bruit.apps.steward.recipe.reading import Recipe, RunningEntry, SyntheticEntry
from bruit.apps.steward.statements import Statement
from bruit.continual import Participation, Stream
from bruit.core.release import Release
from bruit.errors import BudgetExceeded, InvalidArgument
from bruit.ledger import Ledger
from bruit.synthetic import SyntheticTable, save
from bruit.synthetic.synthesis import Prepared
from bruit.synthetic.synthetic_table import EXCEL_ROWS
from bruit.tables.plan.operators import Plan

USES = (
    "Invented rows: to try programs, to teach, to look for patterns. Not to say something about one person or very "
    "few; report figures of it with their intervals, or pay for them by themselves."
)


@dataclass(frozen=True, eq=False)
class Sections:
    """The separately charged sections of a recipe, opened and checked without a charge."""

    book: Ledger
    synthetic: Prepared | None
    running: tuple[tuple[RunningEntry, Query], ...]

    @property
    def price(self) -> float:
        """The epsilon that the sections cost now; a stream that exists already was paid for at its opening."""
        standing = Stream.names(self.book)
        stated = [price_of(self.book, entry.price) for entry, _ in self.running if entry.name not in standing]
        stated += [] if self.synthetic is None else [self.synthetic.purchase.price]
        return float(sum(each.epsilon for each in stated))

    def require_enough(self, price: float) -> None:
        """Refuses a recipe that the ledger cannot pay for whole, before anything is charged."""
        left = self.book.remaining
        if left.measure == "ε" and price + self.price > float(left.total) + 1e-12:
            raise BudgetExceeded(
                f"questions and sections cost ε = {price + self.price:.6g}, the book {self.book.name!r} has "
                f"{float(left.total):.6g} left; nothing was charged. Lower a price, or leave a section out"
            )

    def publish(self) -> tuple[list[AnswerTable], Release[SyntheticTable] | None]:
        """Publishes the next period of every stream, and the synthetic table."""
        answers = [_next_period(self.book, entry, query) for entry, query in self.running]
        return answers, None if self.synthetic is None else self.synthetic.release()


def open_sections(recipe: Recipe, book: Ledger, tables: Mapping[str, Any]) -> Sections:
    """Opens and checks the sections over the open tables of a recipe."""
    made = None if recipe.synthetic is None else _prepare_synthetic(recipe, recipe.synthetic, book, tables)
    running = []
    for entry in recipe.running:
        query = Query(entry.sql, dict(tables), entry.limit, entry.most, recipe.confidence)
        Stream.expected_error(
            query.question,
            participation=Participation(entry.times, entry.apart),
            periods=entry.periods,
            budget=price_of(book, entry.price),
        )
        running.append((entry, query))
    return Sections(book, made, tuple(running))


def _prepare_synthetic(recipe: Recipe, asked: SyntheticEntry, book: Ledger, tables: Mapping[str, Any]) -> Prepared:
    """The synthetic table of a recipe, checked and priced, so that nothing of it is refused after a charge."""
    made_of = tables.get(asked.table)
    if not isinstance(made_of, Plan):
        raise InvalidArgument(f"synthetic.table = {asked.table!r}; choose among {', '.join(recipe.tables)}")
    return asked.request.prepare(made_of, book, asked.price)


def _next_period(book: Ledger, entry: RunningEntry, query: Query) -> AnswerTable:
    stream = Stream(
        entry.name,
        query.question,
        participation=Participation(entry.times, entry.apart),
        periods=entry.periods,
        budget=price_of(book, entry.price),
    )
    release = stream.update(query.question, source=entry.period, confidence=query.confidence)
    found = labelled_table(release, f"{entry.name}, since the start")
    if found is None:
        raise InvalidArgument(f"{entry.name!r} published no numbers")
    return replace(found, words=f"{query.question.words}; period {release.details['period']} of {stream.periods}")


def with_sections(
    statement: Statement, running: Sequence[AnswerTable], made: Release[SyntheticTable] | None
) -> Statement:
    """The statement extended by the guarantees and uses of the sections."""
    facts = [*statement.facts, *((each.title, f"{each.words}; {each.release.guarantee}") for each in running)]
    if made is not None:
        facts.append(("Synthetic table", f"{made.guarantee}; {len(made.value.rows)} rows. {USES}"))
    return replace(statement, facts=tuple(facts), answers=(*statement.answers, *running))


def write_synthetic(made: Release[SyntheticTable], folder: Path, stem: str, suffixes: Sequence[str]) -> list[Path]:
    """Writes the rows of a synthetic table, and a file that answers with intervals (`bruit.synthetic.load`).

    A workbook that is too small for the rows is left out.
    """
    fits = len(made.value.rows) < EXCEL_ROWS
    suffixes = [suffix for suffix in suffixes if fits or suffix != ".xlsx"]
    paths = [folder / f"{stem}-synthetic{suffix}" for suffix in suffixes or (".csv",)]
    for path in paths:
        made.value.write(path)
    return [*paths, save(made.value, folder / f"{stem}-synthetic.npz")]
