"""Private linear regression from a noisy Gram matrix, with intervals that account for the noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from scipy.special import ndtri
from sklearn.base import RegressorMixin

from bruit.core.arguments import confidence as checked_confidence
from bruit.core.intervals import Covers, Interval
from bruit.learning.estimator.contract import FitRequest, PrivateEstimator, Records
from bruit.learning.linear_models._design import STEPS, Design, own_units, scale_to_steps, weighted_sum
from bruit.learning.linear_models._moments import noisy_products, product_entries, with_ones
from bruit.learning.linear_models._normal import Normal
from bruit.learning.linear_models._sparse_noise import buy_for_few
from bruit.tables import Within

Floats = NDArray[np.float64]


class LinearRegression(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """Least squares from a noisy Gram matrix, with coefficients in the columns' own units.

    One person moves every sum of products of columns scaled to [-1, 1] by at most one; the whole triangle is noised
    once. Coefficients are those most likely under the noise, the residuals and a weak prior; intervals come from the
    unshrunk estimate and are infinite where the noise drowns the data. They hold where residuals have one spread
    whatever the columns are, and rows of different people are independent. The number of rows is one of the sums: a
    stated `size` is not taken for what counts, since rows may be missing. See docs/learning.md.
    """

    def __init__(
        self,
        *,
        domain: Any = None,
        target: Any = None,
        size: Any = None,
        rows_per_person: int = 1,
        confidence: float = 0.95,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.domain = domain
        self.target = target
        self.size = size
        self.rows_per_person = rows_per_person
        self.confidence = confidence
        self.budget = budget
        self.random_state = random_state

    _design: Design | None

    def fit(self, X: Any, y: Any, groups: Any = None) -> LinearRegression:
        """Fits the coefficients; `groups` names the person behind each row where people have several rows."""
        checked_confidence(self.confidence)
        question = self._ask(X, y, groups=groups)
        if question.price is None or question.domains is None or question.target is None:
            return self._fit_exactly(question, question.pay(None))
        design, target = Design(question.domains), question.target
        self._design = design
        size = question.certain_size
        entries = product_entries(design.columns + 2, public_size=size is not None)
        moved = product_entries(len(design.domains) + 2, public_size=size is not None)
        noise = buy_for_few(question, entries=entries, moved=moved, each=STEPS**2)
        records = question.pay(noise.loss)
        rows = with_ones(np.column_stack([design.integers(records.values), scale_to_steps(records.target, target)]))
        products = noisy_products(rows, noise, size=size, rng=records.rng)
        return records.finish(self._solve(design, target, Normal(products, question.rows)))

    def _solve(self, design: Design, target: Within, normal: Normal) -> LinearRegression:
        """Coefficients and intervals in the units of the columns."""
        low, high = float(target.low), float(target.high)
        units = (high - low) / 2 / design.widths
        shrunk, plain, covariance = normal.shrunk(), normal.plain(), normal.covariance()
        self.coef_ = shrunk[1:] * units
        self.intercept_ = (low + high) / 2 + (high - low) / 2 * shrunk[0] - self.coef_ @ design.centres
        reach = ndtri((1 + self.confidence) / 2) * np.sqrt(np.diag(covariance)[1:]) * units
        middle = plain[1:] * units
        self.coef_interval_ = Interval(middle - reach, middle + reach, self.confidence, Covers.POPULATION)
        self._bounds = (low, high)
        return self

    def _fit_exactly(self, question: FitRequest, records: Records) -> LinearRegression:
        """Ordinary least squares, on the clamped columns where there is a domain."""
        self._design = None if question.domains is None else Design(question.domains)
        y = records.target if question.target is None else question.target.decode(records.target)
        columns = own_units(records.values, self._design)
        centres = columns.mean(axis=0)
        self.coef_, _, rank, _ = np.linalg.lstsq(columns - centres, y - y.mean(), rcond=None)
        self.intercept_ = float(y.mean() - centres @ self.coef_)
        residuals = y - columns @ self.coef_ - self.intercept_
        freedom = max(len(y) - rank - 1, 1)
        inverse = np.linalg.pinv((columns - centres).T @ (columns - centres))
        spread = np.sqrt(np.maximum(question.rows * np.diag(inverse) * (residuals @ residuals) / freedom, 0))
        reach = stats.t.ppf((1 + self.confidence) / 2, freedom) * spread
        self.coef_interval_ = Interval(self.coef_ - reach, self.coef_ + reach, self.confidence, Covers.POPULATION)
        self._bounds = (-np.inf, np.inf)
        return self

    def predict(self, X: Any) -> Floats:
        """The predicted values, clamped to the target's bounds where they are public."""
        found = weighted_sum(own_units(self._encode(X), self._design), self.coef_) + self.intercept_
        return np.asarray(np.clip(found, *self._bounds))
