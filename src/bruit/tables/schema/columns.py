"""Column types: how every cell becomes an integer or a text, or is missing; fixed before any is read."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from bruit.errors import OutOfDomain
from bruit.tables.schema.calendar import Pattern, clock_changes, day_number, read_pattern

DROP = "drop"
"""Instead of a label: a cell outside the list or the bounds is missing."""

NEAREST = "nearest"
"""Instead of a label: a day outside the bounds is moved to the nearer one."""

MOST_STEPS = 2**32
"""The largest |bound| / grid, so that two thousand million rows sum without leaving 64 bits."""

LARGEST_NUMBER = 10**300
"""The largest bound, and the largest denominator of a grid, so that every engine's numbers hold both."""

LARGEST_WHOLE = 2**53 - 1
"""The largest number that is still whole, alone and exact where an engine holds whole numbers as floats."""

LARGEST_LONG = 2**63 - 1

DAY = 86_400


def require_grid(low: Fraction, high: Fraction, grid: Fraction, missing: Fraction | None, *, build: str) -> None:
    """Refuses numbers that are not exact, or off the grid: rounded to it, a value could lie beyond its bounds."""
    fill = () if missing is None else (missing,)
    exact = all(isinstance(each, Fraction) for each in (low, high, grid, *fill))
    if not exact or grid <= 0 or not all(low <= each <= high for each in (low, high, *fill)):
        raise OutOfDomain(f"the bounds, the grid and what is missing are built by {build}, which checks them")
    if any((bound / grid).denominator != 1 or abs(bound / grid) > MOST_STEPS for bound in (low, high)):
        raise OutOfDomain(f"a grid divides both bounds into at most 2^32 steps: build it with {build}")


def require_different(values: tuple[str, ...], *, build: str) -> None:
    """Refuses categories that are no texts, or listed twice: engines could fail on them."""
    if not all(isinstance(value, str) for value in values) or len(set(values)) < len(values):
        raise OutOfDomain(f"categories are texts, each listed once: build them with {build}, which checks them")


@dataclass(frozen=True)
class Number:
    """Numbers between two bounds, rounded to a grid; the integer of a value is its number of grid steps from zero."""

    low: Fraction
    high: Fraction
    grid: Fraction
    missing: Fraction | None = None
    strip: tuple[str, ...] = ()

    type: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        require_grid(self.low, self.high, self.grid, self.missing, build="number(...)")

    @property
    def lowest(self) -> int:
        """The low bound in grid steps."""
        return int(self.low / self.grid)

    @property
    def highest(self) -> int:
        """The high bound in grid steps."""
        return int(self.high / self.grid)

    def to_json(self) -> dict[str, Any]:
        """The options in JSON types; numbers as texts."""
        options = {"low": str(self.low), "high": str(self.high), "grid": str(self.grid), "strip": list(self.strip)}
        return options | {"missing": DROP if self.missing is None else str(self.missing)}


@dataclass(frozen=True)
class Category:
    """Declared categories; any other or missing cell takes the label `others`, or is missing where that is None."""

    values: tuple[str, ...]
    others: str | None

    type: ClassVar[str] = "category"
    lowest: ClassVar[int] = 0

    def __post_init__(self) -> None:
        require_different(self.values, build="category(...)")

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels in the order of their integers."""
        return self.values if self.others is None else (*self.values, self.others)

    @property
    def highest(self) -> int:
        """The integer of the last label."""
        return len(self.labels) - 1

    def to_json(self) -> dict[str, Any]:
        """The options in JSON types."""
        return {"values": list(self.values), "others": DROP if self.others is None else self.others}


@dataclass(frozen=True)
class YesNo:
    """A yes-or-no column: yes is 1, no is 0, and anything else is missing."""

    yes: tuple[str, ...]
    no: tuple[str, ...]

    type: ClassVar[str] = "yesno"
    labels: ClassVar[tuple[str, str]] = ("no", "yes")
    lowest: ClassVar[int] = 0
    highest: ClassVar[int] = 1

    def to_json(self) -> dict[str, Any]:
        """The options in JSON types."""
        return {"yes": list(self.yes), "no": list(self.no)}


@dataclass(frozen=True)
class Date:
    """Days from `first` to `last`; the integer of a day is its number of days since 1970-01-01.

    A cell that is no such day is missing, moved to the nearer end (`nearest`), or has the label `outside` in each part.
    """

    format: str
    first: datetime.date
    last: datetime.date
    outside: str | None

    type: ClassVar[str] = "date"

    @property
    def pattern(self) -> Pattern:
        """The pattern by which a text is parsed."""
        return read_pattern(self.format, clock=False)

    @property
    def lowest(self) -> int:
        """The day number of `first`."""
        return day_number(self.first)

    @property
    def highest(self) -> int:
        """The day number of `last`."""
        return day_number(self.last)

    def to_json(self) -> dict[str, Any]:
        """The options in JSON types."""
        days = {"first": self.first.isoformat(), "last": self.last.isoformat()}
        return {"format": self.format, **days, "outside": DROP if self.outside is None else self.outside}


@dataclass(frozen=True)
class Time:
    """Wall-clock seconds of one time zone, from the first second of `first` to the last one of `last`.

    The integer is the number of seconds since 1970-01-01 00:00:00 on that clock. Instants (times with a zone of their
    own) are moved to it by the changes of the clock that were looked up when the schema was made.
    """

    format: str
    first: datetime.date
    last: datetime.date
    zone: str
    outside: str | None

    type: ClassVar[str] = "time"

    @property
    def pattern(self) -> Pattern:
        """The pattern by which a text is parsed."""
        return read_pattern(self.format, clock=True)

    @property
    def changes(self) -> tuple[tuple[int, int], ...]:
        """The UTC second of each change of the zone's offset, and the new offset in seconds, in order."""
        return clock_changes(self.zone, self.first, self.last)

    @property
    def lowest(self) -> int:
        """The first second of `first`."""
        return day_number(self.first) * DAY

    @property
    def highest(self) -> int:
        """The last second of `last`."""
        return day_number(self.last) * DAY + DAY - 1

    def to_json(self) -> dict[str, Any]:
        """The options in JSON types."""
        days = {"first": self.first.isoformat(), "last": self.last.isoformat(), "zone": self.zone}
        return {"format": self.format, **days, "outside": DROP if self.outside is None else self.outside}


@dataclass(frozen=True)
class Whole:
    """Integers that identify people: up to 2^53 - 1, or up to 2^63 - 1 where they are `long`."""

    long: bool = False

    @property
    def type(self) -> str:
        """The name of this type in a schema."""
        return "long" if self.long else "whole"

    @property
    def largest(self) -> int:
        """The largest absolute value that identifies anybody."""
        return LARGEST_LONG if self.long else LARGEST_WHOLE

    def to_json(self) -> dict[str, Any]:
        """An empty mapping, since this type has no options."""
        return {}


@dataclass(frozen=True)
class Text:
    """Texts that identify people, or that no question reads."""

    type: ClassVar[str] = "text"

    def to_json(self) -> dict[str, Any]:
        """An empty mapping, since this type has no options."""
        return {}


@dataclass(frozen=True)
class Found:
    """Texts found in the data: usable as a group key only, at a delta; the first `longest` characters count."""

    longest: int

    type: ClassVar[str] = "found"

    def to_json(self) -> dict[str, Any]:
        """The options in JSON types."""
        return {"longest": self.longest}


Declared = Number | Category | YesNo | Date | Time
"""Columns whose cells are integers between `lowest` and `highest`, or missing."""

ColumnType = Declared | Whole | Text | Found
