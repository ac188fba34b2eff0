"""The statement that accompanies synthetic rows: what they may be used for, and what not."""

from __future__ import annotations

from collections.abc import Sequence
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


def statement(guarantee: Guarantee, *, rows: int, measured: Sequence[Sequence[str]]) -> str:
    """The statement of a synthetic table as Markdown: how it was made, and what it is and is not good for."""
    together = [" and ".join(names) for names in measured if len(names) > 1]
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
            "Measured together: "
            + ("; ".join(together) if together else "no columns; they are independent here")
            + ".",
            "",
        )
    )
