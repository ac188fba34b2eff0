"""Linear regression: exact oracles, coverage by simulation, and what strange data does not change."""

from typing import Any

import numpy as np
import pytest
from estimators import WITH_A_BUDGET, failures
from scipy import stats
from sklearn.linear_model import LinearRegression as Exact

import bruit
from bruit.learning import LinearRegression
from bruit.learning.estimator.contract import FitRequest
from bruit.learning.linear_models._moments import Products, sum_of_products
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE
from bruit.tables import among, within

UNIT, WIDE = within(-1, 1, grid="0.001"), within(-2, 2, grid="0.001")
SLOPES = np.array([0.5, -0.3])


def rows(n: int, rng: np.random.Generator, *, low: float = -1) -> tuple[Any, Any]:
    X = rng.uniform(low, 1, (n, 2))
    return X, X @ SLOPES + 0.1 + rng.normal(0, 0.3, n)


def paid(neighbours: Any = ADD_OR_REMOVE_ONE, **price: float) -> Any:
    return bruit.Ledger("rows", epsilon=1000, delta=0.1, neighbours=neighbours, person=EACH_ROW).budget(**price)


def test_scikit_learn_checks_pass() -> None:
    assert failures(LinearRegression(budget=bruit.WITHOUT_PRIVACY)) == {}


def test_scikit_learn_checks_pass_with_a_budget(tmp_path: Any) -> None:
    store = f"sqlite:///{tmp_path}/book.db"
    book = bruit.Ledger("checks", epsilon=9000, neighbours=REPLACE_ONE, person=EACH_ROW, store=store)
    model = LinearRegression(domain=WIDE, target=WIDE, budget=book.budget(epsilon=20))
    assert failures(model, allowed=WITH_A_BUDGET) == {}


def test_without_privacy_it_is_least_squares() -> None:
    X, y = rows(200, np.random.default_rng(1))
    ours, theirs = LinearRegression(budget=bruit.WITHOUT_PRIVACY).fit(X, y), Exact().fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_)
    assert ours.intercept_ == pytest.approx(theirs.intercept_)
    slope = stats.linregress(X[:, 0], y)
    one = LinearRegression(budget=bruit.WITHOUT_PRIVACY).fit(X[:, :1], y)
    reach = stats.t.ppf(0.975, 198) * slope.stderr
    assert one.coef_interval_.high[0] == pytest.approx(slope.slope + reach)


@pytest.mark.parametrize("delta", [0.0, 1e-6])
@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_much_budget_gives_nearly_the_exact_coefficients(neighbours: Any, delta: float) -> None:
    X, y = rows(2000, np.random.default_rng(2))
    price = paid(neighbours, epsilon=500, delta=delta)
    model = LinearRegression(domain=UNIT, target=WIDE, budget=price, size=2000, random_state=1).fit(X, y)
    np.testing.assert_allclose(model.coef_, Exact().fit(X, np.clip(y, -2, 2)).coef_, atol=0.005)


def test_intervals_cover_the_population() -> None:
    """200 tables, two slopes: each covers at 0.95, so both counts lie in a window of alarm 1e-9."""
    rng, covered = np.random.default_rng(3), np.zeros(2, int)
    for seed in range(200):
        X, y = rows(1000, rng)
        price = paid(epsilon=2)
        model = LinearRegression(domain=UNIT, target=WIDE, budget=price, size=1000, random_state=seed).fit(X, y)
        covered += (model.coef_interval_.low <= SLOPES) & (model.coef_interval_.high >= SLOPES)
    assert (covered >= stats.binom.ppf(5e-10, 200, 0.95)).all()
    assert (model.coef_interval_.high - model.coef_interval_.low < 0.5).all(), "intervals that say something"


COVERED = [
    (neighbours, missing, off, epsilon)
    for neighbours in (ADD_OR_REMOVE_ONE, REPLACE_ONE)
    for missing in (0.0, 0.1, 0.3)
    for off in (None, 0.99, 1.0, 1.01)
    for epsilon in (0.5, 1, 5)
]
"""Relations, missing rates, stated sizes as shares of the true one (or none), prices."""


