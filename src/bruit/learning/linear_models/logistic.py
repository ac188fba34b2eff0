"""Private logistic regression by a few noisy Newton steps, with intervals that account for the noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, ndtri
from sklearn.base import ClassifierMixin

from bruit.channels import VectorNoise
from bruit.core.arguments import confidence as checked_confidence
from bruit.core.arguments import whole
from bruit.core.intervals import Covers, Interval
from bruit.errors import InvalidArgument
from bruit.learning.estimator.contract import FitRequest, PrivateEstimator, Records
from bruit.learning.linear_models._descent import plan_descent
from bruit.learning.linear_models._design import Design, own_units, weighted_sum
from bruit.learning.linear_models._moments import with_ones
from bruit.learning.linear_models._newton import EACH, Step, first_steps, newton_steps, step_entries, steps_from_zero
from bruit.mechanisms import all_of, buy_vectors

Floats = NDArray[np.float64]
CURVED = 0.025
"""The curvature that one row is assumed to add in the flattest direction, to choose the number of rounds."""

SEVERAL = 0.1
"""Several rounds are bought while the curvature's noise is below this share of the expected curvature."""

SPARSE = 2
"""From so many indicators a column of the table on, gradients are looked at instead of curvatures."""

USUAL_SIZE = 10_000
MOST_ROUNDS = 3
EXACT_ROUNDS = 100


