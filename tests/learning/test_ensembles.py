"""Ensembles of scikit-learn around a private model: none prints a clean guarantee for rows that it rearranged."""

from __future__ import annotations

from typing import Any

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, StackingClassifier, VotingClassifier
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier

import bruit
from bruit.errors import PrivacyError
from bruit.learning import PCA, NaiveBayes
from bruit.learning.estimator.fitted_model import FittedModel
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, Assumption
from bruit.tables import within

X = np.random.default_rng(1).normal(0, 1, (60, 2))
Y = (X[:, 0] > 0).astype(int)
MARK = Assumption.UNPAID_PREPARATION


def book(**more: Any) -> bruit.Ledger:
    return bruit.Ledger("rows", epsilon=1000, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW, **more)


def bayes(ledger: bruit.Ledger) -> NaiveBayes:
    return NaiveBayes(domain=within(-3, 3, grid="0.01"), classes=[0, 1], budget=ledger.budget(epsilon=1))


class Around(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """An ensemble of somebody's own, which repeats rows."""

    def __init__(self, estimator: Any = None) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any) -> Any:
        self.fitted_ = self.estimator.fit(np.repeat(X, 3, axis=0), np.repeat(y, 3))
        return self


REARRANGING: dict[str, Any] = {
    "drawn without replacement": lambda model: BaggingClassifier(model, 2, max_samples=0.5, bootstrap=False),
    "labels that occur": lambda model: VotingClassifier([("a", model)]),
    "labels one by one": OneVsRestClassifier,
    "labels in pairs": OneVsOneClassifier,
    "labels of its own": SelfTrainingClassifier,
    "folds and a curve": lambda model: CalibratedClassifierCV(model, cv=2),
    "below a stack": lambda model: StackingClassifier([("a", model)], cv=2),
    "of somebody": Around,
    "in a pipeline": lambda model: VotingClassifier([("a", make_pipeline(Normalizer(), model))]),
}


def private_models(thing: Any, depth: int = 0) -> list[Any]:
    """The fitted private models that are reached from an object."""
    if isinstance(thing, FittedModel):
        return [thing] if "guarantee_" in vars(thing) else []
    if depth > 6:
        return []
    parts = thing if isinstance(thing, list | tuple) else getattr(thing, "__dict__", {}).values()
    return [model for part in parts for model in private_models(part, depth + 1)]


@pytest.mark.parametrize("name", REARRANGING)
def test_rows_that_an_ensemble_rearranged_are_marked(name: str) -> None:
    found = private_models(REARRANGING[name](bayes(book())).fit(X, Y))
    assert found
    assert all(MARK in model.guarantee_.assumes for model in found)


def test_rows_drawn_with_replacement_are_refused_before_anything_is_charged() -> None:
    """A row that is drawn twice moves two cells of a noisy count: it would be hidden by 2 ε, not by ε."""
    ledger = book()
    with pytest.raises(PrivacyError, match="draws rows with replacement"):
        BaggingClassifier(bayes(ledger), 2, random_state=1).fit(X, Y)
    assert not ledger.entries


def test_workers_in_other_threads_know_the_ensemble() -> None:
    ledger = book()
    with joblib.parallel_backend("threading", n_jobs=2):
        with pytest.raises(PrivacyError, match="draws rows with replacement"):
            BaggingClassifier(bayes(ledger), 4, n_jobs=2).fit(X, Y)
        assert not ledger.entries
        ensemble = OneVsRestClassifier(bayes(ledger), n_jobs=2).fit(X, np.arange(60) % 3)
    assert all(MARK in model.guarantee_.assumes for model in private_models(ensemble))


def test_workers_in_other_threads_do_not_know_the_steps_before_them_and_say_so() -> None:
    """What a scaler learned before several fits side by side is on another thread's stack."""
    ledger = book()
    components = PCA(1, domain=within(-3, 3, grid="0.01"), budget=ledger.budget(epsilon=1))
    several = MultiOutputClassifier(bayes(ledger), n_jobs=2)
    beside = FeatureUnion([("a", components), ("b", components)], n_jobs=2)
    with joblib.parallel_backend("threading", n_jobs=2):
        targets = make_pipeline(StandardScaler(), several).fit(X, np.column_stack([Y, 1 - Y]))
        columns = make_pipeline(StandardScaler(), beside).fit(X, Y)
    found = [*private_models(targets[-1].estimators_), *private_models(columns[-1].transformer_list)]
    assert [model.guarantee_.assumes for model in found] == [(MARK,)] * 4


def test_a_private_model_above_exact_ones_is_refused() -> None:
    """What exact models say of a row tells of its neighbours, and the last model would print its own ε."""
    ledger = book()
    chances = NaiveBayes(domain=within(0, 1, grid="0.01"), classes=[0, 1], budget=ledger.budget(epsilon=1))
    with pytest.raises(PrivacyError, match=r"'near' .* learns from the rows outside the budget"):
        StackingClassifier([("near", KNeighborsClassifier(1))], final_estimator=chances).fit(X, Y)
    assert not ledger.entries
    paid = StackingClassifier([("bayes", bayes(ledger))], final_estimator=chances, cv=2).fit(X, Y)
    assert MARK in paid.final_estimator_.guarantee_.assumes
    assert len(ledger.entries) == 4


def test_several_targets_are_only_several_fits() -> None:
    found = private_models(MultiOutputClassifier(bayes(book())).fit(X, np.column_stack([Y, 1 - Y])))
    assert [model.guarantee_.assumes for model in found] == [(), ()]
