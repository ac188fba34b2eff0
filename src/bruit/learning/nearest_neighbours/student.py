"""A student model, trained on public records labelled by private nearest neighbours (knowledge transfer)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassifierMixin, clone, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.utils.metaestimators import available_if

from bruit.core.arguments import whole
from bruit.core.seeds import RandomState
from bruit.errors import InvalidArgument
from bruit.learning.estimator.contract import FitRequest, PrivateEstimator
from bruit.learning.estimator.records import Domains
from bruit.learning.estimator.unpaid_scores import unrecorded
from bruit.learning.nearest_neighbours.classifier import Voters, question_space, require_labels
from bruit.learning.nearest_neighbours.plan import Method, VotePlan, plan_answers
from bruit.ledger import Payment


def _gives_chances(student: Student) -> bool:
    """Whether the student's model gives probabilities: a logistic regression does, and so does always one label."""
    fitted = getattr(student, "model_", student.model)
    return fitted is None or hasattr(fitted, "predict_proba")


class Student(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """A classifier trained on public records that private nearest neighbours labelled once.

    The budget pays for one question a public record. What is learnt from the answers is post-processing: the student
    predicts without limit, holds no private record, and may be kept, copied and published.
                                                                          [Papernot et al. 2017; Zhu et al. 2020]
    public    records of the same columns about whom nothing is to be hidden; their labels need not be known
    model     any scikit-learn classifier of numbers; a logistic regression unless one is given
    Other parameters as in NearestNeighbours.
    """

    _stays_behind: ClassVar[frozenset[str]] = PrivateEstimator._stays_behind | {"public"}

    def __init__(
        self,
        n_neighbors: int = 1001,
        *,
        public: Any = None,
        model: Any = None,
        method: Method = "auto",
        domain: Domains | None = None,
        classes: ArrayLike | None = None,
        weights: Sequence[float] | None = None,
        rows_per_person: int = 1,
        budget: Payment = None,
        random_state: RandomState = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.public = public
        self.model = model
        self.method = method
        self.domain = domain
        self.classes = classes
        self.weights = weights
        self.rows_per_person = rows_per_person
        self.budget = budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> Student:
        """Pays, labels the public records by the private ones, and fits the student to these labels alone."""
        require_labels(self, y)
        question = self._ask(X, y, groups=groups)
        voters, self._space = whole(self.n_neighbors, "n_neighbors"), question_space(question, self.weights)
        public, plan = self._public_questions(question)
        self._rehearse(public, question)
        records = question.pay(None if plan is None else plan.loss)
        self.classes_ = records.classes
        asked = records.values if public is None else public
        teacher = Voters(records.values, records.target, self._space, len(records.classes))
        votes = teacher.votes(asked, voters)
        answers = votes.argmax(axis=1) if plan is None else plan.answers(votes, rng=records.rng)
        self.labels_ = self.classes_[answers]
        self.model_ = self._learnt(asked)
        return records.finish(self)

    def predict(self, X: Any) -> NDArray[Any]:
        """The predicted class of each row, at no further privacy cost."""
        values = self._encode(X)
        return np.asarray(self.model_.predict(self._features(values)))

    @available_if(_gives_chances)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The student's probability of each class, at no further privacy cost."""
        values = self._encode(X)
        found = np.zeros((len(values), len(self.classes_)))
        found[:, np.searchsorted(self.classes_, self.model_.classes_)] = self.model_.predict_proba(
            self._features(values)
        )
        return found

    def _public_questions(self, question: FitRequest) -> tuple[NDArray[Any] | None, VotePlan | None]:
        """The public records, encoded, and the plan that has one question for each."""
        if self.public is None:
            if question.price is not None:
                raise InvalidArgument(
                    "a Student with a budget needs public=: records about whom nothing is to be hidden"
                )
            return None, None
        with unrecorded():
            public = self._encode(self.public)
        if question.price is None:
            return public, None
        plan = plan_answers(question.price, self.method, queries=len(public), per_query=None, rows=question.rows)
        return public, plan

    def _rehearse(self, public: NDArray[Any] | None, question: FitRequest) -> None:
        """Fits a model of the caller's own to made-up labels, so that what it refuses is refused before the charge."""
        if self.model is None:
            return
        if not hasattr(self.model, "get_params") or isinstance(self.model, type) or not is_classifier(self.model):
            raise InvalidArgument(f"model={self.model!r} is no classifier of scikit-learn: give one, such as SVC()")
        if public is not None and question.classes is not None and len(public) > 1:
            labels = question.classes[np.arange(len(public)) % len(question.classes)]
            clone(self.model).fit(self._features(public), labels)

    def _learnt(self, public: NDArray[Any]) -> Any:
        """A model of the labels; of a single label the one that always tells it."""
        if len(np.unique(self.labels_)) < 2:
            return DummyClassifier(strategy="most_frequent").fit(self._features(public), self.labels_)
        model = LogisticRegression(max_iter=1000) if self.model is None else clone(self.model)
        return model.fit(self._features(public), self.labels_)

    def _features(self, values: NDArray[Any]) -> NDArray[np.float64]:
        """Coordinates in units: numbers between zero and their weight."""
        if self._space is None:
            return np.asarray(values, np.float64)
        return self._space.coordinates(values) / self._space.unit
