"""A generalised additive model: private logistic or least-squares regression with one curve per column."""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import special
from sklearn.utils.metaestimators import available_if

from bruit.core.arguments import whole
from bruit.learning.estimator.contract import FitRequest, Records
from bruit.learning.trees._supervised import BinnedEstimator, TreePlan, halves
from bruit.learning.trees.binning import Bins, Codes
from bruit.learning.trees.descent import Problem, Schedule, descend, schedule
from bruit.learning.trees.noise import Moves, buy_noise

GRAIN, FINE_GRAIN = 16, 2**30
"""Residuals are integers of so many steps to one: with a budget, and without."""

USUAL_STEPS = 200
FEWEST_BINS, SIGNAL_A_BIN = 4, 40.0
"""A column has a bin for so many times the noise that its residuals sum up to."""

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
        bins: int | None = None,
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

    def _public_bins(self, question: FitRequest) -> int:
        """As many as the noise leaves room for: few where rows are few, columns many or the price is low."""
        assert question.domains is not None
        if self.bins is not None or question.size is None:
            return super()._public_bins(question)
        columns = len(question.domains)
        rate = buy_noise(question, _moves(question, columns), times=1).rate
        return int(min(max(question.size * rate / sqrt(columns) / SIGNAL_A_BIN, FEWEST_BINS), self._few_bins))

    def _make_plan(self, question: FitRequest, bins: Bins) -> TreePlan:
        moves, steps = _moves(question, len(bins.sizes)), self.steps
        if steps is None:
            # Where the size is a paid count it is not known yet: then the number of steps is a middle one.
            rate = buy_noise(question, moves, times=1).rate
            steps = self._schedule(question.size, bins, rate).steps if question.size else USUAL_STEPS
        return TreePlan(bins, buy_noise(question, moves, times=whole(steps, "steps")), steps)

    def _fit_noisily(self, question: FitRequest, records: Records, plan: TreePlan) -> None:
        problem = self._problem(question, records, plan.bins, GRAIN, records.rng.random(len(records.target)))
        size = plan.noise.size(question, len(records.target), rng=records.rng)
        path = self._schedule(size, plan.bins, plan.noise.rate, plan.count)
        self._keep(descend(problem, path, size=size, noise=partial(plan.noise.draw, rng=records.rng)), path)

    def _fit_exactly(self, question: FitRequest, records: Records) -> None:
        size, bins = len(records.target), self._exact_bins(question, records)
        problem = self._problem(question, records, bins, FINE_GRAIN, np.full(size, 0.5))
        path = self._schedule(size, bins, max(1.0, LONGEST / size), self.steps or EXACT_STEPS)
        self._keep(descend(problem, path, size=size, noise=None), path)

    def _schedule(self, size: int, bins: Bins, rate: float, steps: int | None = None) -> Schedule:
        curvature = 1.0 if self._regresses else 0.25
        return schedule(size=size, columns=len(bins.sizes), rate=rate, steps=steps, curvature=curvature)

    def _problem(self, question: FitRequest, records: Records, bins: Bins, grain: int, dither: Floats) -> Problem:
        self.classes_, self._bins = records.classes, bins
        outputs = 1 if self._regresses or len(records.classes) == 2 else len(records.classes)
        target, self._middle, self._half = self._scale_target(question, records)
        cells = (bins.codes(records.values) + bins.offsets[:-1]).astype(np.int32)
        return Problem(bins, cells, target, outputs, not self._regresses, grain, dither)

    def _keep(self, weights: Floats, path: Schedule) -> None:
        self._weights, self.n_iter_ = weights, path.steps
        self.curves_ = np.split(weights, self._bins.offsets[1:-1])

    def _scale_target(self, question: FitRequest, records: Records) -> tuple[Floats, float, float]:
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
        """The sum of the curves: log-odds of the second class, or one score per class; at no privacy cost."""
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


def _moves(question: FitRequest, columns: int) -> Moves:
    """One cell a column for one output; for several classes the squares of a column sum to at most two."""
    classes = 1 if question.classes is None or len(question.classes) == 2 else len(question.classes)
    if classes == 1:
        return Moves(GRAIN, columns)
    return Moves(GRAIN, columns * classes, squares=2 * GRAIN**2 * columns)
