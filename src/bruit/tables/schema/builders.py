"""Constructors of column types, from Python arguments or a schema file, with all checks."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from inspect import signature
from typing import Any

from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument, OutOfDomain
from bruit.tables.schema.calendar import EPOCH, clock_changes, read_pattern
from bruit.tables.schema.columns import (
    DROP,
    LARGEST_NUMBER,
    MOST_STEPS,
    Category,
    ColumnType,
    Date,
    Found,
    Number,
    Text,
    Time,
    Whole,
    YesNo,
)


def number(low: Exact, high: Exact, *, grid: Exact, missing: Exact = DROP, strip: Sequence[str] = ()) -> Number:
    """Numbers from low to high in steps of `grid`; missing cells are dropped, or count as the number `missing`."""
    bounds, step = (exactly(low, "low"), exactly(high, "high")), exactly(grid, "grid")
    if bounds[0] >= bounds[1]:
        raise OutOfDomain(f"low={low}, high={high}: low must be below high; give bounds known before seeing the data")
    if step <= 0 or any((bound / step).denominator != 1 for bound in bounds):
        raise OutOfDomain(f"grid={grid} must be above zero and divide both bounds {low} and {high}")
    if any(size > LARGEST_NUMBER for size in (abs(bounds[0]), abs(bounds[1]), step.denominator)):
        raise OutOfDomain(f"low={low}, high={high}, grid={grid}: numbers from 1e-300 to 1e300 can be held")
    if max(abs(bound / step) for bound in bounds) > MOST_STEPS:
        raise OutOfDomain(f"grid={grid} is too fine for bounds {low}, {high}: at most 2^32 steps from zero")
    fill = None if missing == DROP else exactly(missing, "missing")
    if fill is not None and not bounds[0] <= fill <= bounds[1]:
        raise OutOfDomain(f"missing={missing} must lie within {low} and {high}, or be {DROP!r}")
    return Number(*bounds, step, fill, _texts(strip, "strip"))


def category(values: Sequence[str], *, others: str = "OTHER") -> Category:
    """Declared categories; other texts take the label `others`, or are dropped where that is "drop"."""
    names, label = _texts(values, "values"), _label(others, "others")
    if not names:
        raise OutOfDomain("values=[] declares no category; list at least one")
    if len({*names, label}) < len(names) + 1:
        raise OutOfDomain("values names a category twice, or one that `others` stands for; list each once")
    return Category(names, label)


def yesno(*, yes: Sequence[str], no: Sequence[str]) -> YesNo:
    """A yes-or-no column, with the texts that mean yes and those that mean no."""
    sides = _texts(yes, "yes"), _texts(no, "no")
    if not all(sides) or len({*sides[0], *sides[1]}) < len(sides[0]) + len(sides[1]):
        raise OutOfDomain("yes and no each need at least one text, and no text may stand in them twice")
    return YesNo(*sides)


def date(
    *,
    format: str = "yyyy-mm-dd",  # noqa: A002
    first: datetime.date | str,
    last: datetime.date | str,
    outside: str = "OTHER",
) -> Date:
    """Days from first to last, written like `format` where they are texts: dd, mm and yyyy with anything between.

    `format="excel"` reads days as Excel counts them, 45658 for 2025-01-01.
    """
    days = _days(first, last)
    read_pattern(format, clock=False)
    return Date(format, *days, _label(outside, "outside"))


def time(
    *,
    format: str = "yyyy-mm-dd HH:MM:SS",  # noqa: A002
    first: datetime.date | str,
    last: datetime.date | str,
    zone: str,
    outside: str = "OTHER",
) -> Time:
    """Times on the wall clock of a zone such as Europe/Paris: dd, mm, yyyy, HH, MM and SS with anything between."""
    days = _days(first, last)
    read_pattern(format, clock=True)
    clock_changes(zone, *days)
    return Time(format, *days, zone, _label(outside, "outside"))


def whole() -> Whole:
    """Integers of at most 2^53 - 1 that identify people."""
    return Whole()


def long() -> Whole:
    """Integers of at most 2^63 - 1 that identify people, where the source keeps each digit."""
    return Whole(long=True)


def text() -> Text:
    """Texts that identify people."""
    return Text()


def found(*, longest: int) -> Found:
    """Texts whose values are found in the data, as group keys; the first `longest` characters count."""
    if isinstance(longest, bool) or not isinstance(longest, int) or not 1 <= longest <= 1000:
        raise OutOfDomain(f"longest={longest!r} must be a whole number of characters from 1 to 1000")
    return Found(longest)


BUILDERS: dict[str, Any] = {
    "number": number,
    "category": category,
    "yesno": yesno,
    "date": date,
    "time": time,
    "whole": whole,
    "long": long,
    "text": text,
    "found": found,
}


def column_from_json(name: str, description: Mapping[str, Any]) -> ColumnType:
    """The column type that a mapping with `type` and its options describes."""
    options = dict(description)
    kind = options.pop("type", None)
    if not isinstance(kind, str) or kind not in BUILDERS:
        found = "its type is not filled in" if kind == "" else f"type={kind!r}"
        raise InvalidArgument(f"column {name!r}: {found}; choose among {', '.join(BUILDERS)}")
    _check_options(name, kind, options)
    try:
        return BUILDERS[kind](**options)  # type: ignore[no-any-return]
    except TypeError as error:
        raise InvalidArgument(
            f"column {name!r} of type {kind!r}: {error}; see docs/tables.md for its options"
        ) from None
    except InvalidArgument as error:
        raise type(error)(f"column {name!r}: {error}") from None


def _check_options(name: str, kind: str, options: Mapping[str, Any]) -> None:
    """Refuses options that the type has not, and a type without one that it needs."""
    known = signature(BUILDERS[kind]).parameters
    needed = [option for option, each in known.items() if each.default is each.empty and option not in options]
    if needed or not set(options) <= set(known):
        odd = [f"has no option {option!r}" for option in options if option not in known]
        lacks = [f"needs {', '.join(needed)}"] if needed else []
        allowed = f"its options are {', '.join(known)}" if known else "it has no options"
        raise InvalidArgument(f"column {name!r} of type {kind!r} {' and '.join(odd + lacks)}; {allowed}")


def _texts(values: Sequence[str], name: str) -> tuple[str, ...]:
    if isinstance(values, str) or not all(isinstance(value, str) and value.strip() == value for value in values):
        raise OutOfDomain(f"{name}={values!r} must be a list of texts without blanks at their ends")
    return tuple(values)


def _label(value: str, name: str) -> str | None:
    if not isinstance(value, str) or not value:
        raise OutOfDomain(f"{name}={value!r} must be a label, or {DROP!r}")
    return None if value == DROP else value


def _days(first: datetime.date | str, last: datetime.date | str) -> tuple[datetime.date, datetime.date]:
    try:
        days = [
            datetime.date.fromisoformat(day) if isinstance(day, str) else datetime.date(day.year, day.month, day.day)
            for day in (first, last)
        ]
    except (AttributeError, ValueError):
        raise OutOfDomain(f"first={first!r}, last={last!r}: give days like 2025-01-31") from None
    if not EPOCH.replace(year=1600) <= days[0] <= days[1] <= EPOCH.replace(year=3000):
        raise OutOfDomain(f"first={first}, last={last}: give days from 1600 to 2999, the first one first")
    return days[0], days[1]
