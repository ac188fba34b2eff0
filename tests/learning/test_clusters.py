"""k-means: found clusters, noisy rounds, and what strange data does not change."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from estimators import WITH_A_BUDGET, failures
from sklearn.cluster import KMeans as Exact

import bruit
from bruit.channels import CubeNoise
from bruit.learning import KMeans, clusters
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, Pure, basic
from bruit.tables import within

UNIT = within(-1, 1, grid="0.001")
CENTRES = np.array([[-0.6, -0.6], [0.6, -0.5], [0.0, 0.7]])


def rows(n: int = 3000) -> Any:
    rng = np.random.default_rng(1)
    return np.clip(CENTRES[rng.integers(0, 3, n)] + rng.normal(0, 0.1, (n, 2)), -1, 1)


def model(neighbours: Any = ADD_OR_REMOVE_ONE, *, epsilon: float = 1, **settings: Any) -> KMeans:
    book = bruit.Ledger("rows", epsilon=1000, neighbours=neighbours, person=EACH_ROW)
    return KMeans(3, **{"domain": UNIT, "budget": book.budget(epsilon=epsilon)} | settings)


def test_scikit_learn_checks_pass() -> None:
    assert failures(KMeans(budget=bruit.WITHOUT_PRIVACY)) == {}


def test_scikit_learn_checks_pass_with_a_budget(tmp_path: Any) -> None:
    store = f"sqlite:///{tmp_path}/book.db"
    book = bruit.Ledger("checks", epsilon=9000, neighbours=REPLACE_ONE, person=EACH_ROW, store=store)
    assert failures(KMeans(3, domain=UNIT, budget=book.budget(epsilon=20)), allowed=WITH_A_BUDGET) == {}


def test_without_privacy_it_is_as_good_as_scikit_learns() -> None:
    data = rows()
    ours = KMeans(3, budget=bruit.WITHOUT_PRIVACY, random_state=1).fit(data)
    assert -ours.score(data) == pytest.approx(Exact(3, n_init=5, random_state=1).fit(data).inertia_, rel=1e-3)
    assert (ours.labels_ == ours.predict(data)).all()


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_clusters_are_found_and_the_price_is_the_whole_budget(neighbours: Any) -> None:
    asked = model(neighbours, epsilon=2, size=3000, random_state=1)
    found = asked.fit(rows()).cluster_centers_
    nearest = np.abs(found[:, None] - CENTRES).max(axis=2).min(axis=0)
    assert (nearest < 0.1).all()
    (entry,) = asked.budget.ledger.entries
    assert basic(entry.loss) == (2, 0)
    assert not hasattr(asked, "labels_"), "labels of private rows are not kept"


def test_distances_are_those_from_the_centres() -> None:
    found = model(epsilon=5, random_state=1).fit(rows())
    np.testing.assert_allclose(found.transform(found.cluster_centers_).diagonal(), 0, atol=0.002)
    assert (found.predict(rows()) == found.transform(rows()).argmin(axis=1)).all()


@pytest.mark.parametrize("change", [lambda v: v * 0, lambda v: v * 1e9, lambda v: v * np.nan], ids=["0", "far", "nan"])
def test_rule_2_strange_columns_change_no_error_and_no_charge(change: Any) -> None:
    asked = model(epsilon=1)
    found = asked.fit(change(rows(50)))
    assert (np.abs(found.cluster_centers_) <= 1).all()
    assert asked.budget.ledger.spent.epsilon == 1


def test_distances_of_private_rows_are_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """Then the nearest centre of a row is the same whichever rows are beside it."""
    used: list[Any] = []
    nearest = clusters._nearest
    monkeypatch.setattr(clusters, "_nearest", lambda rows, centres: (used.append(centres), nearest(rows, centres))[1])  # type: ignore[func-returns-value]
    centres = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    noise = CubeNoise(Fraction(1), 3, Pure(1, neighbours=ADD_OR_REMOVE_ONE))
    clusters._move_centres(np.zeros((5, 2), np.int64), centres, noise, rng=np.random.default_rng(0))
    assert np.array_equal(np.rint(used[0] * 2**20), used[0] * 2**20)
