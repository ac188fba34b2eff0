"""Days, parts of days and time-zone changes by Python's calendar, computed when a schema is made."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from bruit.errors import OutOfDomain

EPOCH = date(1970, 1, 1)

DATE_TOKENS = ("yyyy", "mm", "dd")
CLOCK_TOKENS = ("HH", "MM", "SS")
WIDTHS = {"yyyy": "{4}", "mm": "{1,2}", "dd": "{1,2}", "HH": "{1,2}", "MM": "{2}", "SS": "{2}"}

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
MONTHS = (
    "January", "February", "March", "April", "May", "June",
    "July", "August", "September", "October", "November", "December",
)  # fmt: skip

PARTS = ("year", "quarter", "month", "week", "day", "weekday", "month_of_year")
"""The parts of a day; a time has the hour too."""

CLOCK_PARTS = (*PARTS, "hour")


@dataclass(frozen=True)
class Pattern:
    """A regular expression of ASCII digits, and which group is which part of a date or time."""

    expression: str
    groups: tuple[str, ...]

    def place(self, token: str) -> int:
        """The number of the group for a part, from one; zero where the format has no such part."""
        return self.groups.index(token) + 1 if token in self.groups else 0


SERIAL = Pattern(r"\A([1-9][0-9]{4})(?:[.,][0-9]+)?\z", ("serial",))
"""A day as Excel counts it, from 1927 to 2173: what stands in a cell of a date that lost its format."""

SERIAL_OF_1970 = 25569
EXCEL = "excel"
"""The format of days that are written so."""


@lru_cache(maxsize=256)
def read_pattern(form: str, *, clock: bool) -> Pattern:
    r"""The regular expression of a format such as dd/mm/yyyy, in syntax that every engine reads alike.

    Digits beside digits, as in yyyymmdd, have fixed widths; elsewhere days, months and hours may have one digit.
    """
    if form == EXCEL and not clock:
        return SERIAL
    allowed = (*DATE_TOKENS, *CLOCK_TOKENS) if clock else DATE_TOKENS
    parts = re.split(f"({'|'.join(allowed)})", form) if isinstance(form, str) else []
    tokens = [part for part in parts if part in allowed]
    wanted = {*DATE_TOKENS, "HH"} if clock else set(DATE_TOKENS)
    if not wanted <= set(tokens) or len(set(tokens)) < len(tokens):
        raise OutOfDomain(f"format={form!r} must hold each of {', '.join(sorted(wanted))} once, as in {example(clock)}")
    if any(not between.isascii() or re.search(r"[0-9A-Za-z]", between.replace("T", "")) for between in parts[::2]):
        raise OutOfDomain(f"format={form!r}: between {', '.join(allowed)} only signs may stand, as in {example(clock)}")
    fixed = any(not between for between in parts[2:-1:2])
    widths = {token: f"{{{len(token)}}}" for token in tokens} if fixed else WIDTHS
    pieces = [f"([0-9]{widths[part]})" if part in tokens else re.escape(part).replace("\\ ", " ") for part in parts]
    return Pattern(rf"\A{''.join(pieces)}\z", tuple(tokens))


def example(clock: bool) -> str:  # noqa: FBT001  one word at its only call
    """An example of a valid format."""
    return "'dd/mm/yyyy HH:MM'" if clock else "'dd/mm/yyyy'"


def day_number(day: date) -> int:
    """The number of days from 1970-01-01 to a day."""
    return (day - EPOCH).days


def day_of(number: int) -> date:
    """The date that is a number of days after 1970-01-01."""
    return EPOCH + timedelta(days=number)


@lru_cache(maxsize=64)
def clock_changes(zone: str, first: date, last: date) -> tuple[tuple[int, int], ...]:
    """The UTC second of each change of a zone's offset and the new offset in seconds, for days first to last."""
    try:
        clock = ZoneInfo(zone)
    except (KeyError, ValueError, TypeError, OSError):
        raise OutOfDomain(f"zone={zone!r} is no time zone; write one like 'Europe/Paris' or 'UTC'") from None
    start, end = ((day_number(day) + shift) * 86_400 for day, shift in ((first, -2), (last, 3)))
    changes = [(start, _ahead(clock, start))]
    for later in range(start + 86_400, end + 1, 86_400):
        if _ahead(clock, later) != changes[-1][1]:
            changes.append(_change(clock, later - 86_400, later))
    return tuple(changes)


def _ahead(clock: ZoneInfo, second: int) -> int:
    shift = datetime.fromtimestamp(second, UTC).astimezone(clock).utcoffset()
    return 0 if shift is None else int(shift.total_seconds())


def _change(clock: ZoneInfo, low: int, high: int) -> tuple[int, int]:
    """The first second with the clock of `high`, which differs from that of `low`."""
    after = _ahead(clock, high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if _ahead(clock, middle) == after else (middle, high)
    return high, after


def part_code(part: str, day: int, *, first: int) -> int:
    """The index of a day's part among its labels; `day` and `first` are day numbers, `first` the earliest.

    This is the definition, by Python's calendar; engines compute it by arithmetic and are held to it.
    """
    when, start = day_of(day), day_of(first)
    match part:
        case "year":
            return when.year - start.year
        case "quarter":
            return (when.year - start.year) * 4 + (when.month - 1) // 3 - (start.month - 1) // 3
        case "month":
            return (when.year - start.year) * 12 + when.month - start.month
        case "week":
            return (day - (first - start.weekday())) // 7
        case "day":
            return day - first
        case "weekday":
            return when.weekday()
    return when.month - 1


@lru_cache(maxsize=256)
def part_labels(part: str, first: date, last: date) -> tuple[str, ...]:
    """The public labels of a part of a date (such as month), from the first day to the last."""
    fixed = {"weekday": WEEKDAYS, "month_of_year": MONTHS, "hour": tuple(f"{hour:02}" for hour in range(24))}
    if part in fixed:
        return fixed[part]
    low, high = day_number(first), day_number(last)
    labels: dict[int, str] = {}
    for number in range(low, high + 1):
        labels.setdefault(part_code(part, number, first=low), _part_label(part, day_of(number)))
    return tuple(labels.values())


def _part_label(part: str, day: date) -> str:
    year, week, _ = day.isocalendar()
    return {
        "year": f"{day.year}",
        "quarter": f"{day.year}-Q{(day.month + 2) // 3}",
        "month": f"{day.year}-{day.month:02}",
        "week": f"{year}-W{week:02}",
        "day": day.isoformat(),
    }[part]
