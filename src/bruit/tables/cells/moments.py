"""Dates and times from matched digits or numbers of seconds, as expressions with equal results on every engine."""

from __future__ import annotations

from bruit.tables.expressions.days import DAY, civil_day, day_of_second, local_second
from bruit.tables.expressions.nodes import Coalesce, Constant, Field, If, Node, clamp, inside
from bruit.tables.schema.calendar import SERIAL, SERIAL_OF_1970, Pattern
from bruit.tables.schema.columns import NEAREST, Date, Time

EARLIEST, LATEST = -15_000_000_000, 40_000_000_000
"""Seconds of about 1494 and 3237, outside every schema: physical times are cut there before anything is added."""

TOKENS = ("yyyy", "mm", "dd", "HH", "MM", "SS")


def within_bounds(moment: Node, column: Date | Time) -> Node:
    """A moment within the column's bounds; one outside is clamped or becomes missing, as declared."""
    if column.outside == NEAREST:
        return clamp(moment, column.lowest, column.highest)
    return inside(moment, column.lowest, column.highest)


def from_digits(names: dict[str, str], column: Date | Time) -> Node:
    """The moment from matched digits; `names` gives the columns of yyyy, mm, dd, HH, MM and SS, or of a serial."""
    if SERIAL.groups[0] in names:
        return Field(names[SERIAL.groups[0]]) - SERIAL_OF_1970
    day = civil_day(*(Field(names[token]) for token in TOKENS[:3]))
    day = If(Field(names["yyyy"]) >= 1, day)  # Python's calendar, and everyone's, begins with the year 1
    if isinstance(column, Date):
        return day
    hour, minute, second = (
        Coalesce(Field(names[token]), Constant(0)) if token in names else Constant(0) for token in TOKENS[3:]
    )
    exists = (hour < 24) & (minute < 60) & (second < 60)
    return If(exists, day * DAY + hour * 3600 + minute * 60 + second)


def from_second(second: Node, column: Date | Time, *, instant: bool) -> Node:
    """The moment from a number of seconds since 1970, of the wall clock or, with `instant`, of UTC."""
    if isinstance(column, Date):
        return day_of_second(second)
    return local_second(second, column.changes) if instant else second


def groups_of(pattern: Pattern) -> dict[str, int]:
    """The regular expression's group number for each part (year, month, ...) that the pattern has."""
    return {token: place for place, token in enumerate(pattern.groups, 1)}
