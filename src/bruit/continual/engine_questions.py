"""Streams of a `Question`: one measure of a plan, by declared keys, published every period.

A question is bound to the rows of one table, a stream outlives them: it keeps what is public about the question, and
every period brings the same question of that period's rows.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from fractions import Fraction
from hashlib import sha256
from math import prod
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.central.questions import Measure, Question
from bruit.central.questions.asking import require_own_tables
from bruit.continual.answers import Answer, around, ratios
from bruit.continual.participation import Contribution
from bruit.continual.questions import StreamQuestion
from bruit.core import ADD_OR_REMOVE_ONE, EACH_ROW, Assumption
from bruit.errors import InvalidArgument, PrivacyError
from bruit.ledger import Ledger
from bruit.tables import Table
from bruit.tables.plan.reading import Reader

PUBLISHED = ("count", "non_missing", "people", "sum", "mean")
"""The measures that are sums of what each person adds; a person's distinct values or a quantile are not."""


@dataclass(frozen=True, kw_only=True)
class EngineQuestion(StreamQuestion):
    """The public description of a `Question` that a stream stores: one number for each declared group.

    `lowest`, `highest` and `grid` describe the numbers that are added up; `identity` is a digest of words and schemas.
    """

    identity: str
    words: str
    measure: str
    groups: tuple[str, ...]
    lowest: int
    highest: int
    grid: str
    squared_norm: int
    largest: int
    entries: int
    signed: bool
    taken: tuple[Assumption, ...] = ()
    """What the guarantee takes for granted of the question's tables."""

    @property
    def assumes(self) -> tuple[Assumption, ...]:
        return self.taken

    @property
    def contribution(self) -> Contribution:
        return Contribution(self.squared_norm, self.largest, self.entries, self.signed)

    @property
    def labels(self) -> tuple[str, ...]:
        return self.groups

    @property
    def parts(self) -> int:
        return 2 if self.measure == "mean" else 1

    @property
    def size(self) -> int | None:
        return len(self.groups) * self.parts

    def vectors(self, rows: polars.DataFrame) -> polars.DataFrame:
        """Turns rows with `group` (and `integer` where a value is measured) into columns `cell` and `value`."""
        present = rows.drop_nulls("integer") if "integer" in rows.columns else rows
        if self.measure == "people" and "person" in rows.columns:
            present = present.unique(["person", "group"])
        if self.measure != "mean":
            value = polars.col("integer") if self.measure == "sum" else polars.lit(1, polars.Int64)
            return present.with_columns(polars.col("group").alias("cell"), value.alias("value"))
        ends = (polars.col("integer") - self.lowest, self.highest - polars.col("integer"))
        halves = [
            present.with_columns((2 * polars.col("group") + end).alias("cell"), value.alias("value"))
            for end, value in enumerate(ends)
        ]
        return polars.concat(halves)

    def answer(self, totals: NDArray[Any], width: float, confidence: float, labels: tuple[str, ...]) -> Answer:
        grid = Fraction(self.grid)
        if self.measure == "mean":
            low, high = float(self.lowest * grid), float(self.highest * grid)
            return ratios(np.asarray(totals).reshape(-1, 2), width, confidence, labels, between=(low, high))
        scale = float(grid) if self.measure == "sum" else 1
        return around(np.asarray(totals) * scale, width * scale, confidence, labels, positive=not self.signed)

    def to_json(self) -> dict[str, Any]:
        own = {field.name: getattr(self, field.name) for field in fields(self)}
        return {"kind": type(self).__name__, **own, "groups": list(self.groups), "taken": list(self.taken)}

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "groups", tuple(self.groups))
        object.__setattr__(self, "taken", tuple(map(Assumption, self.taken)))