def coverage(
    neighbours: Any, missing: float, off: float | None, epsilon: float, tables: int, *, low: float = -1
) -> int:
    """How many of two slopes in so many tables lie in their intervals of 95 %."""
    rng, covered = np.random.default_rng([int(100 * missing), int(10 * epsilon)]), 0
    for seed in range(tables):
        X, y = rows(2000, rng, low=low)
        X = np.where(rng.random((2000, 1)) < missing, np.nan, X)
        stated = None if off is None else int(2000 * off)
        price = paid(neighbours, epsilon=epsilon)
        model = LinearRegression(domain=UNIT, target=WIDE, budget=price, size=stated, random_state=seed).fit(X, y)
        covered += int(((model.coef_interval_.low <= SLOPES) & (model.coef_interval_.high >= SLOPES)).sum())
    return covered


@pytest.mark.parametrize(("neighbours", "missing", "off"), [(ADD_OR_REMOVE_ONE, 0.0, 1.01), (REPLACE_ONE, 0.1, None)])
def test_intervals_cover_where_rows_are_missing_or_the_stated_size_is_wrong(
    neighbours: Any, missing: float, off: float | None
) -> None:
    """The size is soft: taken as exact, these covered 63 % and nothing."""
    assert coverage(neighbours, missing, off, 1, 60) >= stats.binom.ppf(1e-6, 120, 0.95)


def test_the_planted_size_that_is_taken_as_exact_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """Columns away from the middle of their bounds, a third of the rows missing."""
    enough = stats.binom.ppf(1e-6, 40, 0.95)
    assert coverage(REPLACE_ONE, 0.3, None, 50, 20, low=0) >= enough
    monkeypatch.setattr(FitRequest, "certain_size", property(lambda asked: asked.size))
    assert coverage(REPLACE_ONE, 0.3, None, 50, 20, low=0) < enough


@pytest.mark.stress
@pytest.mark.parametrize(("neighbours", "missing", "off", "epsilon"), COVERED)
def test_intervals_cover_at_every_missing_rate_stated_size_and_price(
    neighbours: Any, missing: float, off: float | None, epsilon: float
) -> None:
    assert coverage(neighbours, missing, off, epsilon, 600) >= 0.93 * 1200


def test_a_size_that_no_record_can_change_is_not_noised() -> None:
    """Rows exchanged whole, no cell that can drop one: the number of rows is public and needs no part of the price."""
    X, y = rows(2000, np.random.default_rng(2))
    kept, target = within(-1, 1, grid="0.001", missing=0), within(-2, 2, grid="0.001", missing=0)
    for domain, exact in ((kept, True), (UNIT, False)):
        model = LinearRegression(domain=domain, target=target, budget=paid(REPLACE_ONE, epsilon=1), random_state=1)
        asked = model._ask(X, y)
        assert (asked.certain_size == 2000) == exact


def test_intervals_cover_the_population_where_a_person_has_five_equal_rows() -> None:
    """The hardest case: the rows of a person tell no more than one of them."""
    rng, covered = np.random.default_rng(8), np.zeros(2, int)
    for seed in range(100):
        X, y = rows(600, rng)
        book = bruit.Ledger("people", epsilon=1000, neighbours=ADD_OR_REMOVE_ONE, person="id")
        settings: dict[str, Any] = {
            "domain": UNIT,
            "target": WIDE,
            "rows_per_person": 5,
            "size": 3000,
            "random_state": seed,
        }
        model = LinearRegression(budget=book.budget(epsilon=100), **settings)
        interval = model.fit(
            np.repeat(X, 5, axis=0), np.repeat(y, 5), groups=np.repeat(np.arange(600), 5)
        ).coef_interval_
        covered += (interval.low <= SLOPES) & (interval.high >= SLOPES)
    assert (covered >= stats.binom.ppf(5e-10, 100, 0.95)).all()


@pytest.mark.parametrize("domain", [None, UNIT])
def test_without_privacy_equal_rows_of_a_person_narrow_no_interval(domain: Any) -> None:
    X, y = rows(400, np.random.default_rng(9))
    once = LinearRegression(domain=domain, budget=bruit.WITHOUT_PRIVACY).fit(X, y).coef_interval_
    model = LinearRegression(domain=domain, budget=bruit.WITHOUT_PRIVACY, rows_per_person=5)
    people = np.repeat(np.arange(400), 5)
    again = model.fit(np.repeat(X, 5, axis=0), np.repeat(y, 5), groups=people).coef_interval_
    np.testing.assert_allclose(again.high - again.low, once.high - once.low, rtol=0.01)


