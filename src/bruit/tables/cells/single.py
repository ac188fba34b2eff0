"""Reads one cell in Python: the reference for the readers inside engines, and the reader of Python objects.

Only exact types are opened, so that no method of an object that a record brought is ever called.
"""

from __future__ import annotations

import math
import re
import sys
from datetime import UTC, date, datetime, timezone
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np

from bruit.tables.cells.moments import EARLIEST, LATEST
from bruit.tables.cells.texts import BLANKS, WHOLE, Reading
from bruit.tables.schema.calendar import EPOCH, SERIAL_OF_1970, Pattern, day_number
from bruit.tables.schema.columns import (
    DAY,
    LARGEST_WHOLE,
    NEAREST,
    Category,
    ColumnType,
    Date,
    Found,
    Number,
    Time,
    Whole,
    YesNo,
)

Plain = bool | int | float | str | date | datetime | None

NUMPY = frozenset(np.sctypeDict.values())
"""NumPy's own scalars; `item` of a class derived from one could be anybody's."""

_START = datetime(EPOCH.year, EPOCH.month, EPOCH.day)


def read_cell(value: object, column: ColumnType, reading: Reading) -> int | str | None:
    """The integer or text of a cell as its column declares it; None where it is missing."""
    known = open_value(value)
    if isinstance(column, Number):
        return _grid_integer(_number(known, column, reading), column)
    if isinstance(column, Date | Time):
        return _moment(known, column, reading)
    if isinstance(column, Whole):
        return _whole(known, column, reading)
    text = _text(known, reading)
    if isinstance(column, Category):
        others = None if column.others is None else len(column.values)
        return column.values.index(text) if text in column.values else others
    if isinstance(column, YesNo):
        known = known if type(known) is bool else 1 if text in column.yes else 0 if text in column.no else None
        return None if known is None else int(known)
    return text[: column.longest] if text is not None and isinstance(column, Found) else text


def open_value(value: object) -> Plain:
    """The plain Python value of an object of a known type; None for any other type."""
    kind = type(value)
    if kind in (bool, int, float, date, datetime):
        return value  # type: ignore[return-value]
    if kind is str:
        return value.encode("utf-8", "replace").decode()  # type: ignore[attr-defined,no-any-return]
    if kind is Decimal:
        return _decimal(value)  # type: ignore[arg-type]
    if kind is complex:  # one complex number in a column makes complex numbers of all
        return value.real if value.imag == 0 else None  # type: ignore[attr-defined]
    if kind in NUMPY:
        return _numpy(value)  # type: ignore[arg-type]
    pandas = sys.modules.get("pandas")
    if pandas is not None and kind is pandas.Timestamp:
        return _timestamp(value)
    return None


def _decimal(value: Decimal) -> float | None:
    return None if value.is_nan() else float(value)


def _timestamp(value: Any) -> datetime:
    moment = datetime.fromtimestamp(math.floor(value.timestamp()), UTC)
    return moment if value.tzinfo is not None else moment.replace(tzinfo=None)


def _numpy(value: np.generic) -> Plain:
    if isinstance(value, np.datetime64):
        if np.isnat(value):
            return None
        seconds = min(max(int(value.astype("datetime64[s]").astype(np.int64)), EARLIEST), LATEST)
        return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None)
    if isinstance(value, np.longdouble | np.clongdouble):  # their `item` is no number of Python's, but themselves
        return open_value(complex(value))
    plain = isinstance(value, np.bool_ | np.integer | np.inexact | np.str_)
    return open_value(value.item()) if plain else None


def _number(value: Plain, column: Number, reading: Reading) -> float | None:
    if type(value) in (bool, int, float):
        return _as_float(value)  # type: ignore[arg-type]
    if type(value) is not str:
        return None
    text = value.strip(BLANKS)
    for unit in column.strip:
        text = text.replace(unit, "")
    text = text.strip(BLANKS)
    if text in reading.file.missing:
        return None
    for form in reading.numbers:
        if _matches(form.pattern, text):
            for mark in form.thousands:
                text = text.replace(mark, "")
            return float(text.replace(form.decimal, "."))
    return None


def _as_float(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _grid_integer(value: float | None, column: Number) -> int | None:
    if value is None or math.isnan(value):
        if column.missing is None:
            return None
        value = float(column.missing)
    return math.floor(min(max(value, float(column.low)), float(column.high)) / float(column.grid) + 0.5)


def _text(value: Plain, reading: Reading) -> str | None:
    """A text without blanks at its ends; numbers by their value in digits, whatever type held them."""
    if type(value) is bool:
        return "true" if value else "false"
    if type(value) is float and value.is_integer():
        value = int(value)
    if type(value) is int:
        return str(value) if abs(value) <= LARGEST_WHOLE else None
    if type(value) is not str:
        return None
    text = value.strip(BLANKS)
    return None if text in reading.file.missing else text


def _whole(value: Plain, column: Whole, reading: Reading) -> int | None:
    if type(value) is float and value.is_integer() and not column.long:
        value = int(value)
    if type(value) is str:
        text = value.strip(BLANKS)
        matched = text not in reading.file.missing and _matches(WHOLE, text)
        value = int(text) if matched else None
    return value if type(value) is int and abs(value) <= column.largest else None


def _moment(value: Plain, column: Date | Time, reading: Reading) -> int | None:
    seconds = _seconds(value, column, reading)
    if seconds is None:
        return None
    found = seconds if isinstance(column, Time) else seconds // DAY
    if column.outside == NEAREST:
        return min(max(found, column.lowest), column.highest)
    return found if column.lowest <= found <= column.highest else None


def _seconds(value: Plain, column: Date | Time, reading: Reading) -> int | None:
    """Seconds since 1970 on the column's clock; instants count in universal time for a date."""
    if type(value) is date:
        return day_number(value) * DAY
    if type(value) is datetime:
        if value.tzinfo is None:
            return math.floor((value - _START).total_seconds())
        if type(value.tzinfo) not in (timezone, ZoneInfo):
            return None
        return _on_the_clock(math.floor(value.timestamp()), column)
    if type(value) is not str:
        return None
    text = value.strip(BLANKS)
    if text in reading.file.missing:
        return None
    found = (_civil(pattern, text) for pattern in reading.moments(column))
    return next((second for second in found if second is not None), None)


def _on_the_clock(second: int, column: Date | Time) -> int:
    if isinstance(column, Date):
        return second
    return second + [ahead for start, ahead in column.changes if start <= second or start == column.changes[0][0]][-1]


def _civil(pattern: Pattern, text: str) -> int | None:
    match = re.match(pattern.expression.replace(r"\z", r"\Z"), text, re.ASCII)
    if match is None:
        return None
    values = {token: int(match[place] or 0) for place, token in enumerate(pattern.groups, 1)}
    if "serial" in values:
        return (values["serial"] - SERIAL_OF_1970) * DAY
    clock = [values.get(token, 0) for token in ("HH", "MM", "SS")]
    try:
        day = day_number(date(values["yyyy"], values["mm"], values["dd"]))
    except ValueError:
        return None
    inside = clock[0] < 24 and clock[1] < 60 and clock[2] < 60
    return day * DAY + clock[0] * 3600 + clock[1] * 60 + clock[2] if inside else None


def _matches(pattern: str, text: str) -> bool:
    return re.match(pattern.replace(r"\z", r"\Z"), text, re.ASCII) is not None
