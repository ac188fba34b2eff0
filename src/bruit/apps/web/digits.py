"""Whole numbers in the texts of forms, cookies and headers, which anybody may send."""

from __future__ import annotations

from typing import Final

MOST: Final = 2**31 - 1
"""The largest whole number that a column of the database keeps."""


def read_digits(text: str, *, most: int = MOST) -> int | None:
    """The whole number from 0 to `most` that ASCII digits spell; None for any other text.

    `int` alone raises where a text has thousands of digits, and for signs such as ² that `isdigit` calls digits.
    """
    if not (text.isascii() and text.isdigit()) or len(text) > len(str(most)):
        return None
    number = int(text)
    return number if number <= most else None
