"""The error for a name that is not a column of a table, with a hint at the likely cause."""

from __future__ import annotations

from collections.abc import Iterable

from bruit.errors import InvalidArgument

SEPARATED_BY = {
    ";": "semicolons? Say so with file=csv(separator=';')",
    "\t": "tabs? Such a file is read when its name ends in .tsv",
}
"""What to ask whoever named a column of a table that seems to have only one."""


def no_column(asked: str, columns: Iterable[str], *, where: str = "") -> InvalidArgument:
    """The error for an unknown column; hints at a wrong separator where the file seems to have one column only."""
    names = list(columns)
    separators = [words for mark, words in SEPARATED_BY.items() if len(names) == 1 and mark in names[0]]
    question = "".join(f"; is it separated by {words}" for words in separators[:1])
    return InvalidArgument(f"{where}no column {asked}; the table has {', '.join(names)}{question}")
