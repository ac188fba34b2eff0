"""The civil calendar in integer arithmetic, with equal results on every engine; no quotient of a negative number."""

from __future__ import annotations

from datetime import date

from bruit.tables.expressions.nodes import Binary, Constant, If, Node, clamp
from bruit.tables.schema.calendar import day_number

SHIFT = 719_468
"""Days from 0000-03-01 to 1970-01-01: years that begin in March end with the leap day."""

ERA = 146_097
"""Days of 400 years, after which the calendar repeats."""

DAY = 86_400


def civil_day(year: Node, month: Node, day: Node) -> Node:
    """The days from 1970-01-01 to a date; missing if there is no such date. The year must not be negative.

    With years that begin in March, month m = 0, ..., 11 begins on day (153 m + 2) // 5.     [Hinnant 2013]
    """
    leap = ((year % 4).equals(0) & ~(year % 100).equals(0)) | (year % 400).equals(0)
    month_0 = clamp(month - 1, 0, 11)  # a month beyond twelve is refused below, not divided
    length = If(month.equals(2), If(leap, Constant(29), Constant(28)), Constant(31) - month_0 % 7 % 2)
    exists = (month >= 1) & (month <= 12) & (day >= 1) & (day <= length)
    # 400 years more keep January and February of the year 0 from dividing a negative number.
    since = If(month <= 2, year + 399, year + 400)
    days = since * 365 + since // 4 - since // 100 + since // 400
    return If(exists, days + (((month_0 + 10) % 12) * 153 + 2) // 5 + day - (ERA + SHIFT + 1))


def day_part(part: str, day: Node, *, first: date) -> Node:
    """The index of a day's part (its month, week, ...) among its public labels, as `part_code` defines it."""
    low = day_number(first)
    if part == "day":
        return day - low
    if part == "week":
        return (day - (low - first.weekday())) // 7
    shifted = day + SHIFT  # days since 0000-03-01: positive from the year 1600 on
    if part == "weekday":
        return (shifted + 2) % 7
    year, month = _year_and_month(shifted)
    if part == "month_of_year":
        return month - 1
    if part == "year":
        return year - first.year
    months = year * 12 + month - 1
    if part == "quarter":
        return months // 3 - (first.year * 12 + first.month - 1) // 3
    return months - (first.year * 12 + first.month - 1)


def _year_and_month(shifted: Node) -> tuple[Node, Node]:
    """The year and the month, 1 to 12, of days since 0000-03-01.      [Hinnant 2013]"""
    in_era = shifted % ERA
    years = (in_era - in_era // 1_460 + in_era // 36_524 - in_era // (ERA - 1)) // 365
    in_year = in_era - (years * 365 + years // 4 - years // 100)
    month_0 = (in_year * 5 + 2) // 153  # 0 is March
    year = years + (shifted // ERA) * 400
    return If(month_0 >= 10, year + 1, year), (month_0 + 2) % 12 + 1


def local_second(universal: Node, changes: tuple[tuple[int, int], ...]) -> Node:
    """Converts seconds of UTC to seconds of a zone's wall clock."""
    ahead: Node = Constant(changes[0][1])
    for start, seconds in changes[1:]:
        ahead = If(universal >= start, Constant(seconds), ahead)
    return Binary("+", universal, ahead)


def hour_of(second: Node) -> Node:
    """The hour of day, 0 to 23, of a second since 1970, which may be negative."""
    return (second + 2 * ERA * DAY) % DAY // 3_600


def day_of_second(second: Node) -> Node:
    """The day number of a second since 1970, which may be negative."""
    return (second + 2 * ERA * DAY) // DAY - 2 * ERA
