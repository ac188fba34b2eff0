"""One run of a search: a candidate is fitted on some of the people and scored, with noise, on the others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from bruit.learning.estimator.contract import FitRequest
from bruit.learning.estimator.records import as_array, as_rows, encode_classes, encode_target, is_frame, person_numbers
from bruit.learning.estimator.unpaid_scores import unrecorded
from bruit.ledger.best_of_runs import RunPrice
from bruit.randomness import uniform_below

FINE = 1 << 10
"""Grid steps in the score of one row."""


def paid_candidate(candidate: Any, run: RunPrice, name: str) -> Any:
    """A clone of the candidate whose budget is a ledger of its own."""
    return clone(candidate).set_params(budget=run.budget(name))


@dataclass(frozen=True)
class Trial:
    """Runs candidates on fresh random splits of the people, with one of `parts` parts held out for the score."""

    run: RunPrice
    X: Any
    y: Any
    groups: Any
    rng: np.random.Generator
    entry: str
    parts: int = 2

    def score(self, candidate: Any, question: FitRequest, number: int) -> tuple[float, Any]:
        """A noisy held-out score, and the estimator fitted on the other people."""
        held = self._held()
        model = paid_candidate(candidate, self.run, f"{self.entry} try {number}")
        groups = {} if self.groups is None else {"groups": as_array(self.groups)[~held]}
        try:
            model.fit(rows_of(self.X, ~held), as_array(self.y)[~held], **groups)
        except Exception:  # a fit of the caller's own that fails on some rows must not say so: it has learned nothing
            model = fit_to_nobody(candidate, self.run, f"{self.entry} try {number} again", self.X, self.y, self.groups)
        # Under both relations: exchanging a person's rows moves a sum of numbers from 0 to FINE no further than adding.
        noise = self.run.score_noise(question.rows * FINE, self.rng)
        held &= self._counting_rows(question)
        with unrecorded():
            exact = int(_points(model, question, rows_of(self.X, held), as_array(self.y)[held]).sum())
        return int((exact + noise)[0]) / FINE, model

    def _held(self) -> NDArray[np.bool_]:
        """The people held back: a die for every person, whoever else is there."""
        if self.groups is None:
            return np.asarray(uniform_below(self.parts, len(as_array(self.y)), rng=self.rng) == 0)
        people = person_numbers(self.groups)
        return np.asarray((uniform_below(self.parts, int(people.max(initial=-1)) + 2, rng=self.rng) == 0)[people])

    def _counting_rows(self, question: FitRequest) -> NDArray[np.bool_]:
        """Which rows count in a score: at most so many of each person."""
        kept = np.ones(len(as_array(self.y)), bool)
        return kept if self.groups is None else question._counting_rows(kept, self.rng)


def rows_of(data: Any, kept: NDArray[np.bool_]) -> Any:
    """The rows of an array or a frame where `kept` is true."""
    if not is_frame(data):
        return as_rows(data)[kept]
    import narwhals as nw

    return nw.from_native(data, eager_only=True).filter(kept.tolist()).to_native()


def fit_to_nobody(candidate: Any, run: RunPrice, name: str, X: object, y: object, groups: object) -> Any:
    """A clone of the candidate fitted to no rows."""
    nobody = np.zeros(len(as_array(y)), bool)
    given = {} if groups is None else {"groups": as_array(groups)[nobody]}
    return paid_candidate(candidate, run, name).fit(rows_of(X, nobody), as_array(y)[nobody], **given)


def _answers(ask: Callable[[object], object], rows: object, shape: tuple[int, ...]) -> NDArray[Any] | None:
    """The answers, or None where a model of the caller's own fails or answers for other than the rows given."""
    try:
        found = np.asarray(ask(rows))
    except Exception:  # which rows fail is private
        return None
    return found if found.shape == shape else None


def ask_each(
    ask: Callable[[object], object], rows: object, shape: tuple[int, ...]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """The answers, and which rows have one: where all together fail, each row by itself, so that one costs one."""
    size, rest = shape[0], shape[1:]
    together = _answers(ask, rows, shape)
    if together is not None:
        return together, np.ones(size, bool)
    each = [_answers(ask, rows_of(rows, np.arange(size) == place), (1, *rest)) for place in range(size)]
    answered = np.array([one is not None for one in each], bool)
    found = [one for one in each if one is not None]
    answers = np.zeros(shape) if not found else np.repeat(found[0], size, axis=0)
    if found:
        answers[answered] = np.concatenate(found)
    return answers, answered


def _points(model: Any, question: FitRequest, rows: Any, y: Any) -> NDArray[np.int64]:
    """What each row adds to a score, from 0 to FINE: one for the right class, less the further a number is off."""
    if not len(y):
        return np.zeros(0, np.int64)
    predicted, answered = ask_each(model.predict, rows, (len(y),))
    if question.classes is not None:
        places, known = encode_classes(y, question.classes)
        return np.where(known & answered & (question.classes[places] == predicted), FINE, 0)
    assert question.target is not None
    steps, known = encode_target(y, question.target)
    off = (question.target.decode(steps) - np.nan_to_num(predicted)) / float(question.target.high - question.target.low)
    return np.where(known & answered, np.rint(FINE * (1 - np.clip(off**2, 0, 1))), 0).astype(np.int64)
