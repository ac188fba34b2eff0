"""A form of the workbench as a question; nothing that was left empty is guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bruit.apps.steward import Question
from bruit.errors import InvalidArgument

STATISTICS = (
    ("count", "How many rows"),
    ("sum", "Sum of a column"),
    ("mean", "Mean of a column"),
    ("variance", "Variance of a column"),
    ("histogram", "How many rows have each value"),
    ("quantiles", "Quantiles of a column"),
    ("group-by", "Counts or sums by group"),
)
"""What may be asked, in the words of the form."""


@dataclass(frozen=True)
class Asked:
    """What the steward filled in: a question, whose rows they are, the book that pays and the price."""

    question: Question
    person: str
    rows: int | None
    groups: int | None
    book: str
    price: dict[str, str]

    def to_json(self) -> dict[str, Any]:
        """All of it in JSON types."""
        return asdict(self)


def asked(form: Mapping[str, str]) -> Asked:
    """The question of a form, or a sentence that names what is missing."""
    filled = {name: text.strip() for name, text in form.items() if text.strip()}
    for name, label in (("book", "the book that pays"), ("person", "whose rows these are"), ("epsilon", "the price ε")):
        if name not in filled:
            raise InvalidArgument(f"say {label}: nothing private has a default")
    price = {name: text for name, text in filled.items() if name in ("epsilon", "delta")}
    question = Question(
        statistic=filled.get("statistic", ""),
        column=filled.get("column"),
        within=_within(filled),
        grid=filled.get("grid"),
        missing=filled.get("missing"),
        among=filled.get("among"),
        group_by=filled.get("group_by"),
        quantiles=filled.get("quantiles"),
        size=_whole(filled, "size"),
        confidence=_confidence(filled.get("confidence", "")),
    )
    if question.statistic == "quantiles" and question.quantiles is None:
        raise InvalidArgument("say which quantiles: deciles, quartiles, median, or numbers like 0.1,0.5,0.9")
    if question.statistic == "group-by" and question.group_by is None:
        raise InvalidArgument("say which column holds the groups")
    return Asked(question, filled["person"], _whole(filled, "rows"), _whole(filled, "groups"), filled["book"], price)


def asked_from_json(description: dict[str, Any]) -> Asked:
    """What `to_json` described."""
    question = dict(description["question"])
    question["within"] = None if question["within"] is None else tuple(question["within"])
    return Asked(**{**description, "question": Question(**question)})


def _within(filled: Mapping[str, str]) -> tuple[str, str] | None:
    if ("low" in filled) != ("high" in filled):
        raise InvalidArgument("bounds are two numbers, a low and a high one, known before seeing the data")
    return (filled["low"], filled["high"]) if "low" in filled else None


def _whole(filled: Mapping[str, str], name: str) -> int | None:
    if name not in filled:
        return None
    if not filled[name].isdecimal() or len(filled[name]) > 15:
        raise InvalidArgument(f"{name}: give a whole number, at least 1")
    return int(filled[name])


def _confidence(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidArgument("confidence: give a number between 0 and 1, such as 0.95") from None
