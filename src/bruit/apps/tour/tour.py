"""The tour of `bruit demo`: one noisy channel seen three ways, on a survey that ships in an installed wheel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars

from bruit import anonymity, central, codes, tables
from bruit.apps import data
from bruit.apps.audits import catalogue, local
from bruit.apps.audits.case import Case
from bruit.central import DECILES
from bruit.core.intervals import Covers
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.core.release import Release
from bruit.errors import BudgetExceeded
from bruit.ledger import WITHOUT_PRIVACY, Ledger, Payment
from bruit.local import KRR
from bruit.privacy.beliefs import belief

EPSILON = 1.0
BOOK = 1.0
PRICE = 0.6
ANSWERS = ("no", "yes")
KNOWN = ("age", "yrs_married", "children", "religious", "educ", "occupation")
"""What a neighbour knows of somebody."""

HIGHEST = 200_000
BOUNDS = {
    "rate_marriage": (1, 5),
    "age": (17, 42),
    "yrs_married": (0, 23),
    "children": (0, 6),
    "religious": (1, 4),
    "educ": (9, 20),
    "occupation": (1, 6),
    "occupation_husb": (1, 6),
}
"""The questions of the model and the answers that the form allowed."""

MODEL_EPSILONS = (0.1, 0.3, 1.0, 3.0)
MODEL_REPEATS = 5
TEXT = "Noise you add to protect people, and noise you remove to hear the truth."
LETTERS = 256
LETTER_EPSILON = 8.5
"""Randomised response over 256 letters then changes one in twenty."""

CHECKS = 64
"""Letters that the code adds: 32 wrong ones are mended, and 13 are expected of 255."""

PRIORS = (0.1, 0.32, 0.5, 0.9)
SAMPLES = 200_000


@dataclass(frozen=True)
class Survey:
    """The true answers, the randomised reports, and the estimates from them."""

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
class Gives:
    """The disclosure risk of the survey's raw table: how many people it singles out."""

    columns: list[str]
    rows: int
    uniques: int
    smallest: int
    certain: int
    linked: float


@dataclass(frozen=True)
class Deciles:
    """Nine deciles paid from a ledger, and the ledger's refusal of a further question."""

    people: int
    truth: list[float]
    value: list[float]
    guarantee: str
    spent: float
    remaining: float
    refusal: str


@dataclass(frozen=True)
class Model:
    """The test AUC of a private model at each ε, and that of the exact model."""

    epsilons: list[float]
    scores: list[float]
    spreads: list[float]
    exact: float
    repeats: int
    guarantee: str


@dataclass(frozen=True)
class Word:
    """A text sent through a noisy channel: as received, and as decoded by a code."""

    text: str
    received: str
    read: str
    wrong: int
    sent: int
    capacity: float
    epsilon: float


@dataclass(frozen=True)
class Tour:
    """All results that the tour shows."""

    survey: Survey
    beliefs: list[dict[str, float]]
    gives: Gives
    deciles: Deciles
    model: Model
    audits: list[dict[str, Any]]
    caught: dict[str, Any]
    word: Word

    def to_json(self) -> dict[str, Any]:
        """The tour in JSON types."""
        return asdict(self)


def run(*, rng: np.random.Generator | None = None, on_progress: Callable[[int, int], None] | None = None) -> Tour:
    """Computes every stop of the tour."""
    answers = data.fair()["unfaithful"].replace_strict([False, True], ANSWERS)
    protocol = KRR(ANSWERS, epsilon=EPSILON)
    stops: dict[str, Callable[[], Any]] = {
        "survey": lambda: survey(protocol, answers, rng),
        "beliefs": lambda: [asdict(belief(prior, EPSILON)) for prior in PRIORS],
        "gives": lambda: gives(rng),
        "deciles": lambda: deciles(rng),
        "model": lambda: model(rng),
        "audits": lambda: run_audits(protocol, rng),
        "caught": lambda: catch_fault(rng),
        "word": lambda: word(rng),
    }
    seen: dict[str, Any] = {}
    for name, stop in stops.items():
        seen[name] = stop()
        if on_progress is not None:
            on_progress(len(seen), len(stops))
    return Tour(**seen)


def survey(protocol: KRR, answers: polars.Series, rng: np.random.Generator | None) -> Survey:
    """Sends everybody's answer through randomised response and estimates the shares."""
    reports = protocol.randomise(answers, rng=rng)
    tally = protocol.tally(reports)
    release = protocol.estimate(tally, covers=Covers.TABLE)
    low, high = _ends(release)
    keep = float(protocol.support.true)
    received = float(tally.counts[1] / tally.people)
    truth = int((answers == "yes").sum()) / len(answers)
    guarantee = str(release.guarantee)
    return Survey(len(answers), 1 - keep, truth, received, float(release.value[1]), low[1], high[1], 0.95, guarantee)


