"""Private selection among candidates: fits a random number of them and keeps the best, for 2 or 3 times one run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import check_consistent_length

from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption
from bruit.core.neighbours import EACH_ROW
from bruit.core.release import Outcome, Release
from bruit.errors import InvalidArgument
from bruit.learning.estimator.contract import FitRequest, PrivateEstimator
from bruit.learning.estimator.public_question import require_columns, require_rows
from bruit.learning.selection.trials import Trial, fit_to_nobody, paid_candidate
from bruit.ledger import Budget, Charge, Purchase, Quote, ask
from bruit.ledger.best_of_runs import RunPrice, Stopping, price_runs
from bruit.randomness import uniform_below

DEAREST_ACCOUNTANT = "rdp"
"""Who prices the best of runs in concentrated privacy where a book adds up by 'basic'."""


class Selection(Release[Any]):
    """The release of the fitted estimator that scored best, which candidate it is, and its noisy score."""

    @property
    def estimator(self) -> Any:
        """The chosen fitted estimator (the release's value)."""
        return self.value

    @property
    def candidate(self) -> int:
        """The index of the chosen candidate."""
        return int(self.details["candidate"])

    @property
    def score(self) -> float:
        """The noisy score of the chosen candidate."""
        return float(self.details["score"])


def select(
    candidates: Sequence[Any],
    X: Any,
    y: Any,
    *,
    budget: Budget | None,
    tries: int | None = None,
    stopping: Stopping = "geometric",
    held_parts: int = 2,
    groups: Any = None,
    rng: np.random.Generator | None = None,
) -> Selection:
    """Fits candidates chosen at random a random number of times, `tries` on average, and keeps the best.

    Each run holds back one of `held_parts` parts of the people, fits a candidate on the others and scores it on those
    held back with noise, so that a person pays for one of the two. All runs together cost three of them, or two where
    their number is "logarithmic", which more often is one       [Liu & Talwar 2019; Papernot & Steinke 2022]

    A score is the noisy number of held rows that a classifier gets right; a row of a regression counts as one less the
    square of its error over the width of the bounds. The number of runs is drawn and not told; the candidates' own
    budgets are not used. An estimator of your own that fails on rows says nothing of it: that would tell of a row;
    a fit that fails has learned from nobody, predictions that fail or do not fit the rows score nothing.
    """
    purchase = ask(budget, what="learning.select", person=EACH_ROW if groups is None else None, rng=rng)
    choice = Choice.of(purchase, candidates, tries=tries, stopping=stopping, held_parts=held_parts)
    return choice.make(X, y, groups)


@dataclass(frozen=True)
class Choice:
    """A selection among candidates that is priced but not yet paid."""

    purchase: Purchase
    candidates: Sequence[Any]
    run: RunPrice
    held_parts: int

    @staticmethod
    def of(
        purchase: Purchase, candidates: Sequence[Any], *, tries: int | None, stopping: str, held_parts: int
    ) -> Choice:
        """A `Choice`, if the candidates can be scored and the budget pays for at least one run."""
        parts = whole(held_parts, "held_parts", least=2)
        run = price_runs(purchase, tries=_check_tries(candidates, tries), stopping=stopping)
        return Choice(purchase, candidates, run, parts)

    def quote(self) -> Quote:
        """The guarantee and cost of the whole selection; nothing is charged."""
        return self.purchase.quote(self.run.whole, assumes=self._assumptions, otherwise=DEAREST_ACCOUNTANT)

    def make(self, X: Any, y: Any, groups: Any) -> Selection:
        """Checks every candidate on an empty table, pays, runs, and returns the best."""
        require_rows(X=X, y=y, groups=groups)
        require_columns(groups=groups)
        check_consistent_length(X, y, groups)
        questions = [_question(candidate, self.run, X, y, groups) for candidate in self.candidates]
        for candidate in self.candidates:  # what one refuses, such as a price without a delta, is refused uncharged
            fit_to_nobody(candidate, self.run, "rehearsal", X, y, groups)
        trusts = dict.fromkeys(each for question in questions for each in question.trusts)
        assumed = [*self._assumptions, *trusts]
        charge = self.purchase.pay(self.run.whole, assumes=assumed, otherwise=DEAREST_ACCOUNTANT)
        source = charge.generator()
        entry = f"{self.purchase.price.ledger.name} entry {charge.number}"
        trial = Trial(self.run, X, y, groups, source, entry, self.held_parts)
        best: tuple[float, int, Any] | None = None
        for number in range(self.run.draw_runs(source)):
            chosen = int(uniform_below(len(self.candidates), 1, rng=source)[0])
            found = trial.score(self.candidates[chosen], questions[chosen], number)
            if best is None or found[0] > best[0]:
                best = (found[0], chosen, found[1])
        assert best is not None
        return _finish(charge, self.candidates, *best)

    @property
    def _assumptions(self) -> list[Assumption]:
        """The assumptions of the candidates: seeds of their own, public sizes."""
        seeded = any(getattr(each, "random_state", None) is not None for each in self.candidates)
        sized = any(getattr(each, "size", None) is not None for each in self.candidates)
        return [Assumption.SEEDED] * seeded + [Assumption.PUBLIC_SIZE] * sized


def _finish(charge: Charge, candidates: Sequence[Any], score: float, candidate: int, model: Any) -> Selection:
    """Writes the result into the ledger's entry; the model gets the guarantee of the whole search, not of its own run.

    Which of the runs was the best is not paid for: its number tells how many others were worse.
    """
    model.set_params(budget=candidates[candidate].budget)
    details = {"candidate": candidate, "score": score}
    release = charge.finish(Outcome(value=model, method="best of a random number of fits", details=details))
    model.guarantee_ = charge.guarantee
    model._keep_release(release)
    return Selection(**{each.name: getattr(release, each.name) for each in fields(release)})


def _check_tries(candidates: Sequence[Any], tries: int | None) -> int:
    """The expected number of runs, where the candidates can be scored."""
    if (
        not isinstance(candidates, Sequence)
        or not candidates
        or not all(isinstance(each, PrivateEstimator) for each in candidates)
    ):
        raise InvalidArgument("candidates= must be a list of estimators of bruit.learning, at least one")
    if not all(is_classifier(each) or is_regressor(each) for each in candidates):
        raise InvalidArgument("a choice scores predictions: candidates must be classifiers or regressors")
    if any(hasattr(type(each), "queries_left_") for each in candidates):
        raise InvalidArgument("a choice asks as often as there are rows: candidates must answer without limit")
    return 2 * len(candidates) if tries is None else whole(tries, "tries")


def _question(candidate: Any, run: RunPrice, X: Any, y: Any, groups: Any) -> FitRequest:
    """What the candidate would ask: schema and arguments are checked before anything is charged."""
    return paid_candidate(candidate, run, "question")._ask(X, y, groups=groups)  # type: ignore[no-any-return]