class LogisticRegression(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """One-vs-rest logistic regression by noisy Newton steps from zero.

    Each round releases gradient and curvature once, one noisy vector of which one person moves every entry by at most
    one. `rounds` is chosen from the public size and the budget: several where the noise is small; one, with an assumed
    curvature, where it is large; noisy gradient descent where most columns are indicators of categories. Intervals
    come from the third whole Newton step; after fewer rounds there are none. With `curves` every number has a second
    column behind it in `coef_`: the logarithm of an amount (more than a thousand values, from zero on), the square of
    any other, both scaled to [-1, 1] over the bounds. Unless that is said, a descent has curves where size and price
    leave little noise for the number of columns, and Newton steps have none.

    >>> import bruit
    >>> ledger = bruit.Ledger("clinic", epsilon=9, neighbours=bruit.REPLACE_ONE, person=bruit.EACH_ROW)
    >>> ages = bruit.tables.within(0, 100, grid=1)
    >>> price = ledger.budget(epsilon=9)
    >>> model = LogisticRegression(domain=ages, classes=["no", "yes"], budget=price, random_state=1)
    >>> model.fit([[age] for age in range(100)] * 5, (["no"] * 50 + ["yes"] * 50) * 5).predict([[5], [95]]).tolist()
    ['no', 'yes']
    """

    def __init__(
        self,
        *,
        domain: Any = None,
        classes: Any = None,
        size: Any = None,
        rows_per_person: int = 1,
        rounds: Any = None,
        curves: bool | None = None,
        confidence: float = 0.95,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.domain = domain
        self.classes = classes
        self.size = size
        self.rows_per_person = rows_per_person
        self.rounds = rounds
        self.curves = curves
        self.confidence = confidence
        self.budget = budget
        self.random_state = random_state

    _design: Design | None

    def fit(self, X: Any, y: Any, groups: Any = None) -> LogisticRegression:
        """Fits the coefficients; `groups` names the person behind each row where people have several rows."""
        checked_confidence(self.confidence)
        if self.curves is not None and not isinstance(self.curves, bool | np.bool_):
            raise InvalidArgument(
                f"curves={self.curves!r} must be True, False or None, which decides by public numbers"
            )
        question = self._ask(X, y, groups=groups)
        if question.price is None or question.domains is None or question.classes is None:
            return self._fit_exactly(question, question.pay(None))
        self._design = Design(question.domains, curves=bool(self.curves))
        plan = _Plan(question, columns=self._design.columns + 1, rounds=self.rounds)
        if plan.descends:
            return self._descend(question, plan.models)
        rounds, noises = plan.chosen()
        records = question.pay(all_of(*((noise, max(rounds, 1)) for noise in noises)))
        rows = with_ones(self._design.integers(records.values))
        labels = _labels(records)
        if rounds == 0:
            steps = first_steps(rows, labels, (noises[0], noises[1]), size=question.size or 1, rng=records.rng)
        else:
            unknown = question.size is None and self.rounds is None
            steps = _walk(rows, labels, noises[0], rounds, unknown=unknown, rng=records.rng)
        trusted = rounds >= MOST_ROUNDS and bool(steps[0].at.any())
        return records.finish(self._solve(self._design, records, steps, each=question.rows, trusted=trusted))

    def _descend(self, question: FitRequest, models: int) -> LogisticRegression:
        """Coefficients by noisy gradient descent; there are no intervals."""
        plan = plan_descent(question, models, curves=self.curves is not False)
        if self.curves is None and not plan.is_clear(question.size or USUAL_SIZE):
            plan = plan_descent(question, models, curves=False)
        self._design = design = Design(plan.design.domains, curves=plan.design.curves)
        records = question.pay(plan.loss)
        theta = plan.design.against_first(plan.descend(records.values, _labels(records), records))
        self.classes_ = records.classes
        self.coef_ = theta[:, 1:] / design.widths
        self.intercept_ = theta[:, 0] - self.coef_ @ design.centres
        anything = np.full(self.coef_.shape, np.inf)
        self.coef_interval_ = Interval(-anything, anything, self.confidence, Covers.POPULATION)
        return records.finish(self)

    def _solve(
        self, design: Design, records: Records, steps: list[Step], *, each: int, trusted: bool
    ) -> LogisticRegression:
        """Coefficients and intervals in the units of the columns; `each` is the most rows of one person."""
        shrunk = np.array([step.shrunk() for step in steps])
        whole_steps = [step.unshrunk(rows=each) for step in steps]
        middle = np.array([theta[1:] for theta, _ in whole_steps]) / design.widths
        spread = np.array([np.sqrt(np.diag(covariance)[1:]) for _, covariance in whole_steps]) / design.widths
        reach = ndtri((1 + self.confidence) / 2) * (spread if trusted else np.full_like(spread, np.inf))
        self.classes_ = records.classes
        self.coef_ = shrunk[:, 1:] / design.widths
        self.intercept_ = shrunk[:, 0] - self.coef_ @ design.centres
        self.coef_interval_ = Interval(middle - reach, middle + reach, self.confidence, Covers.POPULATION)
        return self

    def _fit_exactly(self, question: FitRequest, records: Records) -> LogisticRegression:
        """Newton's method to its end, with the weak prior of the private one on columns scaled by their spread."""
        self._design = None if question.domains is None else Design(question.domains, curves=bool(self.curves))
        columns = own_units(records.values, self._design)
        centre, width = columns.mean(axis=0), columns.std(axis=0)
        width = np.where(width > 0, width, 1.0)
        rows = np.column_stack([np.ones(len(columns)), (columns - centre) / width])
        found = [_maximum(rows, label) for label in _labels(records)]
        theta = np.array([each for each, _ in found])
        spread = np.array([np.sqrt(question.rows * np.diag(covariance)[1:]) for _, covariance in found]) / width
        self.classes_ = records.classes
        self.coef_ = theta[:, 1:] / width
        self.intercept_ = theta[:, 0] - self.coef_ @ centre
        reach = ndtri((1 + self.confidence) / 2) * spread
        self.coef_interval_ = Interval(self.coef_ - reach, self.coef_ + reach, self.confidence, Covers.POPULATION)
        return self

    def decision_function(self, X: Any) -> Floats:
        """The log-odds of the second class, or of each class against the others; post-processing of the fit."""
        found = np.asarray(weighted_sum(own_units(self._encode(X), self._design), self.coef_.T) + self.intercept_)
        return found[:, 0] if found.shape[1] == 1 else found

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class; post-processing of the fit, it costs nothing."""
        odds = expit(self.decision_function(X))
        if odds.ndim == 1:
            return np.column_stack([1 - odds, odds])
        return np.asarray((odds + 1e-300) / (odds + 1e-300).sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        shares = self.predict_proba(X)
        return np.asarray(self.classes_[np.argmax(shares, axis=1)])


@dataclass(frozen=True)
class _Plan:
    """How many rounds a budget buys, from what is public."""

    question: FitRequest
    columns: int
    rounds: Any

    @property
    def models(self) -> int:
        """One model for two classes, else one a class."""
        classes = 0 if self.question.classes is None else len(self.question.classes)
        return 1 if classes == 2 else classes

    @property
    def descends(self) -> bool:
        """Whether gradient descent is the better path: a curvature would drown, and most of it is indicators.

        One row moves an entry a column of the table, and a curvature has one for every pair of indicators. Where the
        size is not public, that of a usual table decides.
        """
        assert self.question.domains is not None
        sparse = self.columns > SPARSE * (len(self.question.domains) + 1)
        if self.rounds is not None or not sparse:
            return False
        noise = self._noise(step_entries(self.columns, self.models), times=1)
        size = USUAL_SIZE if self.question.size is None else self.question.size
        return bool(noise.deviation / EACH / 4 * np.sqrt(self.columns) / (CURVED * size) >= SEVERAL)

    def chosen(self) -> tuple[int, list[VectorNoise]]:
        """The rounds and their noise; 0 is one round that looks at class counts and sums of columns only."""
        if self.rounds is not None or self.question.size is None:
            rounds = MOST_ROUNDS if self.rounds is None else whole(self.rounds, "rounds")
            return rounds, [self._noise(step_entries(self.columns, self.models), times=rounds)]
        for rounds in range(MOST_ROUNDS, 0, -1):
            noise = self._noise(step_entries(self.columns, self.models), times=rounds)
            drowned = noise.deviation / EACH / 4 * np.sqrt(self.columns) / (CURVED * self.question.size)
            if drowned < (SEVERAL if rounds > 1 else 1.0):
                return rounds, [noise]
        share = self._share(self.question.size)
        slopes = (self.models + 1) * (self.columns - 1)
        sums = self._noise(slopes, share=1 - share)
        return 0, [self._noise(self.models, share=share, like=sums), sums]

    def _share(self, size: int) -> Fraction:
        """What the class counts are given: as much as it takes to tell which class is larger, within bounds."""
        assert self.question.price is not None
        wanted = Fraction(15 * self.models * self.question.rows, size) / self.question.price.epsilon
        return min(max(wanted, Fraction(1, 10)), Fraction(1, 2))

    def _noise(
        self, entries: int, *, share: Fraction = Fraction(1), times: int = 1, like: VectorNoise | None = None
    ) -> VectorNoise:
        price, rows_changed = self.question.price, self.question.rows_changed
        assert price is not None
        return buy_vectors(
            price, entries=entries, each=EACH, rows_changed=rows_changed, share=share, times=times, like=like
        )


def _walk(
    rows: NDArray[np.int64],
    labels: NDArray[np.bool_],
    noise: VectorNoise,
    rounds: int,
    *,
    unknown: bool,
    rng: np.random.Generator,
) -> list[Step]:
    """The last of so many Newton steps; where the size is unknown and the first drowns, all are taken from zero.

    Which it is, the noisy first step tells.
    """
    at = np.zeros((len(labels), rows.shape[1]))
    looks = [newton_steps(rows, labels, at, noise, rng=rng)]
    if unknown and max(step.drowned(CURVED) for step in looks[0]) >= SEVERAL:
        looks += [newton_steps(rows, labels, at, noise, rng=rng) for _ in range(1, rounds)]
        return steps_from_zero(looks, CURVED)
    steps = looks[0]
    for _ in range(1, rounds):
        steps = newton_steps(rows, labels, np.array([step.shrunk() for step in steps]), noise, rng=rng)
    return steps


def _labels(records: Records) -> NDArray[np.bool_]:
    """For each model, which rows are of its class: the second of two, or each of several."""
    if len(records.classes) == 2:
        return np.asarray(records.target[None] == 1)
    return np.asarray(records.target[None] == np.arange(len(records.classes))[:, None])


def _maximum(rows: Floats, label: NDArray[np.bool_]) -> tuple[Floats, Floats]:
    """The penalised maximum likelihood and the inverse of its curvature."""
    theta: Floats = np.zeros(rows.shape[1])
    ridge = np.eye(rows.shape[1]) / 100
    ridge[0, 0] = 1e-9
    for _ in range(EXACT_ROUNDS):
        share = expit(rows @ theta)
        curvature = (rows * (share * (1 - share))[:, None]).T @ rows + ridge
        move = np.linalg.solve(curvature, rows.T @ (label - share) - ridge @ theta)
        theta = np.asarray(theta + move / max(1.0, float(np.abs(move).max())))
        if np.abs(move).max() < 1e-10:
            break
    return theta, np.asarray(np.linalg.inv(curvature), np.float64)
