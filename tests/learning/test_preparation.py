"""Preparation before a private model: what learns from rows is refused, what is stated beforehand is free."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas
import polars
import pytest
from estimators import failures
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.compose import ColumnTransformer, TransformedTargetRegressor, make_column_selector
from sklearn.feature_selection import SelectFromModel, SelectKBest, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    KBinsDiscretizer,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier

import bruit
from bruit.errors import InvalidArgument, PrivacyError
from bruit.learning import PCA, DomainEncoder, LinearRegression, LogisticRegression, NaiveBayes, PrivateSearch
from bruit.learning.estimator.preparation import learns_unpaid
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, Assumption
from bruit.tables import among, within

UNIT = within(-3, 3, grid="0.01")
X = np.random.default_rng(1).normal(0, 1, (50, 2))
Y = (X[:, 0] > 0).astype(int)


def book() -> bruit.Ledger:
    return bruit.Ledger("rows", epsilon=1000, delta=1e-3, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)


def model(ledger: bruit.Ledger, **more: Any) -> LogisticRegression:
    return LogisticRegression(domain=UNIT, classes=[0, 1], budget=ledger.budget(epsilon=5), **more)


UNPAID = {
    "scaler": StandardScaler(),
    "bins": KBinsDiscretizer(3),
    "medians": SimpleImputer(strategy="median"),
    "categories": OneHotEncoder(),
    "choice of columns": SelectKBest(k=1),
    "inside columns": ColumnTransformer([("a", StandardScaler(), [0])], remainder="passthrough"),
    "the remainder": ColumnTransformer([("a", "passthrough", [0])], remainder=StandardScaler()),
    "a union": FeatureUnion([("a", Normalizer()), ("b", StandardScaler())]),
    "a pipeline": make_pipeline(Normalizer(), StandardScaler()),
    "components without privacy": PCA(1, budget=bruit.WITHOUT_PRIVACY),
}

FREE = {
    "nothing": "passthrough",
    "rows by themselves": Normalizer(),
    "a function": FunctionTransformer(np.tanh),
    "powers": PolynomialFeatures(2),
    "components paid before": FrozenEstimator(
        PCA(
            2,
            domain=UNIT,
            budget=bruit.Ledger("before", epsilon=9, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW).budget(epsilon=1),
        ).fit(X)
    ),
    "domains": DomainEncoder(domain=UNIT),
    "constants": SimpleImputer(strategy="constant", fill_value=0, keep_empty_features=True),
    "stated categories": OneHotEncoder(categories=[[0, 1], [0, 1]], handle_unknown="ignore", sparse_output=False),
    "columns": ColumnTransformer([("a", DomainEncoder(domain=UNIT), [0])], remainder="passthrough"),
}


TRUSTED = {
    "a function of its own": FunctionTransformer(lambda rows: rows - rows.mean(axis=0)),
    "a function that holds something": FunctionTransformer(np.clip, kw_args={"a_min": -1, "a_max": 1}),
    "frozen": FrozenEstimator(StandardScaler().fit([[0, 0], [1, 1]])),
    "columns chosen by rows": ColumnTransformer(
        [("a", "passthrough", lambda rows: [0, 1] if rows.mean() > 0 else [1, 0])]
    ),
    "in a union": FeatureUnion([("a", FunctionTransformer(abs)), ("b", "passthrough")]),
}


class SaysItLearnsNothing(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A step of a user, which says that it needs no fit."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        return tags

    def fit(self, X: Any, y: Any = None) -> Any:
        return self

    def transform(self, X: Any) -> Any:
        return X


class SaysNothing:
    """A step of a user without the tags of scikit-learn."""

    def fit(self, X: Any, y: Any = None) -> Any:
        return self

    def transform(self, X: Any) -> Any:
        return X


@pytest.mark.parametrize("name", UNPAID)
def test_a_step_that_learns_from_rows_outside_the_budget_is_refused(name: str) -> None:
    ledger = book()
    with pytest.raises(PrivacyError, match="learns from the rows outside the budget"):
        Pipeline([("step", UNPAID[name]), ("model", model(ledger))]).fit(X, Y)
    assert not ledger.entries


@pytest.mark.parametrize("name", TRUSTED)
def test_a_step_that_only_its_owner_knows_is_marked(name: str) -> None:
    found = Pipeline([("step", TRUSTED[name]), ("model", model(book()))]).fit(X, Y)
    assert found[-1].guarantee_.assumes == (Assumption.UNPAID_PREPARATION,)


def test_steps_of_a_user_are_marked_or_refused() -> None:
    ledger = book()
    with pytest.raises(PrivacyError, match="learns from the rows"):
        make_pipeline(SaysNothing(), model(ledger)).fit(X, Y)
    assert not ledger.entries
    found = make_pipeline(SaysItLearnsNothing(), model(ledger)).fit(X, Y)
    assert found[-1].guarantee_.assumes == (Assumption.UNPAID_PREPARATION,)


@pytest.mark.parametrize(
    ("chooser", "assumed"),
    [
        (make_column_selector(pattern="^[ab]$"), ()),
        (make_column_selector(dtype_include="number"), (Assumption.UNPAID_PREPARATION,)),
    ],
)
def test_columns_chosen_by_their_names_are_free_and_by_their_types_are_marked(chooser: Any, assumed: Any) -> None:
    """One record may make texts of a column, and so change what comes out for all others."""
    frame = pandas.DataFrame(X, columns=["a", "b"])
    chosen = ColumnTransformer([("chosen", "passthrough", chooser)])
    found = make_pipeline(chosen, model(book())).fit(frame, Y)
    assert found[-1].guarantee_.assumes == assumed


def test_a_target_changed_by_a_function_of_its_own_is_marked() -> None:
    line = LinearRegression(domain=UNIT, target=UNIT, budget=book().budget(epsilon=1))
    stays = TransformedTargetRegressor(line, func=np.tanh, inverse_func=np.arctanh, check_inverse=False)
    assert not stays.fit(X, X[:, 0]).regressor_.guarantee_.assumes
    moves = TransformedTargetRegressor(line, func=lambda y: y - y.mean(), inverse_func=abs, check_inverse=False)
    assert moves.fit(X, X[:, 0]).regressor_.guarantee_.assumes == (Assumption.UNPAID_PREPARATION,)


def test_columns_chosen_by_a_paid_model_are_paid_and_by_scores_are_not() -> None:
    ledger = book()
    found = make_pipeline(SelectFromModel(model(ledger)), model(ledger)).fit(X, Y)
    assert not found[-1].guarantee_.assumes
    assert ledger.spent.epsilon == 10
    counted = SelectFromModel(model(book()), max_features=lambda rows: 1 + int(rows[0, 0] > 0))
    told = make_pipeline(counted, model(book())).fit(X, Y)  # how many columns are kept is read off the rows
    assert told[-1].guarantee_.assumes == (Assumption.UNPAID_PREPARATION,)
    with pytest.raises(PrivacyError):
        make_pipeline(SelectFromModel(DecisionTreeClassifier()), model(ledger)).fit(X, Y)
    with pytest.raises(ValueError, match="SequentialFeatureSelector"):
        make_pipeline(SequentialFeatureSelector(model(ledger), n_features_to_select=1), model(ledger)).fit(X, Y)
    assert ledger.spent.epsilon == 10


def test_a_search_behind_a_step_that_is_trusted_says_so() -> None:
    ledger = book()
    bayes = NaiveBayes(domain=UNIT, classes=[0, 1])
    search = PrivateSearch(bayes, {"rows_per_person": [1]}, budget=ledger.budget(epsilon=9), tries=1)
    found = make_pipeline(FunctionTransformer(lambda rows: rows - rows.mean(axis=0)), search).fit(X, Y)
    assert found[-1].guarantee_.assumes == (Assumption.UNPAID_PREPARATION,)
    with pytest.raises(PrivacyError):
        make_pipeline(StandardScaler(), search).fit(X, Y)
    assert len(ledger.entries) == 1


def test_categories_whose_error_would_tell_of_a_row_are_not_free() -> None:
    assert learns_unpaid(OneHotEncoder(categories=[[0, 1]]))
    assert not learns_unpaid(OneHotEncoder(categories=[[0, 1]], handle_unknown="ignore"))


@pytest.mark.parametrize("counted", [{"min_frequency": 20}, {"max_categories": 2}])
def test_stated_categories_that_are_counted_are_not_free(counted: dict[str, int]) -> None:
    stated: Any = {"categories": [[0, 1, 2]] * 2}
    assert learns_unpaid(OneHotEncoder(**stated, handle_unknown="infrequent_if_exist", **counted))
    assert learns_unpaid(OrdinalEncoder(**stated, handle_unknown="use_encoded_value", unknown_value=-1, **counted))


def test_wrapped_pipelines_and_targets_are_seen_too() -> None:
    ledger = book()
    inner = make_pipeline(Normalizer(), model(ledger))
    with pytest.raises(PrivacyError):
        make_pipeline(StandardScaler(), inner).fit(X, Y)
    with pytest.raises(PrivacyError):
        GridSearchCV(make_pipeline(StandardScaler(), model(ledger)), {}, cv=2, error_score="raise").fit(X, Y)
    line = LinearRegression(domain=UNIT, target=UNIT, budget=ledger.budget(epsilon=1))
    with pytest.raises(PrivacyError):
        TransformedTargetRegressor(line, transformer=StandardScaler()).fit(X, X[:, 0])
    assert not ledger.entries


@pytest.mark.parametrize("name", FREE)
def test_a_step_that_learns_nothing_is_free(name: str) -> None:
    ledger = book()
    found = Pipeline([("step", FREE[name]), ("model", model(ledger))]).fit(X, Y)
    assert str(found[-1].guarantee_) == "ε = 5 for each row (add or remove one, by basic)"
    assert ledger.spent.epsilon == 5


def test_paid_components_and_exact_models_pass() -> None:
    ledger = book()
    paid = PCA(2, domain=UNIT, budget=ledger.budget(epsilon=1))
    make_pipeline(paid, model(ledger)).fit(X, Y)
    assert ledger.spent.epsilon == 6
    make_pipeline(StandardScaler(), LogisticRegression(budget=bruit.WITHOUT_PRIVACY)).fit(X, Y)


FRAME = {"age": [10.0, None, 30.0, 99.0] * 20, "job": ["cook", None, "spy", "clerk"] * 20}
DOMAINS = {"age": within(0, 40, grid=1, missing=20), "job": among(["clerk", "cook"])}


@pytest.mark.parametrize("make", [polars.DataFrame, pandas.DataFrame])
def test_frames_missing_values_and_rare_categories_are_encoded_by_their_domains(make: Any) -> None:
    encoder = DomainEncoder(domain=DOMAINS).fit(make(FRAME))
    assert list(encoder.get_feature_names_out()) == ["age", "job=clerk", "job=cook", "job=OTHER"]
    found = encoder.transform(make(FRAME))[:4]
    assert found.tolist() == [[-0.5, 0, 1, 0], [0, 0, 0, 1], [0.5, 0, 0, 1], [1, 1, 0, 0]]
    binned = DomainEncoder(domain=DOMAINS, categories="ordinal", bins=4).fit(make(FRAME))
    assert binned.transform(make(FRAME))[:4].tolist() == [[1, 1], [2, 2], [3, 2], [3, 0]]
    assert [each.highest for each in binned.domain_out_] == [3, 2]
    named = encoder.set_output(transform="polars").transform(make(FRAME))
    assert named.columns == list(encoder.get_feature_names_out())


@pytest.mark.parametrize("output", ["default", "pandas", "polars"])
def test_columns_of_frames_pass_through_a_column_transformer_to_a_private_model(output: str) -> None:
    ledger, frame = book(), pandas.DataFrame(FRAME)
    age, job = DomainEncoder(domain=DOMAINS["age"]), DomainEncoder(domain=DOMAINS["job"])
    columns = ColumnTransformer([("n", age, ["age"]), ("c", job, ["job"])]).set_output(transform=output)
    domains = [*age.fit(frame[["age"]]).domain_out_, *job.fit(frame[["job"]]).domain_out_]
    price = ledger.budget(epsilon=5)
    found = make_pipeline(columns, LogisticRegression(domain=domains, classes=[0, 1], budget=price))
    assert found.fit(frame, [0, 1] * 40).predict(frame).shape == (80,)
    assert not found[-1].guarantee_.assumes


def test_the_encoder_keeps_the_contract_of_scikit_learn_and_refuses_what_is_not_stated() -> None:
    assert not failures(DomainEncoder(domain=UNIT), allowed={"check_estimators_empty_data_messages": "values"})
    for wrong in ({}, {"domain": UNIT, "categories": "hash"}, {"domain": UNIT, "bins": 1}):
        with pytest.raises(InvalidArgument):
            DomainEncoder(**wrong).fit(X)
