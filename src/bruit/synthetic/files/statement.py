"""The statement that accompanies synthetic rows: what they may be used for, and what not."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Final

from bruit.core import Guarantee

MAY: Final = (
    "try programs, queries and pipelines before the true table is touched",
    "teach, and show what the table looks like",
    "look for patterns of single columns and of the combinations that were measured",
    "train models, whose quality is then judged on true rows",
)

MAY_NOT: Final = (
    "say something about one person, or about very few people",
    "report a figure without its interval: ask count, mean or quantile of the table for one, or pay for the figure",
    "draw conclusions from combinations of columns that were not measured: they look independent here",
    "link its rows to other data: no row belongs to anybody",
)

MOST_NAMED: Final = 60
"""Combinations that a statement names one by one: a wide table measures thousands."""


def statement(guarantee: Guarantee, *, rows: int, measured: Sequence[Sequence[str]]) -> str:
    """The statement of a synthetic table as Markdown: how it was made, and what it is and is not good for."""
    return "\n".join(
        (
            "# A synthetic table",
            "",
            f"Its {rows} rows were invented from noisy counts; none belongs to anybody. What one person can change "
            f"about everything in it is bounded: {guarantee}.",
            "",
            "It may be used to",
            *(f"- {use};" for use in MAY),
            "",
            "It may not be used to",
            *(f"- {use};" for use in MAY_NOT),
            "",
            f"Measured together: {together(measured)}.",
            "",
        )
    )


def together(measured: Sequence[Sequence[str]]) -> str:
    """The combinations of columns that were measured, in words: all pairs at once, and at most sixty others by name."""
    columns = sum(len(names) == 1 for names in measured)
    pairs = [names for names in measured if len(names) == 2]
    every = len(pairs) == comb(columns, 2) > 1
    others = [" and ".join(names) for names in measured if len(names) > (2 if every else 1)]
    more = [f"{len(others) - MOST_NAMED} more"] if len(others) > MOST_NAMED else []
    said = [*(["all pairs of columns"] if every else []), *others[:MOST_NAMED], *more]
    return "; ".join(said) if said else "no columns; they are independent here"
