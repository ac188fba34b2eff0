"""scikit-learn's own checks of an estimator, and what a private one must fail because errors would tell of records."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.utils.estimator_checks import check_estimator

VALUES_RAISE = "an error that depends on values would tell of a record"
NOISE = "every fit draws fresh noise and predicts differently"
PUBLIC = "the classes are stated, not read from the data"

WITH_A_BUDGET = {
    "check_estimators_empty_data_messages": VALUES_RAISE,
    "check_classifiers_regression_target": VALUES_RAISE,
    "check_supervised_y_no_nan": VALUES_RAISE,
    "check_classifiers_one_label": PUBLIC,
    "check_classifiers_classes": PUBLIC,
    "check_clustering": "no labels of private rows are kept",
    "check_decision_proba_consistency": PUBLIC,
    "check_classifiers_train": NOISE,
    "check_classifier_data_not_an_array": NOISE,
    "check_regressor_data_not_an_array": NOISE,
    "check_regressors_train": NOISE,
    "check_regressors_int": NOISE,
    "check_supervised_y_2d": NOISE,
    "check_fit_idempotent": NOISE,
    "check_methods_subset_invariance": NOISE,
    "check_dict_unchanged": NOISE,
}
"""The checks that a private estimator is allowed to fail, and why."""


def failures(estimator: Any, *, allowed: dict[str, str] | None = None) -> dict[str, str]:
    """The checks that failed beyond those that are allowed to, with what they said."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(estimator, expected_failed_checks=allowed or {}, on_fail=None)
    return {each["check_name"]: repr(each["exception"]) for each in results if each["status"] == "failed"}
