"""The tour of `bruit demo`: one channel read in three ways, on a survey that comes inside an installed wheel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars

from bruit import central, codes, tables
from bruit.apps import data
from bruit.apps.studies import audits, local_audits
from bruit.apps.studies.audit_case import Case
from bruit.errors import BudgetExceeded
from bruit.ledger import Ledger
from bruit.local import KRR
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, Covers, Release
from bruit.privacy.belief import belief

EPSILON = 1.0
BOOK = 1.0
PRICE = 0.6
ANSWERS = ("no", "yes")
TEXT = "bruit"
COPIES = 75
"""Times each bit is sent: a vote of so many is wrong for one word of five letters in ten thousand."""

PRIORS = (0.1, 0.32, 0.5, 0.9)
SAMPLES = 200_000


@dataclass(frozen=True)
class Survey:
    """What everybody answered, what the collector received, and what can be said of all."""

    people: int
    lies: float
    truth: float
    received: float
    estimate: float
    low: float
    high: float
    confidence: float
    guarantee: str


@dataclass(frozen=True)
class Count:
    """A paid count, and what the book says to the next question."""

    question: str
    truth: int
    value: int
    low: float
    high: float
    guarantee: str
    spent: float
    remaining: float
    refusal: str


@dataclass(frozen=True)
class Word:
    """A text across the channel of the survey, once and with each bit repeated."""

    text: str
    once: str
    repeated: str
    copies: int
    flipped: int
    sent: int
    capacity: float
    epsilon: float


@dataclass(frozen=True)
class Tour:
    """Everything the tour shows."""

    survey: Survey
    beliefs: list[dict[str, float]]
    count: Count
    audits: list[dict[str, Any]]
    caught: dict[str, Any]
    word: Word

    def to_json(self) -> dict[str, Any]:
        """The tour in JSON types."""
        return asdict(self)


def run(*, rng: np.random.Generator | None = None, on_progress: Callable[[int, int], None] | None = None) -> Tour:
    """Walks through every stop of the tour."""
    answers = data.fair()["unfaithful"].replace_strict([False, True], ANSWERS)
    protocol = KRR(ANSWERS, epsilon=EPSILON)
    stops: dict[str, Callable[[], Any]] = {
        "survey": lambda: survey(protocol, answers, rng),
        "beliefs": lambda: [asdict(belief(prior, EPSILON)) for prior in PRIORS],
        "count": lambda: count(answers, rng),
        "audits": lambda: audited(protocol, rng),
        "caught": lambda: caught(rng),
        "word": lambda: word(protocol, rng),
    }
    seen: dict[str, Any] = {}
    for name, stop in stops.items():
        seen[name] = stop()
        if on_progress is not None:
            on_progress(len(seen), len(stops))
    return Tour(**seen)


def survey(protocol: KRR, answers: polars.Series, rng: np.random.Generator | None) -> Survey:
    """Everybody's answer through randomised response."""
    reports = protocol.randomise(answers, rng=rng)
    tally = protocol.tally(reports)
    release = protocol.estimate(tally, covers=Covers.TABLE)
    low, high = _ends(release)
    keep = float(protocol.support.true)
    received = float(tally.counts[1] / tally.answers)
    truth = int((answers == "yes").sum()) / len(answers)
    guarantee = str(release.guarantee)
    return Survey(len(answers), 1 - keep, truth, received, float(release.value[1]), low[1], high[1], 0.95, guarantee)


def count(answers: polars.Series, rng: np.random.Generator | None) -> Count:
    """The same question to a trusted curator: a count paid from a book, and a second one that the book refuses."""
    book = Ledger("affairs", epsilon=BOOK, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    table = tables.read(polars.DataFrame({"answer": answers}), person=EACH_ROW)
    column = table["answer"].among(["yes"], drop_others=True)
    release = central.count(column, budget=book.budget(epsilon=PRICE), rng=rng)
    try:
        central.count(column, budget=book.budget(epsilon=PRICE), rng=rng)
        refusal = ""
    except BudgetExceeded as error:
        refusal = str(error)
    low, high = _ends(release)
    spent, left = float(book.spent.epsilon), float(book.remaining.epsilon)
    truth = int((answers == "yes").sum())
    return Count(
        "How many said yes?", truth, release.value, low[0], high[0], str(release.guarantee), spent, left, refusal
    )


def audited(protocol: KRR, rng: np.random.Generator | None) -> list[dict[str, Any]]:
    """The protocol and the count, measured from outside."""
    chosen = [local_audits.protocol_case(protocol), *audits.named(["central.count"])]
    return [row.to_json() for row in audits.run(_sized(chosen), rng=rng)]


def caught(rng: np.random.Generator | None) -> dict[str, Any]:
    """A protocol that adds half the noise it claims."""
    faulty = local_audits.protocol_case(KRR(ANSWERS, epsilon=2 * EPSILON), claimed=EPSILON)
    return audits.run(_sized([faulty]), rng=rng)[0].to_json()


def word(protocol: KRR, rng: np.random.Generator | None) -> Word:
    """A text in bits through the very channel of the survey: alone, and with a code that fights the noise."""
    bits = np.unpackbits(np.frombuffer(TEXT.encode(), np.uint8)).astype(np.int64)
    code = codes.Repetition(COPIES, len(bits))
    sent = code.encode(bits)
    noisy = protocol.channel.transmit(sent, rng=rng)
    return Word(
        text=TEXT,
        once=_text(noisy[::COPIES]),
        repeated=_text(code.decode(noisy).message),
        copies=COPIES,
        flipped=int((noisy != sent).sum()),
        sent=len(sent),
        capacity=protocol.channel.capacity(),
        epsilon=COPIES * EPSILON,
    )


def _sized(cases: list[Case]) -> list[Case]:
    return [replace(case, full=SAMPLES) for case in cases]


def _ends(release: Release[Any]) -> tuple[list[float], list[float]]:
    assert release.interval is not None
    return np.atleast_1d(release.interval.low).tolist(), np.atleast_1d(release.interval.high).tolist()


def _text(bits: Any) -> str:
    """The bits as letters; what is no printable letter is shown as a dot."""
    letters = np.packbits(np.asarray(bits, np.uint8)).tobytes().decode("latin-1")
    return "".join(letter if letter.isprintable() and not letter.isspace() else "·" for letter in letters)
