"""Questions of streams: counts, sums, means, histograms and found keys of each period's rows.

A question turns rows into whole numbers per person and cell. Of each person at most `rows` rows count in a period,
chosen at random from that person's rows alone, before anything is added up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.continual.answers import Answer, around, ratios
from bruit.continual.participation import Contribution
from bruit.core import EACH_ROW, Assumption
from bruit.core.arguments import whole
from bruit.errors import InvalidArgument, PrivacyError
from bruit.tables import Column, Domain, Table, Within, domain_from_json, read_integers, within

SIGN = within(-1, 1, grid=1)
"""How a column of corrections is read: +1 adds a row, -1 takes one back, anything between counts for nothing."""


@dataclass(frozen=True, kw_only=True)
class StreamQuestion(ABC):
    """The statistic that a stream publishes of its rows; the root of all questions.

    `rows` is the most rows of one person that count in a period. `corrections` names a column that is -1 where a row
    takes an earlier one back; such rows use up the person's turn like any other.
    """

    rows: int
    corrections: str | None = None
    kinds: ClassVar[dict[str, type[StreamQuestion]]] = {}

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        StreamQuestion.kinds[cls.__name__] = cls

    def __post_init__(self) -> None:
        object.__setattr__(self, "rows", whole(self.rows, "rows"))

    @property
    @abstractmethod
    def contribution(self) -> Contribution:
        """The most that one person adds in one period."""

    @property
    @abstractmethod
    def labels(self) -> tuple[str, ...]:
        """One label for each number of the answer."""

    @property
    def parts(self) -> int:
        """How many noisy totals each number of the answer is computed from."""
        return 1

    @property
    def size(self) -> int | None:
        """The number of cells (noisy totals); None where keys are found in the data."""
        return len(self.labels)

    @property
    def assumes(self) -> tuple[Assumption, ...]:
        """What the guarantee of a stream takes for granted of the tables it reads."""
        return ()

    def readings(self, table: Table) -> list[Column]:
        """The columns that the question reads, with their domains."""
        return [] if self.corrections is None else [Column(table, table[self.corrections].name, SIGN)]

    @abstractmethod
    def vectors(self, rows: polars.DataFrame) -> polars.DataFrame:
        """Turns rows of integers and signs into what each adds: columns `cell`, `value` and perhaps `person`."""

    def answer(self, totals: NDArray[Any], width: float, confidence: float, labels: tuple[str, ...]) -> Answer:
        """The answer computed from noisy totals whose noise is at most `width` each."""
        return around(totals, width, confidence, labels, positive=not self.contribution.signed)

    def to_json(self) -> dict[str, Any]:
        """A complete description in JSON types."""
        return {"kind": type(self).__name__, "rows": self.rows, "corrections": self.corrections}


@dataclass(frozen=True, kw_only=True)
class Count(StreamQuestion):
    """The number of rows."""

    @property
    def contribution(self) -> Contribution:
        return Contribution(self.rows**2, self.rows, 1, self.corrections is not None)

    @property
    def labels(self) -> tuple[str, ...]:
        return ("count",)

    def vectors(self, rows: polars.DataFrame) -> polars.DataFrame:
        return rows.with_columns(polars.lit(0).alias("cell"), polars.col("sign").alias("value"))


@dataclass(frozen=True)
class _OfColumn(StreamQuestion, ABC):
    """A question about one column, whose domain is known before any data is seen."""

    column: str
    domain: Domain

    def readings(self, table: Table) -> list[Column]:
        return [Column(table, table[self.column].name, self.domain), *super().readings(table)]

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "column": self.column, "domain": self.domain.to_json()}


@dataclass(frozen=True)
class Histogram(_OfColumn):
    """The number of rows with each declared value of a column."""

    @property
    def contribution(self) -> Contribution:
        return Contribution(self.rows**2, self.rows, min(self.rows, self.domain.size), self.corrections is not None)

    @property
    def labels(self) -> tuple[str, ...]:
        if isinstance(self.domain, Within):
            values = self.domain.decode(np.arange(self.domain.lowest, self.domain.highest + 1))
            return tuple(f"{value:.15g}" for value in values)
        return self.domain.labels

    @property
    def size(self) -> int | None:
        return self.domain.size

    def vectors(self, rows: polars.DataFrame) -> polars.DataFrame:
        place = polars.col("integer 0") - self.domain.lowest
        return rows.with_columns(place.alias("cell"), polars.col("sign").alias("value"))


@dataclass(frozen=True)
class _OfNumbers(_OfColumn, ABC):
    """A question about a column of numbers."""

    domain: Within

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.domain, Within):
            raise InvalidArgument(f"{self.column!r} holds categories; this question needs within(low, high, grid=...)")


@dataclass(frozen=True)
class Sum(_OfNumbers):
    """The sum of a numeric column."""

    @property
    def contribution(self) -> Contribution:
        most = self.rows * self.domain.farthest
        return Contribution(most**2, most, 1, self.corrections is not None or self.domain.lowest < 0)

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.column,)

    def vectors(self, rows: polars.DataFrame) -> polars.DataFrame:
        value = polars.col("integer 0") * polars.col("sign")
        return rows.with_columns(polars.lit(0).alias("cell"), value.alias("value"))

    def answer(self, totals: NDArray[Any], width: float, confidence: float, labels: tuple[str, ...]) -> Answer:
        grid = float(self.domain.grid)
        positive = not self.contribution.signed
        return around(np.asarray(totals) * grid, width * grid, confidence, labels, positive=positive)


@dataclass(frozen=True)
class Mean(_OfNumbers):
    """The mean of a numeric column, from the sums of its distances to both bounds.

    A row adds (x - low, high - x), whose l2 norm is at most high - low, as much as its count would cost alone. The two
    totals add up to the number of rows times high - low.
    """

    @property
    def contribution(self) -> Contribution:
        most = self.rows * (self.domain.highest - self.domain.lowest)
        return Contribution(most**2, most, 2, self.corrections is not None)

    @property
    def labels(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def parts(self) -> int:
        return 2

    @property
    def size(self) -> int | None:
        return 2

    def vectors(self, rows: polars.DataFrame) -> polars.DataFrame:
        ends = (polars.col("integer 0") - self.domain.lowest, self.domain.highest - polars.col("integer 0"))
        halves = [
            rows.with_columns(polars.lit(cell).alias("cell"), (end * polars.col("sign")).alias("value"))
            for cell, end in enumerate(ends)
        ]
        return polars.concat(halves)

    def answer(self, totals: NDArray[Any], width: float, confidence: float, labels: tuple[str, ...]) -> Answer:
        ends = (float(self.domain.low), float(self.domain.high))
        return ratios(np.asarray(totals).reshape(1, 2), width, confidence, labels, between=ends)


@dataclass(frozen=True)
class Keys(StreamQuestion):
    """The number of rows with each value of a column whose values are found in the data; small ones stay hidden.

    It costs a δ besides. The order of the answer is that of the keys, not that of their arrival.
    """

    column: str

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.corrections is not None:
            raise InvalidArgument("keys that nobody listed take no corrections: list them, or leave rows as they are")

    @property
    def contribution(self) -> Contribution:
        return Contribution(self.rows**2, self.rows, self.rows, signed=False)

    @property
    def labels(self) -> tuple[str, ...]:
        return ()

    @property
    def size(self) -> int | None:
        return None

    def answer(self, totals: NDArray[Any], width: float, confidence: float, labels: tuple[str, ...]) -> Answer:
        """The totals without intervals: published keys are those with high noise, so no interval would hold."""
        return Answer(totals, None, None, float(width), confidence, labels)

    def vectors(self, rows: polars.DataFrame) -> polars.DataFrame:
        return rows.rename({"key": "cell"}).with_columns(polars.col("sign").alias("value"))

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "column": self.column}


def question_from_json(description: dict[str, Any]) -> StreamQuestion:
    """Rebuilds a question from what its `to_json` wrote."""
    values = dict(description)
    kind = StreamQuestion.kinds[values.pop("kind")]
    if "domain" in values:
        values["domain"] = domain_from_json(values["domain"])
    return kind(**values)


def read_rows(question: StreamQuestion, table: Table, rng: np.random.Generator) -> polars.DataFrame:
    """The rows of a period as columns `cell` and `value`: at most `rows` of each person, chosen at random.

    `person` stands beside them where there is one, as the text that the store keeps.
    """
    frame = _collected(question, table)
    if table.person == EACH_ROW:
        return question.vectors(frame)
    order = polars.Series("order", rng.permutation(len(frame)))
    shuffled = frame.with_columns(polars.col("person").cast(polars.String), order).sort("order")
    return question.vectors(shuffled.group_by("person", maintain_order=True).head(question.rows))


def check_table(question: StreamQuestion, table: Table, person: str) -> None:
    """Refuses, by its schema alone, a table that the stream cannot read."""
    if table.person != person:
        raise PrivacyError(
            f"the stream protects {person!r}, the rows of this table belong to {table.person!r}; "
            f"read the table with person={person!r}"
        )
    if table.person == EACH_ROW and question.rows != 1:
        raise InvalidArgument(
            f"each row is a person of its own (person=EACH_ROW): rows can only be 1, not {question.rows}"
        )
    question.readings(table)
    if isinstance(question, Keys):
        table[question.column]


def _collected(question: StreamQuestion, table: Table) -> polars.DataFrame:
    """The integers, or the key, of every row that counts, with its sign."""
    readings = question.readings(table)
    if isinstance(question, Keys):
        frame = read_integers(table, [table[question.column]]).rename({"integer 0": "key"})
    else:
        frame = read_integers(table, readings)
    sign = polars.lit(1, polars.Int64) if question.corrections is None else polars.col(f"integer {len(readings) - 1}")
    return frame.drop_nulls().with_columns(sign.alias("sign"))
