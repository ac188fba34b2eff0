"""Prints previews and answers of questions on a terminal."""

from __future__ import annotations

from typing import Any

from rich.markup import escape

from bruit.apps.cli.terminal.output import show, table
from bruit.apps.steward.answers import HIGH, LOW, AnswerTable
from bruit.apps.steward.statements import noise_words
from bruit.ledger import Ledger

MOST_LINES = 100
"""Rows of an answer for people; JSON and files have them all."""


def show_preview(found: dict[str, Any]) -> None:
    """Prints the question in words, its noise and precision, its price and what would be left."""
    unit = found["measure"]
    level = f"{100 * found['confidence']:g} %"
    lines = [
        (escape(each["name"]), escape(each["words"]), each["noise"], each["expected"]) for each in found["measures"]
    ]
    rows = [
        ("question", escape(found["question"])),
        ("guarantee", escape(found["promise"])),
        (f"price, {unit}", f"{found['price']:.6g}"),
        (f"left in {escape(found['ledger'])}, {unit}", f"{found['left']:.6g}"),
        ("left afterwards", f"{found['left_after']:.6g}" if found["enough"] else "not enough: it would be refused"),
    ]
    show(table("Preview: nothing was read, nothing was charged", ("", "value"), rows))
    show(table("Expected precision", ("column", "what", "noise", f"at {level}"), lines))


def show_recipe_preview(found: dict[str, Any]) -> None:
    """Prints every question of a recipe with its precision and share of the price, and what would be left."""
    unit, level = found["measure"], f"{100 * found['confidence']:g} %"
    lines = [
        (
            *((escape(each["title"]), f"{each['share']:.1%}") if place == 0 else ("", "")),  # of all its lines together
            *(escape(line["words"]), line["noise"], line["expected"]),
        )
        for each in found["questions"]
        for place, line in enumerate(each["measures"])
    ]
    heads = ("question", "share of the price", "what", "noise", f"at {level}")
    show(table(f"{escape(found['recipe'])}: nothing was read, nothing was charged", heads, lines))
    rows = [
        *((escape(each["title"]), escape(each["question"])) for each in found["questions"]),
        ("guarantee", escape(found["promise"])),
        (f"price, {unit}", f"{found['price']:.6g}"),
        (f"left in {escape(found['ledger'])}, {unit}", f"{found['left']:.6g}"),
        ("left afterwards", f"{found['left_after']:.6g}" if found["enough"] else "not enough: it would be refused"),
    ]
    show(table("In words", ("", "value"), rows))


def show_answer(answer: AnswerTable, book: Ledger | None) -> None:
    """Prints the rows of an answer with intervals and, if paid on its own, its guarantee and what is left."""
    rows = answer.frame.head(MOST_LINES).iter_rows(named=True)
    lines = [
        [*(_cell(row[key]) for key in answer.keys), *(_estimate(row, name) for name in answer.values)] for row in rows
    ]
    show(table(escape(answer.title), [escape(name) for name in (*answer.keys, *answer.values)], lines))
    if len(answer.frame) > MOST_LINES:
        show(f"and {len(answer.frame) - MOST_LINES} more: --json and --out have them all")
    if book is None:
        return
    left = book.remaining
    show(
        escape(f"{answer.release.guarantee}; {noise_words(answer.release.method)}"),
        escape(f"Left in {book.name}: {left.measure} = {float(left.total):.6g}"),
    )


def _estimate(row: dict[str, Any], name: str) -> object:
    """A number and its interval in one cell, so that several statistics fit beside each other."""
    value, low, high = (_cell(row.get(each)) for each in (name, f"{name}{LOW}", f"{name}{HIGH}"))
    return value if low is None else f"{value} ({low} to {high})"


def _cell(cell: object) -> object:
    if isinstance(cell, float):
        return f"{cell:.6g}"
    return escape(cell) if isinstance(cell, str) else cell
