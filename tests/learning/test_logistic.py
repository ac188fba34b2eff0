"""Logistic regression: an exact oracle, coverage by simulation, and what strange data does not change."""

from typing import Any

import numpy as np
import pytest
from estimators import WITH_A_BUDGET, failures
from scipy import stats
from scipy.special import expit
from sklearn.linear_model import LogisticRegression as Exact

import bruit
from bruit.learning import LogisticRegression
from bruit.learning.linear_models import _newton
from bruit.learning.linear_models._newton import EACH, _sums
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE
from bruit.tables import within

UNIT = within(-1, 1, grid="0.001")
SLOPES = np.array([1.5, -1.0])


def rows(n: int, rng: np.random.Generator) -> tuple[Any, Any]:
    X = rng.uniform(-1, 1, (n, 2))
    return X, rng.random(n) < expit(X @ SLOPES + 0.3)


def model(neighbours: Any = ADD_OR_REMOVE_ONE, *, epsilon: float, **settings: Any) -> LogisticRegression:
    book = bruit.Ledger("rows", epsilon=1000, delta=0.1, neighbours=neighbours, person=EACH_ROW)
    stated: dict[str, Any] = {"domain": UNIT, "classes": [False, True], "budget": book.budget(epsilon=epsilon)}
    return LogisticRegression(**stated | settings)


def test_scikit_learn_checks_pass() -> None:
    assert failures(LogisticRegression(budget=bruit.WITHOUT_PRIVACY)) == {}


def test_scikit_learn_checks_pass_with_a_budget(tmp_path: Any) -> None:
    store = f"sqlite:///{tmp_path}/book.db"
    book = bruit.Ledger("checks", epsilon=9000, neighbours=REPLACE_ONE, person=EACH_ROW, store=store)
    asked = LogisticRegression(domain=UNIT, classes=[0, 1, 2], budget=book.budget(epsilon=20))
    assert failures(asked, allowed=WITH_A_BUDGET) == {}


def test_without_privacy_it_is_the_maximum_likelihood() -> None:
    X, y = rows(500, np.random.default_rng(1))
    ours = LogisticRegression(budget=bruit.WITHOUT_PRIVACY).fit(X, y)
    np.testing.assert_allclose(ours.coef_, Exact(C=1e9).fit(X, y).coef_, rtol=1e-3)


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_much_budget_gives_nearly_the_exact_coefficients(neighbours: Any) -> None:
    X, y = rows(3000, np.random.default_rng(2))
    found = model(neighbours, epsilon=500, size=3000, random_state=1).fit(X, y)
    np.testing.assert_allclose(found.coef_, Exact(C=1e9).fit(X, y).coef_, atol=0.03)


def test_intervals_cover_the_population() -> None:
    """150 tables, two slopes: each covers at 0.95, so both counts lie in a window of alarm 1e-9."""
    rng, covered = np.random.default_rng(3), np.zeros(2, int)
    for seed in range(150):
        X, y = rows(2000, rng)
        interval = model(epsilon=3, size=2000, random_state=seed).fit(X, y).coef_interval_
        covered += (interval.low[0] <= SLOPES) & (interval.high[0] >= SLOPES)
    assert (covered >= stats.binom.ppf(5e-10, 150, 0.95)).all()
    assert (interval.high - interval.low < 1.5).all(), "intervals that say something"


def test_intervals_cover_the_population_where_a_person_has_five_equal_rows() -> None:
    rng, covered = np.random.default_rng(8), np.zeros(2, int)
    for seed in range(80):
        X, y = rows(1500, rng)
        book = bruit.Ledger("people", epsilon=1000, neighbours=ADD_OR_REMOVE_ONE, person="id")
        price = book.budget(epsilon=300)
        asked = model(epsilon=1, budget=price, rows_per_person=5, size=7500, random_state=seed)
        people = np.repeat(np.arange(1500), 5)
        interval = asked.fit(np.repeat(X, 5, axis=0), np.repeat(y, 5), groups=people).coef_interval_
        covered += (interval.low[0] <= SLOPES) & (interval.high[0] >= SLOPES)
    assert np.isfinite(interval.high).all()
    assert (covered >= stats.binom.ppf(5e-10, 80, 0.95)).all()


