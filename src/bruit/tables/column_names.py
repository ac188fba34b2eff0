"""Which names columns may have, and the error for a name that is none, with a hint at the likely cause."""

from __future__ import annotations

from collections.abc import Iterable

from bruit.errors import InvalidArgument

SEPARATED_BY = {
    ";": "semicolons? Say so with file=csv(separator=';')",
    "\t": "tabs? Such a file is read when its name ends in .tsv",
}
"""What to ask whoever named a column of a table that seems to have only one."""


OWN = "bruit: "
"""How the names of columns begin that an engine holds beside those of a table, such as the person of each row."""


def check_new_names(names: Iterable[str], *, beside: Iterable[str] = ()) -> None:
    """Refuses new columns that an engine could take for one of its own, for each other or for one that is there.

    Some engines do not tell capital letters from small ones.
    """
    known = {name.casefold(): name for name in beside}
    for name in names:
        folded = name.casefold()
        if folded.startswith(OWN.strip()):
            raise InvalidArgument(f"{name!r}: no column name may begin with {OWN.strip()!r}: choose another name")
        if known.get(folded, name) != name:
            raise InvalidArgument(f"{name!r} and {known[folded]!r} are one name to some engines: choose another")
        known[folded] = name


def no_column(asked: str, columns: Iterable[str], *, where: str = "") -> InvalidArgument:
    """The error for an unknown column; hints at a wrong separator where the file seems to have one column only."""
    names = list(columns)
    separators = [words for mark, words in SEPARATED_BY.items() if len(names) == 1 and mark in names[0]]
    question = "".join(f"; is it separated by {words}" for words in separators[:1])
    blanks = [repr(name) for name in names if name != name.strip() and repr(name.strip()) in asked]
    question += "".join(f"; {name} has blanks at its ends: write them too" for name in blanks)
    return InvalidArgument(f"{where}no column {asked}; the table has {', '.join(names)}{question}")
