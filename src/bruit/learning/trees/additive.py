"""A sum of one curve for each column: private logistic or least-squares regression on bins."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.utils.metaestimators import available_if

from bruit.learning._asking import whole
from bruit.learning._estimator import Question, Records
from bruit.learning.trees._supervised import BinnedEstimator, halves
from bruit.learning.trees.binning import Bins, Codes, public_bins
from bruit.learning.trees.descent import Problem, Schedule, descend, schedule
from bruit.learning.trees.noise import Moves, StepNoise, bought_noise

GRAIN, FINE_GRAIN = 16, 2**30
"""Residuals are integers of so many steps to one: with a budget, and without."""

LONGEST, EXACT_STEPS = 1000.0, 400
"""Without privacy the descent lasts at least so long, and takes so many steps."""

Floats = NDArray[np.float64]


class AdditiveModel(BinnedEstimator):
    """A weight for every bin of every column; their sum is the log-odds of a class, or the number predicted.

    With a budget every step of a gradient descent reads the sums of the residuals over all bins: integers of which one
    row moves one a column, by at most one. Discrete Gaussian noise hides it, the bins of an ordered column share what
    they learn, and the second half of the steps is averaged. All settings follow from the public number of rows, the
    price and the number of columns. See docs/trees.md.
    """

    criteria = ("log_loss", "squared_error")

    def __init__(
        self,
        *,
        loss: str = "log_loss",
        bins: int = 32,
        steps: int | None = None,
        domain: Any = None,
        classes: Any = None,
        target: Any = None,
        size: int | None = None,
        rows_per_person: int = 1,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.loss = loss
        self.bins = bins
        self.steps = steps
        self.domain = domain
        self.classes = classes
        self.target = target
        self.size = size
        self.rows_per_person = rows_per_person
        self.budget = budget
        self.random_state = random_state

    @property
    def _criterion(self) -> str:
        return self.loss

    def fit(self, X: Any, y: Any, groups: Any = None) -> AdditiveModel:
        """Fits the curves; `groups` says whose row each is where people have several."""
        question = self._asked(X, y, groups)
        if question.price is None or question.domains is None:
            records = question.pay(None)
            return self._descend(question, records, self._bins_for(question, records, 8 * self.bins), None, None)
        bins = public_bins(question.domains, self.bins)
        moves = _moves(question, len(bins.sizes))
        plan = self._plan(question, bins, bought_noise(question, moves, times=1).rate)
        noise = bought_noise(question, moves, times=plan.steps)
        return self._descend(question, question.pay(noise.loss), bins, noise, plan.steps)

    def _plan(self, question: Question, bins: Bins, rate: float) -> Schedule:
        steps = None if self.steps is None else whole(self.steps, "steps")
        curvature = 1.0 if self._regresses else 0.25
        # Where the size is a paid count it is not known yet: then the number of steps is a middle one.
        steps = steps or (None if question.size else 200)
        return schedule(size=question.size or 1, columns=len(bins.sizes), rate=rate, steps=steps, curvature=curvature)

    def _descend(
        self, question: Question, records: Records, bins: Bins, noise: StepNoise | None, steps: int | None
    ) -> AdditiveModel:
        self.classes_, self._bins = records.classes, bins
        outputs = 1 if self._regresses or len(records.classes) == 2 else len(records.classes)
        grain = FINE_GRAIN if noise is None else GRAIN
        target, self._middle, self._half = self._scaled(question, records)
        dither = np.full(len(target), 0.5) if noise is None else records.rng.random(len(target))
        cells = (bins.codes(records.values) + bins.offsets[:-1]).astype(np.int32)
        problem = Problem(bins, cells, target, outputs, not self._regresses, grain, dither)
        size = len(target) if noise is None else noise.size(question, len(target), rng=records.rng)
        rate = max(1.0, LONGEST / max(size, 1)) if noise is None else noise.rate
        curvature = 1.0 if self._regresses else 0.25
        plan = schedule(size=size, columns=len(bins.sizes), rate=rate, steps=steps or EXACT_STEPS, curvature=curvature)
        draw = None if noise is None else lambda shape: noise.draw(shape, rng=records.rng)
        self._weights = descend(problem, plan, size=size, noise=draw)
        self.n_iter_ = plan.steps
        self.curves_ = np.split(self._weights, bins.offsets[1:-1])
        return self

    def _scaled(self, question: Question, records: Records) -> tuple[Floats, float, float]:
        """What is predicted, with numbers moved to [-1, 1]; the middle and half the width of their bounds."""
        if not self._regresses:
            return records.target.astype(np.float64), 0.0, 1.0
        numbers = self._numbers(question, records)
        if question.target is not None:
            middle, half = halves(question)
        else:
            middle, half = float(np.mean(numbers)), float(np.ptp(numbers)) or 1.0
        return (numbers - middle) / half, middle, half

    @available_if(lambda self: not self._regresses)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """The sum of the curves: log-odds of the second class, or one score a class; post-processing, free."""
        found = self._sums(self._codes(X))
        return found[:, 0] if found.shape[1] == 1 else found

    def _sums(self, codes: Codes) -> Floats:
        found = np.zeros((len(codes), self._weights.shape[1]))
        for column, start in enumerate(self._bins.offsets[:-1]):
            found += self._weights[codes[:, column] + start]
        return found

    def _scores(self, codes: Codes) -> Floats:
        sums = self._sums(codes)
        if self._regresses:
            return self._middle + self._half * sums
        if sums.shape[1] == 1:
            share = special.expit(sums)
            return np.hstack([1 - share, share])
        return np.asarray(special.softmax(sums, axis=1))


def _moves(question: Question, columns: int) -> Moves:
    """One cell a column for one output; for several classes the squares of a column sum to at most two."""
    classes = 1 if question.classes is None or len(question.classes) == 2 else len(question.classes)
    if classes == 1:
        return Moves(GRAIN, columns)
    return Moves(GRAIN, columns * classes, squares=2 * GRAIN**2 * columns)
