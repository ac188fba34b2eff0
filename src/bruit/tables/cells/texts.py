"""How texts become numbers and dates: ASCII patterns that match the same texts on every engine before a cast."""

from __future__ import annotations

import re
from dataclasses import dataclass

from bruit.tables.schema.calendar import SERIAL, Pattern
from bruit.tables.schema.columns import Date, Time
from bruit.tables.schema.files import THOUSANDS, File

BLANKS = " \t\n\r\x0b\x0c\u00a0\u202f"
"""What is taken off both ends of every text, two blanks not to be broken among them, as stand before € in French."""

MOST_DIGITS = 19
"""The digits of the largest number of 64 bits."""

WHOLE = rf"\A[+-]?[0-9]{{1,{MOST_DIGITS}}}\z"

ISO_DAY = Pattern(r"\A([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[ T][0-9:.]+)?\z", ("yyyy", "mm", "dd"))
ISO_TIME = Pattern(
    r"\A([0-9]{4})-([0-9]{2})-([0-9]{2})(?:[ T]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:\.[0-9]+)?)?\z",
    ("yyyy", "mm", "dd", "HH", "MM", "SS"),
)


@dataclass(frozen=True)
class NumberForm:
    """A pattern of written numbers, and the separators to replace before an engine can cast them."""

    pattern: str
    thousands: tuple[str, ...]
    decimal: str


@dataclass(frozen=True)
class Reading:
    """How the texts of a source are read: its file's formats and, for a `machine`, the standard ones first.

    A `machine` writes numbers with a point and dates as ISO 8601 into the same texts that people fill in their own way:
    an Excel file, a database that casts its columns. There both forms are understood, the machine's first.
    """

    file: File
    machine: bool = False

    @property
    def numbers(self) -> tuple[NumberForm, ...]:
        """The forms in which a number may be written; the first that matches counts."""
        plain, stated = NumberForm(number_pattern("", "."), (), "."), self.file
        own = NumberForm(number_pattern(stated.thousands, stated.decimal), THOUSANDS[stated.thousands], stated.decimal)
        return (plain, own) if self.machine and own != plain else (own,)

    def moments(self, column: Date | Time) -> tuple[Pattern, ...]:
        """The forms in which a date or time may be written; the first that gives a valid one counts.

        In a workbook a day may also be Excel's own number of it, where its cell has no format of dates.
        """
        if not self.machine:
            return (column.pattern,)
        if isinstance(column, Time):
            return (ISO_TIME, column.pattern)
        return (ISO_DAY, column.pattern, *([SERIAL] if self.file.kind == "excel" else []))


def number_pattern(thousands: str, decimal: str) -> str:
    """The regular expression of a number: sign, digits (grouped by thousands or not), fraction, exponent."""
    mark = f"[{''.join(THOUSANDS[thousands])}]"
    digits = f"(?:[0-9]{{1,3}}(?:{mark}[0-9]{{3}})+|[0-9]+)" if thousands else "[0-9]+"
    point = re.escape(decimal)
    return rf"\A[+-]?(?:{digits}(?:{point}[0-9]*)?|{point}[0-9]+)(?:[eE][+-]?[0-9]{{1,3}})?\z"