def test_the_prediction_of_a_row_does_not_hang_on_the_rows_beside_it() -> None:
    rng = np.random.default_rng(10)
    X = rng.uniform(-1, 1, (300, 30))
    model = LinearRegression(budget=bruit.WITHOUT_PRIVACY).fit(X, X @ rng.normal(size=30))
    alone = np.concatenate([model.predict(row[None]) for row in X])
    for rows_beside in (300, 299, 7, 2):
        np.testing.assert_array_equal(model.predict(X[:rows_beside]), alone[:rows_beside])


def test_drowned_coefficients_have_no_interval() -> None:
    X, y = rows(50, np.random.default_rng(4))
    model = LinearRegression(domain=UNIT, target=WIDE, budget=paid(epsilon=0.01), size=50, random_state=1).fit(X, y)
    assert np.isinf(model.coef_interval_.high).all()
    assert (np.abs(model.predict(X)) <= 2).all()


def test_sums_of_products_are_exact_and_no_row_moves_one_further_than_it_is_paid_for() -> None:
    rng = np.random.default_rng(5)
    z = rng.integers(-1024, 1025, (70_000, 3))
    np.testing.assert_array_equal(sum_of_products(z), z.T @ z)
    assert np.abs(sum_of_products(np.full((1, 3), 1024))).max() == 1024**2


def test_the_covariance_of_a_noisy_matrix_times_weights() -> None:
    weights = np.array([1.0, -2.0, 0.5])
    products = Products(np.zeros((3, 3)), 2.0, np.ones((3, 3), bool))
    entries = np.triu_indices(3)
    found = np.zeros((3, 3))
    for i, j in zip(*entries, strict=True):  # each entry of the upper triangle by itself
        unit = np.zeros((3, 3))
        unit[i, j] = unit[j, i] = 2.0
        found += np.outer(unit @ weights, unit @ weights)
    np.testing.assert_allclose(products.of(weights), found)


STRANGE = {
    "constant column": lambda X: X * [0, 1],
    "outside": lambda X: X * [1e9, 1],
    "missing": lambda X: np.where(np.arange(X.size).reshape(X.shape) == 0, np.nan, X),
}


@pytest.mark.parametrize("change", STRANGE.values(), ids=STRANGE)
def test_rule_2_strange_columns_change_no_error_and_no_charge(change: Any) -> None:
    X, y = rows(100, np.random.default_rng(6))
    price = paid(epsilon=1)
    model = LinearRegression(domain=UNIT, target=WIDE, budget=price, size=100).fit(change(X), y)
    assert price.ledger.spent.epsilon == 1
    assert np.isfinite(model.coef_).all()


def test_categories_have_a_coefficient_each_but_the_first() -> None:
    X = np.array([["a"], ["b"], ["unseen"], ["a"]] * 100, object)
    y = np.array([0.0, 1.0, 0.5, 0.0] * 100)
    model = LinearRegression(domain=among(["a", "b"]), budget=bruit.WITHOUT_PRIVACY).fit(X, y)
    np.testing.assert_allclose([model.intercept_, *model.coef_], [0, 1, 0.5], atol=1e-9)
    private = LinearRegression(domain=[among(["a", "b"])], target=UNIT, budget=paid(epsilon=50), size=400)
    np.testing.assert_allclose(private.fit(X, y).predict([["b"], ["new"]]), [1, 0.5], atol=0.2)


def test_people_with_several_rows_are_bounded_and_paid_for() -> None:
    X, y = rows(60, np.random.default_rng(7))
    book = bruit.Ledger("people", epsilon=10, neighbours=ADD_OR_REMOVE_ONE, person="id")
    model = LinearRegression(domain=UNIT, target=WIDE, rows_per_person=3, budget=book.budget(epsilon=1))
    assert model.fit(X, y, groups=np.repeat(np.arange(6), 10)).guarantee_.person == "id"
