"""Private selection over settings: fit some candidates, keep the one that scored best, pay three times one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils.validation import check_consistent_length

from bruit.errors import BudgetMissing, InvalidArgument, NotPrivate
from bruit.learning._asking import require_rows, whole
from bruit.learning._estimator import PrivateEstimator, Question
from bruit.learning._records import as_array, as_rows, encode_classes, encode_target, is_frame, person_numbers
from bruit.ledger import Budget, Ledger, require
from bruit.privacy import Approximate, Assumption, Guarantee, Pure
from bruit.randomness import discrete_laplace, generator, is_strong, uniform_below

RUNS_PAID = 3
"""A best of a geometric number of runs costs at most three of them.        [Liu & Talwar 2019, Theorem 3.2]"""

FINE = 1 << 10
"""Grid steps in the score of one row of a regression."""


@dataclass(frozen=True)
class Selection:
    """The fitted estimator that scored best, which candidate it is, its noisy score, and what was paid."""

    estimator: Any
    candidate: int
    score: float
    guarantee: Guarantee


def select(
    candidates: Sequence[Any],
    X: Any,
    y: Any,
    *,
    budget: Budget | None,
    tries: int | None = None,
    groups: Any = None,
    rng: np.random.Generator | None = None,
) -> Selection:
    """Fits candidates chosen at random a random number of times, `tries` on average, and keeps the best.

    Each run fits a candidate on half of the people and scores it on the others with noise, so that a person pays for
    one of the two; epsilon of a run = epsilon / 3                           [Liu & Talwar 2019, Theorem 3.2]

    A score is the noisy number of held rows that a classifier gets right; a row of a regression counts as one less the
    square of its error over the width of the bounds. The number of runs is drawn and not told; the candidates' own
    budgets are not used.
    """
    price, mean = _checked(candidates, budget, tries)
    require_rows(X=X, y=y, groups=groups)
    check_consistent_length(X, y, groups)
    run = price.epsilon / RUNS_PAID
    questions = [_question(candidate, price, run, X, y, groups) for candidate in candidates]
    for candidate in candidates:
        _rehearse(candidate, price, run, X, y, groups)
    source = generator(rng)
    seeded = not is_strong(source) or any(each.random_state is not None for each in candidates)
    assumes = [Assumption.SEEDED] if seeded else []
    if any(getattr(each, "size", None) is not None for each in candidates):
        assumes.append(Assumption.PUBLIC_SIZE)
    loss = Pure(run * RUNS_PAID, neighbours=price.neighbours)
    charge = price.charge(loss, what="learning.select", assumes=assumes)
    trial = _Trial(price, run, X, y, groups, source, f"{price.ledger.name} entry {charge.number}")
    best: tuple[float, int, Any] | None = None
    number = 0
    while best is None or uniform_below(mean, 1, rng=source)[0] != 0:
        chosen = int(uniform_below(len(candidates), 1, rng=source)[0])
        found = trial.run(candidates[chosen], questions[chosen], number)
        number += 1
        if best is None or found[0] > best[0]:
            best = (found[0], chosen, found[1])
    return Selection(_told(best[2], candidates[best[1]], charge.guarantee), best[1], best[0], charge.guarantee)


def _checked(candidates: Sequence[Any], budget: Any, tries: int | None) -> tuple[Budget, int]:
    if budget is None:
        raise BudgetMissing("learning.select")
    price = require(budget, "learning.select")
    if not isinstance(price.loss, Pure | Approximate):
        raise NotPrivate("learning.select is paid with an epsilon: give budget=ledger.budget(epsilon=...)")
    if not len(candidates) or not all(isinstance(each, PrivateEstimator) for each in candidates):
        raise InvalidArgument("candidates= must be a list of estimators of bruit.learning, at least one")
    if not all(is_classifier(each) or is_regressor(each) for each in candidates):
        raise InvalidArgument("learning.select scores predictions: candidates must be classifiers or regressors")
    if any(hasattr(type(each), "queries_left_") for each in candidates):
        raise InvalidArgument("learning.select asks as often as there are rows: candidates must answer without limit")
    return price, 2 * len(candidates) if tries is None else whole(tries, "tries")


def _told(model: Any, candidate: Any, guarantee: Guarantee) -> Any:
    """The model with what the whole selection promises, and nothing of the run that made it.

    Which of the runs was the best is not paid for: its number tells how many others were worse.
    """
    model.set_params(budget=candidate.budget)
    model.guarantee_ = guarantee
    return model


def _paying(candidate: Any, price: Budget, run: Fraction, name: str) -> Any:
    """A clone that is paid from a book of its own, whose name keeps its seed apart from other runs'.

    Where the price is that of a part of the data, a run's is too: the size of a part is private.
    """
    book = Ledger(name, epsilon=run, neighbours=price.neighbours, person=price.person)
    paid = book.partition("parts").budget("this", epsilon=run) if price.covers_a_part else book.budget(epsilon=run)
    return clone(candidate).set_params(budget=paid)


def _question(candidate: Any, price: Budget, run: Fraction, X: Any, y: Any, groups: Any) -> Question:
    """What the candidate would ask: schema and arguments are checked before anything is charged."""
    return _paying(candidate, price, run, "question")._ask(X, y, groups=groups)  # type: ignore[no-any-return]


def _rehearse(candidate: Any, price: Budget, run: Fraction, X: Any, y: Any, groups: Any) -> None:
    """Fits the candidate to no rows: what it refuses, such as a price without a delta, is refused before the charge."""
    nobody = np.zeros(len(as_array(y)), bool)
    told = {} if groups is None else {"groups": as_array(groups)[nobody]}
    model = _paying(candidate, price, run, "rehearsal")
    model.fit(_rows(X, nobody), as_array(y)[nobody], **told)


@dataclass(frozen=True)
class _Trial:
    """Runs of candidates on fresh halves of the people."""

    price: Budget
    run_epsilon: Fraction
    X: Any
    y: Any
    groups: Any
    rng: np.random.Generator
    entry: str

    def run(self, candidate: Any, question: Question, number: int) -> tuple[float, Any]:
        """A noisy score and the estimator that has it; people of one half pay the fit, of the other the score."""
        fitted = self._half()
        model = _paying(candidate, self.price, self.run_epsilon, f"{self.entry} try {number}")
        groups = None if self.groups is None else as_array(self.groups)[fitted]
        model.fit(_rows(self.X, fitted), as_array(self.y)[fitted], **({} if groups is None else {"groups": groups}))
        # Under both relations: exchanging a person's rows moves a sum of numbers from 0 to FINE no further than adding.
        scale = question.rows * FINE / self.run_epsilon
        noise = int(discrete_laplace(scale, 1, rng=self.rng)[0])
        held = ~fitted & self._counted(question)
        exact = int(_points(model, question, _rows(self.X, held), as_array(self.y)[held]).sum())
        return (exact + noise) / FINE, model

    def _half(self) -> NDArray[np.bool_]:
        """A coin for every person, whoever else is there."""
        if self.groups is None:
            return np.asarray(uniform_below(2, len(as_array(self.y)), rng=self.rng) == 1)
        people = person_numbers(self.groups)
        return np.asarray((uniform_below(2, int(people.max(initial=-1)) + 2, rng=self.rng) == 1)[people])

    def _counted(self, question: Question) -> NDArray[np.bool_]:
        """At most so many rows of a person count in a score too."""
        kept = np.ones(len(as_array(self.y)), bool)
        return kept if self.groups is None else question._counted(kept, self.rng)


def _rows(data: Any, kept: NDArray[np.bool_]) -> Any:
    if not is_frame(data):
        return as_rows(data)[kept]
    import narwhals as nw

    return nw.from_native(data, eager_only=True).filter(kept.tolist()).to_native()


def _points(model: Any, question: Question, rows: Any, y: Any) -> NDArray[np.int64]:
    """What each row adds to a score, from 0 to FINE: one for the right class, less the further a number is off."""
    if not len(y):
        return np.zeros(0, np.int64)
    predicted = model.predict(rows)
    if question.classes is not None:
        places, known = encode_classes(y, question.classes)
        return np.where(known & (question.classes[places] == predicted), FINE, 0)
    assert question.target is not None
    steps, known = encode_target(y, question.target)
    off = (question.target.decode(steps) - np.nan_to_num(predicted)) / float(question.target.high - question.target.low)
    return np.where(known, np.rint(FINE * (1 - np.clip(off**2, 0, 1))), 0).astype(np.int64)
