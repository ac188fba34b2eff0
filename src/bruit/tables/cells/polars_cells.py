"""Reads cells of polars columns inside polars: texts by fixed patterns, other types by their physical numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import floor
from typing import Any

import polars

from bruit.tables.cells.moments import EARLIEST, LATEST, from_digits, from_second, groups_of, within_bounds
from bruit.tables.cells.texts import BLANKS, MOST_DIGITS, Reading
from bruit.tables.expressions.days import DAY
from bruit.tables.expressions.nodes import Coalesce, Constant, Field, Node
from bruit.tables.schema.columns import (
    LARGEST_WHOLE,
    Category,
    ColumnType,
    Date,
    Found,
    Number,
    Time,
    Whole,
    YesNo,
)

WHOLE_KINDS = (
    polars.Int8, polars.Int16, polars.Int32, polars.Int64, polars.UInt8, polars.UInt16, polars.UInt32,
)  # fmt: skip
"""Whole numbers that 64 bits hold with their sign."""

PER_SECOND = {"ns": 10**9, "us": 10**6, "ms": 10**3}


@dataclass(frozen=True)
class Encoded:
    """How a column is read: `parts` are engine expressions on the cell, `value` an expression over their names."""

    parts: dict[str, Any]
    value: Node


def encode_polars(name: str, kind: Any, column: ColumnType, reading: Reading, *, prefix: str) -> Encoded:
    """Builds the expressions that read a polars column; the names of its parts begin with `prefix`."""
    cell = polars.col(name)
    if isinstance(column, Date | Time):
        return _moments(cell, kind, column, reading, prefix)
    if isinstance(column, Number):
        found = _numbers(cell, kind, column, reading)
    elif isinstance(column, Whole):
        found = _wholes(cell, kind, column, reading)
    else:
        found = _labels(cell, kind, column, reading)
    return Encoded({prefix: found}, Field(prefix))


def stripped(cell: polars.Expr) -> polars.Expr:
    """The text without whitespace at its ends."""
    return cell.str.strip_chars(BLANKS)


def _known(text: polars.Expr, reading: Reading) -> polars.Expr:
    """The text, missing where it is one of those that say so."""
    return polars.when(~text.is_in(list(reading.file.missing))).then(text)


def _numbers(cell: polars.Expr, kind: Any, column: Number, reading: Reading) -> polars.Expr:
    if kind in WHOLE_KINDS and column.grid == 1:  # as below, without floats: whole numbers need no rounding
        whole = cell.cast(polars.Int64)
        whole = whole if column.missing is None else whole.fill_null(floor(column.missing + Fraction(1, 2)))
        return whole.clip(column.lowest, column.highest)
    if kind.is_numeric() or kind == polars.Boolean:
        number = cell.cast(polars.Float64, strict=False)
    elif _is_text(kind):
        number = _parsed(cell.cast(polars.String), column, reading)
    else:
        number = polars.lit(None, polars.Float64)
    present: polars.Expr = polars.when(~number.is_nan()).then(number)
    if column.missing is not None:
        present = present.fill_null(float(column.missing))
    inside = present.clip(float(column.low), float(column.high))
    # At most 2^32 steps: the quotient is off by less than 2^-18, so no value inside rounds to a step outside.
    return (inside / float(column.grid) + 0.5).floor().cast(polars.Int64)


def _parsed(cell: polars.Expr, column: Number, reading: Reading) -> polars.Expr:
    text = stripped(cell)
    for unit in column.strip:
        text = text.str.replace_all(unit, "", literal=True)
    text = _known(stripped(text) if column.strip else text, reading)
    # Digits with a sign or none are in every form, and polars reads nothing else as a whole number: only what it does
    # not read so is tested by the slower patterns.
    digits = text.cast(polars.Int64, strict=False)
    rest = polars.when(digits.is_null()).then(text)
    found = [digits.cast(polars.Float64)]
    for form in reading.numbers:
        plain: polars.Expr = polars.when(rest.str.contains(form.pattern)).then(rest)
        for mark in form.thousands:
            plain = plain.str.replace_all(mark, "", literal=True)
        if form.decimal != ".":
            plain = plain.str.replace_all(form.decimal, ".", literal=True)
        found.append(plain.cast(polars.Float64, strict=False))
    return polars.coalesce(found)


def _text(cell: polars.Expr, kind: Any, reading: Reading) -> polars.Expr:
    if _is_text(kind):
        return _known(stripped(cell.cast(polars.String)), reading)
    if kind == polars.Boolean:
        return polars.when(cell).then(polars.lit("true")).when(~cell).then(polars.lit("false"))
    if kind.is_numeric():
        return _exact(cell, kind, LARGEST_WHOLE).cast(polars.String)
    return polars.lit(None, polars.String)


def _exact(cell: polars.Expr, kind: Any, largest: int) -> polars.Expr:
    """The whole numbers of a column of numbers; whatever is not whole, or too large, is missing."""
    if kind.is_float() or kind.is_decimal():
        number = cell.cast(polars.Float64, strict=False)
        most = float(min(largest, LARGEST_WHOLE))
        return (
            polars.when((number == number.floor()) & number.is_between(-most, most))
            .then(number)
            .cast(polars.Int64, strict=False)
        )
    number = cell.cast(polars.Int64, strict=False)
    return polars.when(number.is_between(-largest, largest)).then(number)


def _wholes(cell: polars.Expr, kind: Any, column: Whole, reading: Reading) -> polars.Expr:
    if _is_text(kind):
        text = _known(stripped(cell.cast(polars.String)), reading)
        # polars reads digits with a sign or none as whole numbers and no other text; WHOLE has as many digits.
        digits = polars.when(text.str.strip_chars_start("+-").str.len_bytes() <= MOST_DIGITS).then(text)
        return _exact(digits.cast(polars.Int64, strict=False), polars.Int64(), column.largest)
    if kind.is_numeric() and not (column.long and not kind.is_integer()):
        return _exact(cell, kind, column.largest)
    return polars.lit(None, polars.Int64)


def _labels(cell: polars.Expr, kind: Any, column: ColumnType, reading: Reading) -> polars.Expr:
    text = _text(cell, kind, reading)
    if isinstance(column, Category):
        codes, others = list(range(len(column.values))), None if column.others is None else len(column.values)
        return text.replace_strict(list(column.values), codes, default=others, return_dtype=polars.Int64)
    if isinstance(column, YesNo):
        if kind == polars.Boolean:
            return cell.cast(polars.Int64)
        codes = [1] * len(column.yes) + [0] * len(column.no)
        return text.replace_strict([*column.yes, *column.no], codes, default=None, return_dtype=polars.Int64)
    return text.str.slice(0, column.longest) if isinstance(column, Found) else text


def _moments(cell: polars.Expr, kind: Any, column: Date | Time, reading: Reading, prefix: str) -> Encoded:
    if kind == polars.Date:
        day = cell.to_physical().cast(polars.Int64)
        moment = Field(prefix) if isinstance(column, Date) else Field(prefix) * DAY
        return Encoded({prefix: day}, within_bounds(moment, column))
    if kind.base_type() == polars.Datetime:
        second = (cell.to_physical() // PER_SECOND[kind.time_unit]).clip(EARLIEST, LATEST)
        moment = from_second(Field(prefix), column, instant=kind.time_zone is not None)
        return Encoded({prefix: second}, within_bounds(moment, column))
    if not _is_text(kind):
        return Encoded({}, Constant(None))
    text, parts = _known(stripped(cell.cast(polars.String)), reading), {}
    found: Node = Constant(None)
    for place, pattern in enumerate(reading.moments(column)):
        names = {token: f"{prefix}.{place}.{group}" for token, group in groups_of(pattern).items()}
        for token, group in groups_of(pattern).items():
            parts[names[token]] = text.str.extract(pattern.expression, group).cast(polars.Int64, strict=False)
        moment = from_digits(names, column)
        found = moment if isinstance(found, Constant) else Coalesce(found, moment)
    return Encoded(parts, within_bounds(found, column))


def _is_text(kind: Any) -> bool:
    return kind == polars.String or kind.base_type() in (polars.Categorical, polars.Enum)
