"""A poll's question: its text, answers and ε, and the protocol that follows from them."""

from __future__ import annotations

import json
from bisect import bisect_left
from fractions import Fraction
from math import floor
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints, model_validator

from bruit.core.numbers import exactly
from bruit.errors import BruitError, InvalidArgument
from bruit.local import (
    KRR,
    OUE,
    FrequencyProtocol,
    LocalProtocol,
    LongitudinalKRR,
    LongitudinalOUE,
    OneBitMean,
    PrefixRounds,
    Rappor,
    Warner,
    protocol_from_json,
)
from bruit.local.rappor import RapporLaw, optimal_f

Kind = Literal["yes-no", "choices", "number", "text", "open"]
Decimal = Annotated[str, StringConstraints(pattern=r"^-?\d{1,12}(\.\d{1,6})?$")]


def _as_decimal(text: object) -> object:
    """An ε written as a fraction or as ln 3 becomes a decimal of six places, rounded down; all else stays."""
    if not isinstance(text, str) or not ("/" in text or "ln" in text):
        return text
    try:
        millionths = floor(exactly(text, "ε") * 10**6)
    except InvalidArgument as error:
        raise ValueError(str(error)) from error
    return f"{millionths // 10**6}.{millionths % 10**6:06}"


Epsilon = Annotated[Decimal, BeforeValidator(_as_decimal)]
Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100)]

MOST_EPSILON: Final = 10
MOST_CHOICES: Final = 50
MOST_STEPS: Final = 1_000_000  # steps times steps stays an integer of a browser's numbers
_BITS: Final = 128
_COHORTS: Final = 8


class PollQuestion(BaseModel):
    """What the maker of a poll states; no privacy setting has a default.

    `epsilon` is what one report may cost its respondent. With `forever` the question may be asked again and again: it
    is what all reports of one same answer may cost together, and answers are memoised in the browser. `forever: null`
    asks once. `admission` is open to everyone with the link, or to one report a card. `low`, `high` and `grid` are
    those of a number; `choices` those of a choice, or the texts looked for. An `open` question finds its own answers in
    `rounds`, as words of at most `length` letters of `alphabet`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    kind: Kind
    question: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=300)]
    epsilon: Epsilon
    forever: Epsilon | None
    choices: Annotated[list[Line], Field(max_length=2000)] = []
    low: Decimal | None = None
    high: Decimal | None = None
    grid: Decimal | None = None
    alphabet: Annotated[str, StringConstraints(max_length=100)] | None = None
    length: int | None = None
    rounds: int | None = None
    results: Literal["admin", "everyone"]
    admission: Literal["open", "cards"] = "open"

    @model_validator(mode="after")
    def _fits(self) -> Self:
        """Refuses a question that no protocol follows from."""
        try:
            protocol(self)
        except BruitError as error:
            raise ValueError(str(error)) from error
        return self


def protocol(question: PollQuestion) -> LocalProtocol:
    """The protocol of least error for this question that a browser can run."""
    once, forever = _epsilons(question)
    if question.kind == "yes-no":
        return (
            Warner(epsilon=once) if forever is None else LongitudinalKRR(("no", "yes"), epsilon=once, forever=forever)
        )
    if question.kind == "choices":
        return _choice(_require_choices(question, MOST_CHOICES), once, forever)
    if question.kind == "number":
        return _number(question, once, forever)
    if question.kind == "open":
        return search(question).protocol()
    _require_choices(question, 2000)
    return _rappor(once, forever)


def search(question: PollQuestion) -> PrefixRounds:
    """The search for the answers of an open question."""
    once, forever = _epsilons(question)
    if forever is not None or question.admission != "open":
        raise InvalidArgument("an open question is asked once, of everybody with the link: its rounds ask other people")
    if question.alphabet is None or question.length is None or question.rounds is None:
        raise InvalidArgument("give the letters that answers are read in, how many of them, and the number of rounds")
    return PrefixRounds(question.alphabet, question.length, rounds=question.rounds, epsilon=once)


def _epsilons(question: PollQuestion) -> tuple[Fraction, Fraction | None]:
    once = exactly(question.epsilon, "epsilon")
    forever = None if question.forever is None else exactly(question.forever, "forever")
    for name, value in (("ε", once), ("ε of all reports", forever)):
        if value is not None and not 0 < value <= MOST_EPSILON:
            raise InvalidArgument(f"{name} must be above 0 and at most {MOST_EPSILON}: above, noise protects nobody")
    if forever is not None and forever <= once:
        raise InvalidArgument("the ε of all reports together must be above the ε of one")
    return once, forever


def _require_choices(question: PollQuestion, most: int) -> list[str]:
    listed = question.choices
    if not 2 <= len(listed) <= most or len(set(listed)) != len(listed):
        raise InvalidArgument(f"list from 2 to {most} different answers, one a line")
    return listed


def _choice(listed: list[str], once: Fraction, forever: Fraction | None) -> FrequencyProtocol:
    made: list[FrequencyProtocol] = (
        [KRR(listed, epsilon=once), OUE(listed, epsilon=once)]
        if forever is None
        else [kind(listed, epsilon=once, forever=forever) for kind in (LongitudinalKRR, LongitudinalOUE)]
    )
    return min(made, key=lambda one: float(one.support.variance(1 / len(listed), 1)))


def _number(question: PollQuestion, once: Fraction, forever: Fraction | None) -> OneBitMean:
    if forever is not None:
        raise InvalidArgument("a number is asked once: to ask again and again, offer ranges as choices")
    if question.low is None or question.high is None or question.grid is None:
        raise InvalidArgument("give the least and the largest number anyone may answer, and the step between answers")
    made = OneBitMean(question.low, question.high, grid=question.grid, epsilon=once)
    if made.steps > MOST_STEPS:
        raise InvalidArgument(
            f"take a larger step: at most {MOST_STEPS} steps between the least and the largest number"
        )
    return made


def _rappor(once: Fraction, forever: Fraction | None) -> Rappor:
    """One bit a text, the least loss for what it says; p is the least, in thousandths, with one report at `once`."""
    f = optimal_f(once if forever is None else forever, 1)

    def fits(thousandths: int) -> bool:
        p = Fraction(thousandths, 1000)
        return RapporLaw(f=f, p=p, q=1 - p, hashes=1).once <= once

    p = Fraction(0 if forever is None else bisect_left(range(500), x=True, key=fits), 1000)
    if p >= Fraction(1, 2):
        raise InvalidArgument("this ε of one report is too small beside that of all reports: raise it, or ask once")
    return Rappor(bits=_BITS, hashes=1, cohorts=_COHORTS, f=f, p=p, q=1 - p)


def definition(question: PollQuestion) -> str:
    """The question with its protocol, as JSON to store."""
    block = {**question.model_dump(), "protocol": protocol(question).to_json()}
    return json.dumps(block, ensure_ascii=False)


def from_definition(text: str) -> tuple[PollQuestion, LocalProtocol]:
    """Reads the stored question and protocol; the law stays the published one, whatever version made it."""
    block: dict[str, Any] = json.loads(text)
    law = protocol_from_json(block.pop("protocol"))
    return PollQuestion.model_construct(**block), law
