"""The public range of a plan's column: the numbers, labels, days or texts that it can hold."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from functools import cached_property

from bruit.errors import InvalidArgument
from bruit.tables.schema.columns import (
    DAY,
    NEAREST,
    Category,
    ColumnType,
    Date,
    Found,
    Number,
    Time,
    YesNo,
)


@dataclass(frozen=True)
class Numbers:
    """Multiples of a grid step between two bounds."""

    lowest: int
    highest: int
    grid: Fraction

    def value(self, integer: int) -> Fraction:
        """The number that is `integer` grid steps."""
        return integer * self.grid

    def label(self, integer: int) -> str:
        """The number as a label text."""
        value = self.value(integer)
        return str(value) if value.denominator == 1 else repr(float(value))

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """Every possible number as a label."""
        by, parts = self.grid.numerator, self.grid.denominator
        values = range(self.lowest * by, self.highest * by + 1, by)
        if parts == 1:
            return tuple(map(str, values))
        return tuple(repr(value / parts) if value % parts else str(value // parts) for value in values)

    @property
    def size(self) -> int:
        """The number of possible values."""
        return self.highest - self.lowest + 1


@dataclass(frozen=True)
class Labels:
    """Finitely many labels, each stored as its index."""

    labels: tuple[str, ...]

    @property
    def lowest(self) -> int:
        """The index of the first label, 0."""
        return 0

    @property
    def highest(self) -> int:
        """The index of the last label."""
        return len(self.labels) - 1

    @property
    def size(self) -> int:
        """How many labels there are."""
        return len(self.labels)


@dataclass(frozen=True)
class Moments:
    """Days, or wall-clock seconds where `clock` is true, from a first day to a last one.

    `other` is the label that parts give to what is no such moment; None where it is missing.
    """

    first: date
    last: date
    clock: bool
    other: str | None

    @property
    def lowest(self) -> int:
        """The integer of the first day or second."""
        return (self.first - date(1970, 1, 1)).days * (DAY if self.clock else 1)

    @property
    def highest(self) -> int:
        """The integer of the last day or second."""
        days = (self.last - date(1970, 1, 1)).days
        return days * DAY + DAY - 1 if self.clock else days


@dataclass(frozen=True)
class Texts:
    """Arbitrary texts, found in the data rather than declared."""

    longest: int


Kind = Numbers | Labels | Moments | Texts
Bounded = Numbers | Labels | Moments


def kind_of(column: ColumnType, name: str) -> Kind:
    """The public range of a declared column."""
    match column:
        case Number():
            return Numbers(column.lowest, column.highest, column.grid)
        case Category() | YesNo():
            return Labels(tuple(column.labels))
        case Date(_, first, last, outside):
            return Moments(first, last, False, None if outside == NEAREST else outside)  # noqa: FBT003
        case Time(_, first, last, _, outside):
            return Moments(first, last, True, None if outside == NEAREST else outside)  # noqa: FBT003
        case Found(longest):
            return Texts(longest)
    raise InvalidArgument(
        f"{name!r} is declared {column.type}, which names people and is read by no question: declare it as a number, a "
        "category, a date, or found"
    )
