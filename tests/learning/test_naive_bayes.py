"""Naive Bayes: exact oracles, mixed columns, and what strange data does not change."""

from typing import Any

import numpy as np
import pytest
from estimators import WITH_A_BUDGET, failures
from sklearn.datasets import load_iris
from sklearn.naive_bayes import GaussianNB

import bruit
from bruit.learning import NaiveBayes
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, basic
from bruit.tables import among, within

X, Y = load_iris(return_X_y=True)
BOUNDS = [within(low, high, grid="0.1") for low, high in (("4.3", "7.9"), (2, "4.4"), (1, "6.9"), ("0.1", "2.5"))]
SEX = among(["f", "m"])


def model(neighbours: Any = ADD_OR_REMOVE_ONE, *, epsilon: float = 1, delta: float = 0, **settings: Any) -> NaiveBayes:
    book = bruit.Ledger("rows", epsilon=1000, delta=0.1, neighbours=neighbours, person=EACH_ROW)
    stated: dict[str, Any] = {
        "domain": BOUNDS,
        "classes": [0, 1, 2],
        "budget": book.budget(epsilon=epsilon, delta=delta),
    }
    return NaiveBayes(**stated | settings)


def test_scikit_learn_checks_pass() -> None:
    assert failures(NaiveBayes(budget=bruit.WITHOUT_PRIVACY)) == {}


def test_scikit_learn_checks_pass_with_a_budget(tmp_path: Any) -> None:
    store = f"sqlite:///{tmp_path}/book.db"
    book = bruit.Ledger("checks", epsilon=9000, neighbours=REPLACE_ONE, person=EACH_ROW, store=store)
    asked = NaiveBayes(domain=within(-9, 9, grid="0.01"), classes=[0, 1, 2], budget=book.budget(epsilon=20))
    assert failures(asked, allowed=WITH_A_BUDGET) == {}


def test_without_privacy_it_is_gaussian_naive_bayes() -> None:
    ours = NaiveBayes(budget=bruit.WITHOUT_PRIVACY).fit(X, Y)
    np.testing.assert_allclose(ours.predict_proba(X), GaussianNB().fit(X, Y).predict_proba(X), atol=1e-6)


def test_without_privacy_a_domain_only_clamps() -> None:
    ours = NaiveBayes(domain=BOUNDS, budget=bruit.WITHOUT_PRIVACY).fit(X, Y)
    theirs = GaussianNB().fit(X, Y)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.98


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_much_budget_gives_nearly_the_exact_classes(neighbours: Any, delta: float) -> None:
    found = model(neighbours, epsilon=400, delta=delta, size=150, random_state=1).fit(X, Y)
    assert np.mean(found.predict(X) == GaussianNB().fit(X, Y).predict(X)) > 0.97
    np.testing.assert_allclose(found.class_prior_, 1 / 3, atol=0.02)


def test_categories_are_counted_by_class() -> None:
    rows = np.array([["f"], ["f"], ["f"], ["m"], ["m"], ["never seen"]] * 50, object)
    labels = np.array([0, 0, 1, 1, 1, 1] * 50)
    found = model(epsilon=50, domain=[SEX], classes=[0, 1], size=300, random_state=1).fit(rows, labels)
    shares = found.predict_proba([["f"], ["m"], ["other"]])
    # counts are off by about 0.3 and smoothed by about 1.3: shares of a hundred rows are off by hundredths at most
    np.testing.assert_allclose(shares[:, 0], [2 / 3, 0, 0], atol=0.03)


def test_numbers_and_categories_stand_together_and_the_price_is_the_whole_budget() -> None:
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 2, 400)
    rows = np.column_stack([labels + 0.3 * rng.normal(size=400), np.where(rng.random(400) < 0.8, labels, 1 - labels)])
    asked = model(epsilon=8, domain=[within(-1, 2, grid="0.01"), among([0, 1])], classes=[0, 1], size=400)
    found = asked.fit(rows, labels)
    assert found.score(rows, labels) > 0.9
    (entry,) = asked.budget.ledger.entries
    assert basic(entry.loss) == (8, 0)


@pytest.mark.parametrize("change", [lambda v: v * 0, lambda v: v * 1e9, lambda v: v * np.nan], ids=["0", "far", "nan"])
def test_rule_2_strange_columns_change_no_error_and_no_charge(change: Any) -> None:
    asked = model(epsilon=1)
    assert np.isfinite(asked.fit(change(X), Y).predict_proba(X)).all()
    assert asked.budget.ledger.spent.epsilon == 1