def gives(rng: np.random.Generator | None) -> Gives:
    """How many people could be recognised in the raw answers by what a neighbour knows."""
    found = anonymity.risk(data.fair().with_columns(polars.col("unfaithful").cast(str)), KNOWN, "unfaithful", rng=rng)
    linked = found.linkage.right / found.linkage.known
    return Gives(list(KNOWN), found.rows, found.uniques, found.k, found.sensitive[0].certain, linked)


def deciles(rng: np.random.Generator | None) -> Deciles:
    """Nine deciles of a payroll, paid from a ledger, and one more question that the ledger refuses."""
    payroll = data.people()
    book = Ledger("payroll", epsilon=BOOK, neighbours=ADD_OR_REMOVE_ONE, person="id")
    incomes = tables.read(payroll, person="id").limit(rows=1)["income"].within(0, HIGHEST, grid=100)
    release = central.quantiles(incomes, DECILES, budget=book.budget(epsilon=PRICE), rng=rng)
    try:
        central.quantiles(incomes, DECILES, budget=book.budget(epsilon=PRICE), rng=rng)
        refusal = ""
    except BudgetExceeded as error:
        refusal = str(error)
    truth = np.quantile(payroll["income"].to_numpy(), [float(share) for share in DECILES]).tolist()
    spent, left = float(book.spent.epsilon), float(book.remaining.epsilon)
    return Deciles(payroll.height, truth, release.value.tolist(), str(release.guarantee), spent, left, refusal)


def model(rng: np.random.Generator | None) -> Model:
    """An additive model that predicts a yes from eight columns, trained on two thirds and tested on the rest."""
    from sklearn.metrics import roc_auc_score

    from bruit.learning import AdditiveModel

    table = data.fair()
    answers = table["unfaithful"].cast(int).to_numpy()
    records = table.select(list(BOUNDS)).to_numpy()
    held_out = np.arange(len(answers)) % 3 == 0
    domain = {name: tables.within(low, high, grid=Fraction(1, 2)) for name, (low, high) in BOUNDS.items()}

    def score(budget: Payment) -> tuple[float, str]:
        fitted = AdditiveModel(
            domain=domain, classes=[0, 1], size=int((~held_out).sum()), budget=budget, random_state=rng
        ).fit(records[~held_out], answers[~held_out])
        chances = fitted.predict_proba(records[held_out])[:, 1]
        return float(roc_auc_score(answers[held_out], chances)), str(getattr(fitted, "guarantee_", ""))

    scores = np.zeros((len(MODEL_EPSILONS), MODEL_REPEATS))
    guarantee = ""
    for place, epsilon in enumerate(MODEL_EPSILONS):
        for repeat in range(MODEL_REPEATS):
            book = Ledger("answers", epsilon=epsilon, delta=1e-5, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
            scores[place, repeat], guarantee = score(book.budget(epsilon=epsilon, delta=1e-5))
    exact, _ = score(WITHOUT_PRIVACY)
    means, spreads = scores.mean(axis=1).tolist(), scores.std(axis=1, ddof=1).tolist()
    return Model(list(MODEL_EPSILONS), means, spreads, exact, MODEL_REPEATS, guarantee)


def run_audits(protocol: KRR, rng: np.random.Generator | None) -> list[dict[str, Any]]:
    """The verdicts of audits of the survey's protocol and of the count."""
    chosen = [local.protocol_case(protocol), *catalogue.cases_named(["central.count"])]
    return [row.to_json() for row in catalogue.run(_resize(chosen), rng=rng)]


def catch_fault(rng: np.random.Generator | None) -> dict[str, Any]:
    """The verdict of an audit of a protocol that adds half the noise it claims."""
    faulty = local.protocol_case(KRR(ANSWERS, epsilon=2 * EPSILON), claimed=EPSILON)
    return catalogue.run(_resize([faulty]), rng=rng)[0].to_json()


def word(rng: np.random.Generator | None) -> Word:
    """Sends a text through 256-ary randomised response, bare and protected by an error-correcting code."""
    channel = KRR(LETTERS, epsilon=LETTER_EPSILON).channel
    code = codes.ReedSolomon(LETTERS - 1, LETTERS - 1 - CHECKS)
    sent = code.encode(TEXT.encode().ljust(code.k))
    received = channel.send(sent, rng=rng)
    decoded = code.decode(received)
    return Word(
        text=TEXT,
        received=_text(received[: len(TEXT)]),
        read=_text(decoded.message[: len(TEXT)]),
        wrong=int((received != sent).sum()),
        sent=len(sent),
        capacity=channel.capacity(),
        epsilon=LETTER_EPSILON,
    )


def _resize(cases: list[Case]) -> list[Case]:
    return [replace(case, full=SAMPLES) for case in cases]


def _ends(release: Release[Any]) -> tuple[list[float], list[float]]:
    assert release.interval is not None
    return np.atleast_1d(release.interval.low).tolist(), np.atleast_1d(release.interval.high).tolist()


def _text(letters: Any) -> str:
    """Numbers as letters; what is no printable letter is shown as a dot."""
    told = np.asarray(letters, np.uint8).tobytes().decode("latin-1")
    return "".join(
        letter if letter == " " or (letter.isprintable() and not letter.isspace()) else "·" for letter in told
    )
