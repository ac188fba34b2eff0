"""The base class of the tree estimators: classification or regression on binned columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils import ClassifierTags, RegressorTags
from sklearn.utils.metaestimators import available_if

from bruit.core.arguments import whole
from bruit.errors import InvalidArgument
from bruit.learning.estimator.contract import FitRequest, PrivateEstimator, Records
from bruit.learning.trees.binning import Bins, Codes, public_bins, read_bins
from bruit.learning.trees.noise import StepNoise

Floats = NDArray[np.float64]

MOST_LEVELS = 20
"""The most levels of a tree whose splits are drawn blindly: all of its leaves, a million, have noise."""


@dataclass(frozen=True)
class TreePlan:
    """The plan of a private fit: its bins, its noise, and its number of steps, trees or levels."""

    bins: Bins
    noise: StepNoise
    count: int


class BinnedEstimator(PrivateEstimator, ABC):
    """Predicts classes or numbers from binned columns.

    An estimator has a parameter (`criterion` or `loss`) whose value "squared_error" makes it a regressor, and gives
    `_scores`: one row of numbers for each row of bins, probabilities or predicted values. With a budget the labels are
    0 and 1 unless `classes` states others; rows of other labels are dropped.
    """

    _bins: Bins
    classes_: NDArray[Any]
    criteria: tuple[str, ...]
    bins: int | None
    _usual_classes = (0, 1)
    _few_bins, _many_bins = 32, 256

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        if self._regresses:
            tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags()
        else:
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    @property
    def _regresses(self) -> bool:
        return self._criterion == "squared_error"

    @property
    @abstractmethod
    def _criterion(self) -> str:
        """What the parameter says that makes a classifier or a regressor."""

    @abstractmethod
    def _scores(self, codes: Codes) -> Floats:
        """The probabilities of the classes for each row of bins, or the one number that is predicted."""

    def fit(self, X: Any, y: Any, groups: Any = None) -> Self:
        """Fits the model; `groups` names the person behind each row where people have several rows."""
        question = self._make_question(X, y, groups)
        if question.price is None or question.domains is None:
            self._fit_exactly(question, question.pay(None))
        else:
            plan = self._make_plan(question, public_bins(question.domains, self._public_bins(question)))
            records = self._pay(question, plan)
            self._fit_noisily(question, records, plan)
            records.finish(self)
        return self

    def _pay(self, question: FitRequest, plan: TreePlan) -> Records:
        """Charges by the accountant that the noise was bought with."""
        assert question.purchase is not None
        price = replace(question.purchase.price, by=plan.noise.by)
        return replace(question, purchase=replace(question.purchase, price=price)).pay(plan.noise.loss)

    @abstractmethod
    def _make_plan(self, question: FitRequest, bins: Bins) -> TreePlan:
        """What is released with which noise, from public numbers alone."""

    @abstractmethod
    def _fit_exactly(self, question: FitRequest, records: Records) -> None:
        """Fits without noise: there is no budget."""

    @abstractmethod
    def _fit_noisily(self, question: FitRequest, records: Records, plan: TreePlan) -> None:
        """Fits to paid records with the noise of the plan."""

    def _make_question(self, X: Any, y: Any, groups: Any) -> FitRequest:
        """The question of a fit; its criterion is one that the estimator knows."""
        if self._criterion not in self.criteria:
            raise InvalidArgument(f"{self._criterion!r} is not known here; choose one of {', '.join(self.criteria)}")
        return self._ask(X, y, groups=groups)

    def _public_bins(self, question: FitRequest) -> int:
        """How many bins a column has, from public numbers alone."""
        del question
        return self._few_bins if self.bins is None else self.bins

    def _exact_bins(self, question: FitRequest, records: Records) -> Bins:
        """The bins of the domain, or without one those of the data."""
        most = self._many_bins if self.bins is None else self.bins
        if question.domains is None:
            return read_bins(records.values, most)
        return public_bins(question.domains, most)

    def _numbers(self, question: FitRequest, records: Records) -> Floats:
        """What a regressor predicts, in its own units."""
        if question.target is None:
            return np.asarray(records.target, np.float64)
        return question.target.decode(records.target)

    def _codes(self, X: Any) -> Codes:
        values = self._encode(X)
        return self._bins.codes(values)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class or the predicted number of each row; post-processing, at no privacy cost."""
        scores = self._scores(self._codes(X))
        return scores[:, 0] if self._regresses else np.asarray(self.classes_[np.argmax(scores, axis=1)])

    @available_if(lambda self: not self._regresses)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """The probability of each class in the order of `classes_`; post-processing, at no privacy cost."""
        return self._scores(self._codes(X))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Accuracy or R²; on private rows it is not private, and for the curator only."""
        measure = r2_score if self._regresses else accuracy_score
        return float(measure(y, self.predict(X), sample_weight=sample_weight))


def require_depth(depth: Any) -> None:
    """Refuses, before anything is paid, a depth that is no whole number or has too many leaves to count."""
    if depth is not None and whole(depth, "max_depth") > MOST_LEVELS:
        raise InvalidArgument(
            f"max_depth={depth}: empty leaves are counted too, with noise; at most {MOST_LEVELS} levels"
        )


def halves(question: FitRequest) -> tuple[float, float]:
    """The midpoint and half-width of the target's public bounds."""
    assert question.target is not None
    low, high = float(question.target.low), float(question.target.high)
    return (low + high) / 2, (high - low) / 2
