"""Principal components: an exact oracle, noisy ones, and what strange data does not change."""

from typing import Any

import numpy as np
import pytest
from estimators import WITH_A_BUDGET, failures
from sklearn import decomposition

import bruit
from bruit.learning import PCA
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE
from bruit.tables import within

WIDE = within(-4, 4, grid="0.001")


def rows(n: int = 2000) -> Any:
    rng = np.random.default_rng(1)
    return rng.normal(size=(n, 3)) @ np.array([[1, 0.8, 0], [0, 0.3, 0.2], [0, 0, 0.1]]) + [0.5, 0, -0.5]


def model(neighbours: Any = ADD_OR_REMOVE_ONE, *, epsilon: float = 1, delta: float = 0, **settings: Any) -> PCA:
    book = bruit.Ledger("rows", epsilon=1000, delta=0.1, neighbours=neighbours, person=EACH_ROW)
    return PCA(2, **{"domain": WIDE, "budget": book.budget(epsilon=epsilon, delta=delta)} | settings)


def test_scikit_learn_checks_pass() -> None:
    assert failures(PCA(budget=bruit.WITHOUT_PRIVACY)) == {}


def test_scikit_learn_checks_pass_with_a_budget(tmp_path: Any) -> None:
    store = f"sqlite:///{tmp_path}/book.db"
    book = bruit.Ledger("checks", epsilon=9000, neighbours=REPLACE_ONE, person=EACH_ROW, store=store)
    assert failures(PCA(domain=WIDE, budget=book.budget(epsilon=20)), allowed=WITH_A_BUDGET) == {}


def test_without_privacy_it_is_scikit_learns() -> None:
    ours, theirs = PCA(2, budget=bruit.WITHOUT_PRIVACY).fit(rows()), decomposition.PCA(2).fit(rows())
    np.testing.assert_allclose(np.abs(ours.components_ @ theirs.components_.T), np.eye(2), atol=1e-9)
    np.testing.assert_allclose(ours.explained_variance_, theirs.explained_variance_)
    np.testing.assert_allclose(ours.explained_variance_ratio_, theirs.explained_variance_ratio_)


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("delta", [0, 1e-6])
def test_much_budget_gives_nearly_the_exact_components(neighbours: Any, delta: float) -> None:
    found = model(neighbours, epsilon=100, delta=delta, size=2000, random_state=1).fit(rows())
    theirs = decomposition.PCA(2).fit(np.clip(rows(), -4, 4))
    np.testing.assert_allclose(np.abs(found.components_ @ theirs.components_.T), np.eye(2), atol=0.05)
    np.testing.assert_allclose(found.mean_, theirs.mean_, atol=0.01)


def test_rows_go_there_and_back() -> None:
    found = model(epsilon=100, random_state=1, domain=WIDE).set_params(n_components=3).fit(rows())
    np.testing.assert_allclose(found.inverse_transform(found.transform(rows())), np.clip(rows(), -4, 4), atol=0.01)
    assert list(found.get_feature_names_out()) == ["pca0", "pca1", "pca2"]


def test_rule_12_a_row_has_the_same_coordinates_in_every_table() -> None:
    """Products of matrices round a row by its place and by the number of rows: a step after this one counts cells."""
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (200, 10))
    model = PCA(n_components=10, domain=within(-1, 1, grid="1e-9"), budget=bruit.WITHOUT_PRIVACY).fit(X)
    row = X[:1]
    for places in (model.transform, model.inverse_transform):
        alone = places(row)
        assert all((places(np.repeat(row, rows, 0)) == alone).all() for rows in range(2, 40))


def test_more_components_than_columns_are_refused_before_anything_is_charged() -> None:
    asked = model().set_params(n_components=4)
    with pytest.raises(ValueError, match="n_components=4"):
        asked.fit(rows())
    assert not asked.budget.ledger.entries


@pytest.mark.parametrize("change", [lambda v: v * 0, lambda v: v * 1e9, lambda v: v * np.nan], ids=["0", "far", "nan"])
def test_rule_2_strange_columns_change_no_error_and_no_charge(change: Any) -> None:
    asked = model(epsilon=1)
    assert np.isfinite(asked.fit(change(rows(50))).components_).all()
    assert asked.budget.ledger.spent.epsilon == 1
