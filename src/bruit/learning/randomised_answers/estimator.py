"""The base classes of classifiers for randomised answers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from bruit.errors import InvalidArgument
from bruit.learning.estimator.records import as_array, encode_classes
from bruit.learning.randomised_answers.association import Association, association_of
from bruit.local.questionnaires import Questionnaire


@dataclass(frozen=True)
class Reports:
    """Noised attributes and labels as category indices; rows with impossible reports are left out."""

    values: NDArray[np.int64]
    labels: NDArray[np.int64]
    questionnaire: Questionnaire

    def table(self, attribute: int, rows: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.int64]:
        """The contingency table of an attribute and the label."""
        size, labels = self.questionnaire.channels[attribute].size, len(self.questionnaire.labels)
        both = self.values[rows, attribute] * labels + self.labels[rows]
        return np.bincount(both, minlength=size * labels).reshape(size, labels)

    def associations(self, rows: NDArray[np.int64] | slice = slice(None)) -> list[Association]:
        """The association of each attribute with the label."""
        channel = self.questionnaire.label_channel
        return [association_of(self.table(place, rows), channel) for place in range(self.values.shape[1])]


class AnswersEstimator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier of locally randomised answers, which needs no ledger as respondents added the noise themselves.

    X holds what `questionnaire.randomise` gives, y what `questionnaire.randomise_label` gives. All that is learnt is
    post-processing of those reports.
    """

    questionnaire: Questionnaire

    def _reports(self, X: Any, y: Any) -> Reports:
        """Checks the shape and keeps the rows whose reports can have been sent."""
        if not isinstance(self.questionnaire, Questionnaire):
            raise InvalidArgument("give questionnaire=bruit.learning.Questionnaire(...): what was asked and how")
        values = self._places(X)
        check_consistent_length(values, y)
        self.classes_ = np.sort(self.questionnaire.labels)
        labels, known = _encode_labels(as_array(y), self.questionnaire.labels)
        known &= self._possible(values)
        self.n_features_in_ = values.shape[1]
        return Reports(values[known], labels[known], self.questionnaire)

    def _encode_reports(self, X: Any) -> NDArray[np.int64]:
        """Encodes reports to predict from; an impossible report is taken for the first answer."""
        check_is_fitted(self)
        values = self._places(X)
        sizes = [channel.size for channel in self.questionnaire.channels]
        return np.where((values >= 0) & (values < sizes), values, 0)

    def _places(self, X: Any) -> NDArray[np.int64]:
        found, columns = np.asarray(X), len(self.questionnaire.attributes)
        if found.ndim != 2 or found.shape[1] != columns or found.dtype.kind not in "iu":
            raise InvalidArgument(
                f"X must hold whole numbers, one column for each of the {columns} attributes, "
                "as questionnaire.randomise gives them"
            )
        return found.astype(np.int64)

    def _possible(self, values: NDArray[np.int64]) -> NDArray[np.bool_]:
        sizes = [channel.size for channel in self.questionnaire.channels]
        return np.asarray(((values >= 0) & (values < sizes)).all(axis=1))


class ChannelEstimator(AnswersEstimator, ABC):
    """A classifier that corrects for the channels and gives a probability for each label."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The likeliest label of each row."""
        chances = self._chances(X)
        return np.asarray(self.questionnaire.labels[chances.argmax(axis=1)])

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each label in the order of `classes_`; post-processing of the reports."""
        chances = self._chances(X)
        return np.asarray(chances[:, np.argsort(self.questionnaire.labels)])

    @abstractmethod
    def _chances(self, X: Any) -> NDArray[np.float64]:
        """The chance of each label in the order of `questionnaire.labels`."""


def softmax(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    """Probabilities proportional to exp(score), one row per person."""
    raised = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def _encode_labels(values: NDArray[Any], labels: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The place of each label, and which rows have one of them; arrays of texts are looked up at once."""
    if values.dtype.kind != "U" or labels.dtype.kind != "U":
        return encode_classes(values, labels)
    order = np.argsort(labels)
    found = order[np.clip(np.searchsorted(labels[order], values), 0, len(labels) - 1)]
    return found.astype(np.int64), np.asarray(labels[found] == values)