def test_without_privacy_equal_rows_of_a_person_narrow_no_interval() -> None:
    X, y = rows(400, np.random.default_rng(9))
    once = LogisticRegression(budget=bruit.WITHOUT_PRIVACY).fit(X, y).coef_interval_
    repeated = LogisticRegression(budget=bruit.WITHOUT_PRIVACY, rows_per_person=5)
    people = np.repeat(np.arange(400), 5)
    again = repeated.fit(np.repeat(X, 5, axis=0), np.repeat(y, 5), groups=people).coef_interval_
    np.testing.assert_allclose(again.high - again.low, once.high - once.low, rtol=0.01)


def test_little_budget_still_finds_the_larger_class_and_gives_no_interval() -> None:
    X, y = rows(2000, np.random.default_rng(4))
    y |= X[:, 0] > -0.8
    found = model(epsilon=0.02, size=2000, random_state=1).fit(X, y)
    assert np.isinf(found.coef_interval_.high).all()
    assert found.score(X, y) > 0.5


def test_few_rows_of_unknown_number_do_not_drown() -> None:
    """Three rounds at other coefficients each would: some of these models would be worse than the larger class."""
    rng = np.random.default_rng(9)
    X = np.column_stack([rng.uniform(-1, 1, 1500), rng.choice([-1.0, 1.0], (1500, 3))])
    y = X[:, 0] > 0
    found = [model(epsilon=0.5, random_state=seed).fit(X, y) for seed in range(20)]
    assert min(each.score(X, y) for each in found) > 0.75
    assert np.isinf(found[0].coef_interval_.high).all()


def test_no_row_moves_a_sum_further_than_it_is_paid_for() -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        z = np.column_stack([np.full(1, 1024), rng.choice([-1024, 1024, 517], (1, 3))])
        theta = rng.normal(0, 3, 4) * rng.integers(0, 2)
        gradient, square = _sums(z, rng.random(1) < 0.5, theta)
        assert max(np.abs(gradient).max(), np.abs(square).max()) <= EACH


def test_several_classes_are_told_apart() -> None:
    rng = np.random.default_rng(6)
    X = rng.uniform(-1, 1, (3000, 2))
    y = np.digitize(X[:, 0] + 0.1 * rng.normal(size=3000), [-0.4, 0.4])
    found = model(epsilon=20, classes=[0, 1, 2], size=3000, random_state=1).fit(X, y)
    assert found.coef_.shape == (3, 2)
    np.testing.assert_allclose(found.predict_proba(X).sum(axis=1), 1)
    assert found.score(X, y) > 0.6  # the middle class is not linear


@pytest.mark.parametrize("change", [lambda X: X * 0, lambda X: X * 1e9, lambda X: X * np.nan], ids=["0", "far", "nan"])
def test_rule_2_strange_columns_change_no_error_and_no_charge(change: Any) -> None:
    X, y = rows(100, np.random.default_rng(7))
    asked = model(epsilon=1, size=100)
    assert np.isfinite(asked.fit(change(X), y).coef_).all()
    assert asked.budget.ledger.spent.epsilon == 1


def test_the_residual_of_a_row_does_not_hang_on_the_rows_beside_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A product of matrices may sum in another order at another place; of what is exact every order is the same."""
    seen: list[Any] = []
    monkeypatch.setattr(_newton, "expit", lambda odds: (seen.append(odds), expit(odds))[1])  # type: ignore[func-returns-value]
    rng = np.random.default_rng(0)
    for columns in (2, 3, 5, 9, 17, 33):
        z, theta = rng.integers(-1024, 1025, (1001, columns)), rng.normal(size=columns)
        for left_out in range(4):
            _sums(z[left_out:], np.ones(len(z) - left_out, bool), theta)
            assert np.array_equal(seen[-1], seen[-1 - left_out][left_out:])
