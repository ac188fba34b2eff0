"""Naive Bayes on counts corrected for the noise channels."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument
from bruit.learning.randomised_answers.association import Association, unmix_shares
from bruit.learning.randomised_answers.estimator import ChannelEstimator, Reports, softmax
from bruit.local.questionnaires import Questionnaire

FARTHEST = 100.0
"""How many times the number of its values a true attribute may move the odds of a label: no estimate is that sure."""


class ChannelNaiveBayes(ChannelEstimator):
    """Naive Bayes that corrects counts for the channels, and ignores associations that chance explains.

    log P(label) + sum over attributes of log P(value | label) / P(value), each ratio from the unmixed association of
    attribute and label and held within e^-epsilon and e^epsilon, which no noised attribute can pass. Where no
    attribute is surely associated with the label, the noised majority is told: then nothing better is known.

    inputs   "randomised": people send noised attributes to be told a prediction (they pay questionnaire.test_epsilon);
             "true": they keep them and predict on their own device, which costs nothing, so attributes are unmixed too.
             That multiplies noise once more and no epsilon bounds what it does: only attributes that are themselves
             surely associated count
    """

    def __init__(
        self, questionnaire: Questionnaire | None = None, *, inputs: Literal["randomised", "true"] = "randomised"
    ) -> None:
        self.questionnaire = questionnaire  # type: ignore[assignment]
        self.inputs = inputs

    def fit(self, X: Any, y: Any) -> ChannelNaiveBayes:
        """Fits the class-conditional shares to noised attributes and labels."""
        if self.inputs not in ("randomised", "true"):
            raise InvalidArgument(f"inputs={self.inputs!r}: give 'randomised' or 'true'")
        reports = self._reports(X, y)
        shares = unmix_shares(reports.labels, self.questionnaire.label_channel)
        found = reports.associations()
        certain = any(each.certain for each in found)
        self._prior = np.log(shares)
        self._evidence = [
            self._logs(reports, place, each, shares)
            if each.certain or (certain and self.inputs == "randomised")
            else np.zeros_like(each.residual)
            for place, each in enumerate(found)
        ]
        return self

    def predict_log_scores(self, X: Any) -> NDArray[np.float64]:
        """The log-probability of each label, up to a constant, in the order of `questionnaire.labels`."""
        values = self._encode_reports(X)
        score = np.broadcast_to(self._prior, (len(values), len(self._prior))).copy()
        for column, logs in zip(values.T, self._evidence, strict=True):
            score += logs[column]
        return score

    def _chances(self, X: Any) -> NDArray[np.float64]:
        return softmax(self.predict_log_scores(X))

    def _logs(
        self, reports: Reports, place: int, found: Association, shares: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Log P(value | label) / P(value), one row a value."""
        channel = self.questionnaire.channels[place]
        values, residual, most = found.values, found.residual, float(channel.epsilon)
        if self.inputs == "true":
            values = unmix_shares(reports.values[:, place], channel)
            residual = residual / channel.support.gap
            most = float(np.log(FARTHEST * channel.size))
        ratio = 1 + residual / np.maximum(np.outer(values, shares), 1e-12)
        return np.asarray(np.log(np.clip(ratio, np.exp(-most), np.exp(most))))
