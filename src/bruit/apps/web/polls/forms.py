"""Reads the form of a new poll into a question, or into sentences that say what is wrong."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from starlette.datastructures import FormData

from bruit.apps.web.digits import read_digits
from bruit.apps.web.polls.question import PollQuestion

FIELDS = (
    "kind",
    "question",
    "choices",
    "low",
    "high",
    "grid",
    "alphabet",
    "length",
    "rounds",
    "epsilon",
    "again",
    "forever",
    "people",
    "results",
    "admission",
    "password",
)
"""What the form has; it travels unchanged from the form to the preview and back."""

_SAID = {
    "kind": "Say what kind of answer you ask for.",
    "question": "Write the question, in at most 300 characters.",
    "choices": "List the answers, one a line, each at most 100 characters.",
    "low": "The least number is written like 0 or 2.5.",
    "high": "The largest number is written like 10 or 99.5.",
    "grid": "The step is written like 1 or 0.5.",
    "alphabet": "The letters are written one after the other, like abcdefghijklmnopqrstuvwxyz.",
    "length": "The longest answer is a number of letters, like 9.",
    "rounds": "The rounds are a whole number, like 8.",
    "epsilon": "Choose ε, a number like 1, 1/2 or ln 3: nothing about privacy is chosen for you.",
    "forever": "Say what all reports together may cost, a number like 2, or ask once only.",
    "results": "Say who may see the results.",
}


def read_fields(form: FormData) -> dict[str, str]:
    """The fields of the form as texts, empty where nothing was filled in."""
    return {name: str(form.get(name, "")) for name in FIELDS}


MOST_PEOPLE = 10_000_000
"""The largest class for which the error is shown."""


def read_people(fields: dict[str, str]) -> tuple[int | None, list[str]]:
    """How many people are expected to answer, or the sentence that says what is wrong with it."""
    if people := read_digits(fields["people"].strip(), most=MOST_PEOPLE):
        return people, []
    return None, ["Say about how many people will answer, a whole number like 30: it decides what they can show."]


def read_question(fields: dict[str, str]) -> tuple[PollQuestion | None, list[str]]:
    """The question of the form, and the sentences that say what is wrong with it."""
    wanted: dict[str, Any] = {name: fields[name].strip() for name in ("kind", "question", "epsilon", "results")}
    wanted["admission"] = fields["admission"] or "open"
    again, kind = fields["again"] == "yes", wanted["kind"]
    wanted["forever"] = fields["forever"].strip() if again else None
    if kind in ("choices", "text"):
        wanted["choices"] = [line.strip() for line in fields["choices"].splitlines() if line.strip()]
    if kind == "number":
        wanted |= {name: fields[name].strip() for name in ("low", "high", "grid")}
    if kind == "open":
        wanted |= {name: fields[name].strip() for name in ("alphabet", "length", "rounds")}
    if fields["again"] not in ("yes", "no"):
        return None, ["Say whether the question is asked once or again and again."]
    try:
        return PollQuestion(**wanted), []
    except ValidationError as error:
        return None, sorted({_sentence(found) for found in error.errors()})


def _sentence(found: Any) -> str:
    place = str(found["loc"][0]) if found["loc"] else ""
    return _SAID.get(place) or _capital(str(found["msg"]).removeprefix("Value error, "))


def _capital(sentence: str) -> str:
    return f"{sentence[:1].upper()}{sentence[1:]}."
