"""Logistic regression that corrects for the noise channel of the label."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy import optimize

from bruit.errors import InvalidArgument
from bruit.learning.randomised_answers.association import unmix_shares
from bruit.learning.randomised_answers.estimator import ChannelEstimator, Reports, softmax
from bruit.local.questionnaires import Questionnaire

STEPS = 100
"""The most steps of the search for the weights."""


class ChannelLogistic(ChannelEstimator):
    """Softmax regression for the true label, fitted by the likelihood of the noised label.

    P(noised label z | x) = sum over y of softmax(W x)_y M[y, z], maximised with a normal prior on the weights
    [Patrini et al. 2017, forward correction]. A noised attribute cannot move a log-likelihood ratio by more than its
    epsilon, so the prior's deviation is `width` times that: what is weak is held at zero, and nothing else has to be
    tuned. Where no attribute is surely associated with the label, the noised majority is told.
    """

    def __init__(self, questionnaire: Questionnaire | None = None, *, width: float = 0.1) -> None:
        self.questionnaire = questionnaire  # type: ignore[assignment]
        self.width = width

    def fit(self, X: Any, y: Any) -> ChannelLogistic:
        """Fits the coefficients to noised attributes and labels."""
        if not isinstance(self.width, int | float | np.number) or not self.width > 0:
            raise InvalidArgument(f"width={self.width!r} must be above zero: the prior deviation in epsilons")
        reports = self._reports(X, y)
        start = np.log(unmix_shares(reports.labels, self.questionnaire.label_channel))
        columns = sum(channel.size for channel in self.questionnaire.channels)
        self._weights, self._intercept = np.zeros((columns, len(start))), start
        if any(each.certain for each in reports.associations()):
            self._weights, self._intercept = self._fit_weights(reports, start)
        return self

    def _chances(self, X: Any) -> NDArray[np.float64]:
        return softmax(self._indicators(self._encode_reports(X)) @ self._weights + self._intercept)

    def _fit_weights(
        self, reports: Reports, start: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        rows, (columns, labels) = self._indicators(reports.values), self._weights.shape
        through = reports.questionnaire.label_channel.probabilities()[:, reports.labels].T
        channels = self.questionnaire.channels
        stiff = np.concatenate([np.full(each.size, (self.width * float(each.epsilon)) ** -2) for each in channels])

        def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
            weights = flat.reshape(columns + 1, labels)
            chances = softmax(rows @ weights[:-1] + weights[-1])
            joint = chances * through
            seen = joint.sum(axis=1)
            slope = chances - joint / seen[:, None]
            pull = stiff[:, None] * weights[:-1]
            gradient = np.vstack([rows.T @ slope + pull, slope.sum(axis=0)])
            value = 0.5 * float((pull * weights[:-1]).sum()) - float(np.log(seen).sum())
            return value / len(seen), gradient.ravel() / len(seen)

        first = np.vstack([self._weights, start]).ravel()
        found = optimize.minimize(loss, first, jac=True, method="L-BFGS-B", options={"maxiter": STEPS})
        weights = found.x.reshape(columns + 1, labels)
        return weights[:-1], weights[-1]

    def _indicators(self, values: NDArray[np.int64]) -> sparse.csr_array:
        """A one for the value of each attribute."""
        sizes = [channel.size for channel in self.questionnaire.channels]
        first = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        rows, columns = values.shape
        ends = np.arange(0, rows * columns + 1, columns)
        return sparse.csr_array((np.ones(values.size), (values + first).ravel(), ends), shape=(rows, sum(sizes)))