def engine_question(question: Question) -> EngineQuestion:
    """The public description of a question for a stream; refuses measures that are not sums over people."""
    [measure, *more] = question.measures.values()
    if more or measure.what not in PUBLISHED:
        raise InvalidArgument(f"a stream publishes one measure: one of {', '.join(PUBLISHED)}; open one for each")
    if question.levels is not None or question.size is not None:
        raise InvalidArgument(
            "a stream takes neither levels= nor size=: it publishes the groups of all keys, of rows nobody counted"
        )
    if question.is_found:
        raise InvalidArgument("a stream of a question needs declared keys; Keys(column) finds those nobody listed")
    [name] = question.measures
    [_, *coarser] = question.levels_asked
    if coarser:
        raise InvalidArgument("a stream publishes one level: group by the keys themselves, without ROLLUP or CUBE")
    moved = question.sensitivity(name, ADD_OR_REMOVE_ONE)
    row, limit = measure.range_of_a_row, question.limit
    lowest, highest, grid = _range(measure)
    return EngineQuestion(
        rows=1 if limit is None else limit.rows or (limit.groups or 1) * (limit.each or 1),
        identity=_identity(question),
        words=question.words,
        measure=measure.what,
        groups=tuple(", ".join(map(str, cell)) or name for cell in question.levels_asked[0].cells),
        lowest=lowest,
        highest=highest,
        grid=str(grid),
        squared_norm=moved.l2_squared,
        largest=moved.linf,
        entries=moved.entries,
        signed=row.low < 0,
        taken=question.assumes,
    )


def require_own_people(question: Question, ledger: Ledger) -> None:
    """Refuses a question of other people than the stream's book protects, or of tables registered in another book."""
    if question.plan.person != ledger.person:
        raise PrivacyError(
            f"the stream protects {ledger.person!r}, the rows of this question belong to {question.plan.person!r}"
        )
    require_own_tables(question.plan, ledger)


def check_question(kept: EngineQuestion, question: Question, ledger: Ledger) -> None:
    """Refuses a question of other people, or whose public description differs from the stream's."""
    require_own_people(question, ledger)
    if engine_question(question) != kept:
        raise InvalidArgument(f"the stream asks for {kept.words}; this question asks for {question.words}")


def read_question(kept: EngineQuestion, question: Question, rng: np.random.Generator) -> polars.DataFrame:
    """Reads a question's rows within each person's limit, as columns `person`, `cell` and `value`."""
    reader = question.reader
    rows = reader.rows(rng)
    whose = [] if question.plan.person == EACH_ROW else [polars.col("person").cast(polars.String).alias("person")]
    values = [polars.col(name).cast(polars.Int64).alias("integer") for name, _ in reader.values.values()]
    return kept.vectors(rows.select(_group(reader).alias("group"), *values, *whose))


def require_table(data: Table | Question, question: StreamQuestion) -> Table:
    """Returns the table; refuses data of another kind than the stream takes (tables, or its own `Question`)."""
    if isinstance(data, Table) and not isinstance(question, EngineQuestion):
        return data
    raise InvalidArgument(
        "a stream opened with a Question is updated with the same Question over each period's rows; every other stream "
        "is updated with a table: bruit.tables.read(..., person=...)"
    )


def _identity(question: Question) -> str:
    """A public name of what is asked, whichever period's rows it is asked of: the schemas, not the files."""
    limit = None if question.limit is None else question.limit.to_json()
    stated = [question.words, limit, question.plan.person, [leaf.schema.digest for leaf in question.plan.leaves]]
    return sha256(json.dumps(stated).encode()).hexdigest()


def _range(measure: Measure) -> tuple[int, int, Fraction]:
    if measure.value is None or measure.what not in ("sum", "mean"):
        return 0, 1, Fraction(1)
    numbers = measure.value.numbers
    return numbers.lowest, numbers.highest, numbers.grid


def _group(reader: Reader) -> polars.Expr:
    """The place of a row's group, the last key varying fastest."""
    sizes = [kind.highest - kind.lowest + 1 for _, kind in reader.declared]
    place = polars.lit(0, polars.Int64)
    for i, (name, kind) in enumerate(reader.declared):
        place = place + (polars.col(name).cast(polars.Int64) - kind.lowest) * prod(sizes[i + 1 :])
    return place
