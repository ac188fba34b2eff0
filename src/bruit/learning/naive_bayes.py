"""Private naive Bayes for numeric and categorical columns, from noisy counts and sums of each class."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from bruit.channels import VectorNoise
from bruit.learning.estimator.contract import FitRequest, PrivateEstimator, Records
from bruit.learning.linear_models._design import STEPS, scale_to_steps
from bruit.mechanisms import all_of, buy_vectors
from bruit.tables import Among, Domain, Within

Floats = NDArray[np.float64]
EACH = STEPS**2
"""The most one row moves any sum of numbers."""

LEAST_SPREAD = 0.02
"""The least deviation of a scaled column inside a class: a hundredth of the width of its bounds."""

DIFFERENT = 0.02
"""The least variance that class means of a scaled column are taken to have around their middle."""

LARGE = 0.01
"""From this noise on, as a share of a class, spreads are taken to be the same in every class."""

CATEGORY_WEIGHT = Fraction(3, 2)
"""What a column of categories is paid, where a sum of numbers is paid one."""


class NaiveBayes(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """Naive Bayes with normal numeric columns and multinomial categories, independent given the class.

    Released are, for each class, its count and the sums of its scaled columns and of their squares, and for each column
    of categories the counts by class. Means and spreads are shrunk to what classes share by as much as the noise asks.
    """

    def __init__(
        self,
        *,
        domain: Any = None,
        classes: Any = None,
        size: Any = None,
        rows_per_person: int = 1,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.domain = domain
        self.classes = classes
        self.size = size
        self.rows_per_person = rows_per_person
        self.budget = budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> NaiveBayes:
        """Fits the class-conditional laws; `groups` names the person behind each row where people have several rows."""
        question = self._ask(X, y, groups=groups)
        if question.domains is None:
            return self._fit_numbers(question.pay(None))
        domains = question.domains
        numbers = [j for j, domain in enumerate(domains) if isinstance(domain, Within)]
        plan = _Plan.of(question, len(numbers)) if question.price is not None else None
        records = question.pay(None if plan is None else plan.loss)
        self.classes_ = records.classes
        self._set_moments(_moments(records, domains, numbers, plan), plan, question.size)
        noisy = None if plan is None else plan.categories
        self._shares = {
            j: _shares(records, j, domain, noisy) for j, domain in enumerate(domains) if isinstance(domain, Among)
        }
        self._numbers = numbers
        return records.finish(self)

    def _set_moments(self, sums: _Sums, plan: _Plan | None, size: int | None) -> None:
        """Class shares, and means and variances of scaled columns."""
        counts = _counts(sums, size)
        self.class_prior_ = counts / counts.sum()
        each = sums.deviation / counts[:, None]
        means = np.clip(sums.first / counts[:, None], -1, 1)
        middle = self.class_prior_ @ means
        varied = np.maximum(self.class_prior_ @ ((means - middle) ** 2 - each**2), DIFFERENT)
        self._means = middle + (means - middle) * varied / (varied + each**2)
        squares = np.clip(sums.second / counts[:, None] if sums.second.ndim == 2 else sums.second / counts.sum(), 0, 1)
        if plan is not None and plan.shared:
            inside = squares - self.class_prior_ @ (means**2 - each**2)
            spread = np.broadcast_to(np.maximum(inside, LEAST_SPREAD**2), means.shape)
        else:
            spread = np.maximum(squares - means**2 + each**2, LEAST_SPREAD**2 if plan is not None else 1e-9)
        self._variances = spread + each**2 * varied / (varied + each**2)
        self._exact_centre, self._exact_width = np.zeros(means.shape[1]), np.ones(means.shape[1])

    def _fit_numbers(self, records: Records) -> NaiveBayes:
        """The exact normal law of each column in each class."""
        self.classes_, values = records.classes, records.values
        self._exact_centre, width = values.mean(axis=0), values.std(axis=0)
        self._exact_width = np.where(width > 0, width, 1.0)
        normal = (values - self._exact_centre) / self._exact_width
        groups = [normal[records.target == c] for c in range(len(self.classes_))]
        self.class_prior_ = np.array([max(len(group), 1e-300) for group in groups]) / len(values)
        self._means = np.array([group.mean(axis=0) if len(group) else np.zeros(normal.shape[1]) for group in groups])
        self._variances = np.array([group.var(axis=0) if len(group) else np.ones(normal.shape[1]) for group in groups])
        self._variances = self._variances + 1e-9
        self._numbers, self._shares = list(range(values.shape[1])), {}
        return self

    def _joint(self, X: Any) -> Floats:
        """The log of the class share times the law of the row in each class."""
        values = self._encode(X)
        found = np.broadcast_to(np.log(self.class_prior_), (len(values), len(self.classes_))).copy()
        for at, j in enumerate(self._numbers):
            domain = None if self._domains is None else self._domains[j]
            column = scale_to_steps(values[:, j], domain) / STEPS if isinstance(domain, Within) else values[:, j]
            normal = (column - self._exact_centre[at]) / self._exact_width[at]
            variance = self._variances[:, at]
            found -= 0.5 * ((normal[:, None] - self._means[:, at]) ** 2 / variance + np.log(variance))
        for j, shares in self._shares.items():
            found += np.log(shares[:, values[:, j]]).T
        return found

    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class; post-processing of the fit, it costs nothing."""
        joint = self._joint(X)
        shares = np.exp(joint - joint.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        places = np.argmax(self._joint(X), axis=1)
        return np.asarray(self.classes_[places])


@dataclass(frozen=True)
class _Plan:
    """The noises of one fit: of the sums by class, of squares where they are shared, of columns of categories."""

    sums: VectorNoise
    squares: VectorNoise | None
    categories: VectorNoise | None
    columns: int

    @property
    def shared(self) -> bool:
        """Whether squares are released for all classes together."""
        return self.squares is not None

    @property
    def loss(self) -> Any:
        """The privacy loss of the whole fit: sums, squares, and counts of each column of categories."""
        parts = [(self.sums, 1)] + ([(self.squares, 1)] if self.squares is not None else [])
        return all_of(*parts, *([(self.categories, self.columns)] if self.categories is not None else []))

    @classmethod
    def of(cls, question: FitRequest, numbers: int) -> _Plan:
        """Shares in proportion to how many sums each noise is for."""
        assert question.price is not None
        assert question.domains is not None
        price, rows_changed, columns = question.price, question.rows_changed, len(question.domains) - numbers
        whole = 1 + 2 * numbers + CATEGORY_WEIGHT * columns

        def noise(entries: int, each: int, weight: Fraction, like: VectorNoise | None) -> VectorNoise:
            return buy_vectors(
                price, entries=entries, each=each, rows_changed=rows_changed, share=weight / whole, like=like
            )

        together = noise(1 + 2 * numbers, EACH, Fraction(1 + 2 * numbers), None)
        categories = noise(1, 1, CATEGORY_WEIGHT, together) if columns else None
        classes = 0 if question.classes is None else len(question.classes)
        if numbers and together.deviation / EACH > LARGE * (question.size or 0) / classes:
            sums = noise(1 + numbers, EACH, Fraction(1 + numbers), together)
            return cls(sums, noise(numbers, EACH, Fraction(numbers), together), categories, columns)
        return cls(together, None, categories, columns)


@dataclass(frozen=True)
class _Sums:
    """Counts, sums and sums of squares of scaled columns by class, and the deviation of their noise.

    `second` has a row for each class, or is one row for all where squares are shared.
    """

    counts: Floats
    first: Floats
    second: Floats
    deviation: float


def _moments(records: Records, domains: tuple[Domain, ...], numbers: list[int], plan: _Plan | None) -> _Sums:
    """The sums of the scaled columns; of squares u^2 the sum of 2u^2 - 1 is noised, which lies around zero."""
    rows = np.empty((len(records.values), 1 + 2 * len(numbers)), np.int64)
    rows[:, 0] = EACH
    for at, j in enumerate(numbers):
        domain = domains[j]
        assert isinstance(domain, Within)
        column = scale_to_steps(records.values[:, j], domain)
        rows[:, 1 + at], rows[:, 1 + len(numbers) + at] = column * STEPS, 2 * column**2 - EACH
    exact = np.zeros((len(records.classes), rows.shape[1]), np.int64)
    np.add.at(exact, records.target, rows)
    sums, deviation, cut = exact.copy(), 0.0, 1 + len(numbers)
    squares = sums[:, cut:]
    if plan is not None:
        deviation = plan.sums.deviation / EACH
        drawn = plan.sums.draw(len(exact), rng=records.rng)
        sums[:, : drawn.shape[1]] += drawn
        squares = sums[:, cut:]
        if plan.squares is not None:
            squares = exact[:, cut:].sum(axis=0) + plan.squares.draw(1, rng=records.rng)[0]
    counts = sums[:, 0] / EACH
    whole = counts.sum() if squares.ndim == 1 else counts[:, None]
    return _Sums(counts, sums[:, 1:cut] / EACH, (squares / EACH + whole) / 2, deviation)


def _counts(sums: _Sums, size: int | None) -> Floats:
    """Counts of the classes that noise cannot make negative, adding up to the size where it is public."""
    classes, noise = len(sums.counts), sums.deviation
    if not noise:
        return np.maximum(sums.counts, 1e-300)
    total = float(size) if size is not None else max(sums.counts.sum(), classes)
    around = sums.counts - sums.counts.mean()
    kept = max(0.0, 1 - noise**2 / max(float(around.var()), 1e-12))
    return np.asarray(np.maximum(total / classes + kept * around, 0.02 * total / classes))


def _shares(records: Records, column: int, domain: Among, noise: VectorNoise | None) -> Floats:
    """The share of each category in each class, from noisy counts smoothed by as much as their noise."""
    counts = np.zeros((len(records.classes), domain.size), np.int64)
    np.add.at(counts, (records.target, records.values[:, column]), 1)
    smoothing = 1.0
    if noise is not None:
        counts += noise.draw(counts.size, rng=records.rng).reshape(counts.shape)
        smoothing += noise.deviation
    found = np.maximum(counts, 0.0)  # whole numbers until the noise is in
    pooled = found.sum(axis=0) + smoothing
    found += smoothing * pooled / pooled.sum()
    return np.asarray(found / found.sum(axis=1, keepdims=True))
