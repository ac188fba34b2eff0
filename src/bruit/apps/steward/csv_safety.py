"""Protects CSV against formula injection: no user's text becomes a formula in a spreadsheet, and none is lost.

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


def guard_cell(text: str) -> str:
    """Escapes a text so that no spreadsheet reads it as a formula; numbers stay as they are."""
    return f"{MARK}{text}" if text.startswith((MARK, *_COMPUTED)) and not _NUMBER.fullmatch(text) else text


def unguard_cell(cell: str) -> str:
    """Recovers the original text of an escaped CSV cell.

    unguarded(guarded(text)) = text
    """
    return cell.removeprefix(MARK)


def csv_of(frame: polars.DataFrame) -> str:
    """A table as CSV, with texts and column names escaped against formula injection."""
    texts = frame.select(polars.selectors.string())
    safe = frame.with_columns(map(_guard_column, texts)).rename(guard_cell)
    return safe.write_csv(quote_style="non_numeric")


def _guard_column(column: polars.Series) -> polars.Series:
    """A column of texts, each escaped; every different text is looked at once."""
    texts = column.unique().drop_nulls()
    return column.replace(texts, [guard_cell(text) for text in texts])
