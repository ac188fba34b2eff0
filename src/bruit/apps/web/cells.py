"""Tables as CSV that a spreadsheet takes for data: no text of a user becomes a formula, and every text comes back.

A text that a spreadsheet could compute gets an apostrophe in front, and so does one that begins with an apostrophe: a
reader who takes away one apostrophe where a text begins with one has the text that was there before. Texts stand in
quotation marks, so that none is split where another sign parts the cells; numbers stand as they are.
"""

from __future__ import annotations

import re
from typing import Final

import polars

MARK: Final = "'"
_COMPUTED: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠")
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)


def guarded(text: str) -> str:
    """A text as a cell: a number is one already, whatever its sign."""
    return f"{MARK}{text}" if text.startswith((MARK, *_COMPUTED)) and not _NUMBER.fullmatch(text) else text


def unguarded(cell: str) -> str:
    """The text of a cell.

    unguarded(guarded(text)) = text
    """
    return cell.removeprefix(MARK)


def csv_of(frame: polars.DataFrame) -> str:
    """A table as CSV, its texts and the names of its columns guarded."""
    texts = polars.selectors.string()
    safe = frame.with_columns(texts.map_elements(guarded, return_dtype=polars.String)).rename(guarded)
    return safe.write_csv(quote_style="non_numeric")
