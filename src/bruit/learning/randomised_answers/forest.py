"""A random forest on randomised answers taken as true, as in the source document."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from bruit.learning.randomised_answers.estimator import AnswersEstimator
from bruit.local.questionnaires import Questionnaire


class RandomisedForest(AnswersEstimator):
    """A random forest fitted to randomised attributes and labels without correcting for the noise.

    [docs/spec.md S0.5]

    It takes reports for truths: below an epsilon of about one for each answer it does worse than telling the most
    frequent label. `ChannelNaiveBayes`, `ChannelLogistic` and `ChannelTree` know the channels.
    """

    def __init__(
        self,
        questionnaire: Questionnaire | None = None,
        *,
        n_estimators: int = 100,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.questionnaire = questionnaire  # type: ignore[assignment]
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> RandomisedForest:
        """Fits the forest to noised attributes and labels."""
        reports = self._reports(X, y)
        forest = RandomForestClassifier(self.n_estimators, random_state=self.random_state)
        known = len(reports.labels) > 0
        self._forest = forest.fit(reports.values.astype(np.float32), reports.labels) if known else None
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The label with the largest mean probability over the trees; the first label for a fit without rows."""
        asked = self._encode_reports(X).astype(np.float32)
        if self._forest is None or len(asked) == 0:
            return np.repeat(self.questionnaire.labels[:1], len(asked))
        places = self._forest.predict(asked)
        return np.asarray(self.questionnaire.labels[places])
