"""The Python that asks a question again."""

from __future__ import annotations

from collections.abc import Mapping

from bruit.apps.steward.question import NAMED, Question, listed
from bruit.tables import Table

STORE = 'os.environ.get("BRUIT_STORE", "sqlite:///bruit.db")'
"""Where the code looks for the book; an address may hold a password, so it is not written down."""


def python_of(question: Question, table: Table, *, file: str, ledger: str, price: Mapping[str, str]) -> str:
    """A program that releases the same statistic of the same file from the same book, ready to run.

    Every name is written as a Python literal, so that no column or category can add code of its own.
    """
    budget = ", ".join(f"{name}={value!r}" for name, value in price.items())
    return "\n".join(
        (
            f"# {question.statistic!r} of {question.column or question.group_by or 'all rows'!r}, "
            f"paid from the book {ledger!r}.",
            "# Running this asks again, draws new noise and pays again; ledger.releases reads what stands for free.",
            "import os",
            "",
            "import bruit",
            "",
            f"ledger = bruit.Ledger.open({ledger!r}, {STORE})",
            f"table = bruit.tables.read({file!r}, person={table.person!r}){_limit(table)}",
            *_columns(question),
            f"release = bruit.central.{_call(question)}, budget=ledger.budget({budget}){_confidence(question)})",
            "print(release.frame())",
            "print(release.guarantee)",
            "",
        )
    )


def _limit(table: Table) -> str:
    return "" if table.rows is None else f".limit(rows={table.rows}, groups={table.groups})"


def _columns(question: Question) -> list[str]:
    """The lines that declare what is known of each column."""
    lines = []
    if question.column is not None:
        lines.append(f"column = table[{question.column!r}]{_domain(question)}")
    if question.group_by is not None:
        among = "" if question.among is None else f".among({listed(question.among)!r})"
        lines.append(f"groups = table[{question.group_by!r}]{among}")
    return lines


def _domain(question: Question) -> str:
    if question.within is None:
        return f".among({listed(question.among or '')!r})"
    low, high = question.within
    missing = "" if question.missing is None else f", missing={question.missing!r}"
    return f".within({low!r}, {high!r}, grid={question.grid!r}{missing})"


def _call(question: Question) -> str:
    """The function and its data, up to the budget."""
    if question.statistic == "group-by":
        return "group_by(groups" + ("" if question.column is None else ", values=column")
    if question.statistic == "quantiles":
        return f"quantiles(column, {_probabilities(str(question.quantiles))!r}"
    data = "table" if question.column is None else "column"
    size = "" if question.size is None else f", size={question.size}"
    return f"{question.statistic}({data}{size}"


def _probabilities(text: str) -> list[str]:
    return [str(each) for each in NAMED[text]] if text in NAMED else text.split(",")


def _confidence(question: Question) -> str:
    return "" if question.statistic == "quantiles" else f", confidence={question.confidence!r}"
