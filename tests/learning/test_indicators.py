"""Linear models of many categories: noise for the few sums that a row moves, and what that is worth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import bruit
from bruit.channels import CubeNoise
from bruit.learning import AdditiveModel, LinearRegression, LogisticRegression, PrivateSearch
from bruit.learning.linear_models._descent import GRAIN, gradient, mean_of_looks, moments, plan_descent
from bruit.learning.linear_models._design import STEPS, Design
from bruit.learning.linear_models._moments import product_entries, sum_of_products, with_ones
from bruit.learning.linear_models._sparse_noise import SparseNoise, buy_for_few
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, basic
from bruit.tables import among, within

NAMES = [str(place) for place in range(25)]
DOMAIN = (within(-1, 1, grid="0.01"), among(NAMES), among(NAMES[:9], drop_others=True))
UNIT = within(-1, 1, grid="0.01")
ROW = st.tuples(st.integers(-100, 100), st.integers(0, 25), st.integers(0, 8), st.integers(-STEPS, STEPS))


@given(ROW)
def test_one_row_moves_no_more_products_than_are_paid_for(row: tuple[int, int, int, int]) -> None:
    design = Design(DOMAIN)
    values = np.column_stack([design.integers(np.array([row[:3]])), [[row[3]]]])
    moved = sum_of_products(with_ones(values))[np.triu_indices(design.columns + 2)]
    assert np.count_nonzero(moved) <= product_entries(len(DOMAIN) + 2, public_size=False)
    assert np.abs(moved).max() <= STEPS**2


@given(
    ROW,
    st.lists(st.floats(-50, 50), min_size=39, max_size=39),
    st.booleans(),
    st.floats(0, 1, exclude_max=True),
    st.booleans(),
)
def test_one_row_moves_no_more_of_a_release_than_is_paid_for(
    row: Any, theta: list[float], label: bool, dither: float, curves: bool
) -> None:
    design = Design(DOMAIN, first=0, curves=curves)
    rows = design.sparse(np.array([row[:3]]))
    moved = gradient(rows, np.array([label]), np.array(theta[: design.columns + 1]), np.array([dither]))
    looked = moments(rows.numbers, np.array([dither]))
    assert np.count_nonzero(moved) <= design.touched + 1
    assert np.count_nonzero(looked) <= 2 * len(design.places)
    assert max(np.abs(moved).max(), np.abs(looked).max()) <= GRAIN


def test_rule_7_looks_at_numbers_tell_the_noisy_whole_numbers_and_no_more() -> None:
    """Seven looks, of which a plan has so many: of neighbours whose noisy sums are the same nothing else is kept."""
    rng = np.random.default_rng(4)
    for exact in rng.integers(-1000, 1000, (200, 2, 1)):
        noise = rng.integers(-5000, 5000, (7, 2, 1))
        assert np.array_equal(mean_of_looks(exact, noise), mean_of_looks(exact + GRAIN, noise - GRAIN))


@pytest.mark.parametrize("curves", [False, True])
def test_the_sums_of_the_kernel_are_those_of_the_dense_matrix(curves: bool) -> None:
    rng = np.random.default_rng(2)
    design = Design(DOMAIN, first=0, curves=curves)
    values = np.column_stack([rng.integers(-100, 101, 2000), rng.integers(0, 26, 2000), rng.integers(0, 9, 2000)])
    theta, label = rng.normal(size=design.columns + 1), rng.random(2000) < 0.3
    dense = with_ones(design.integers(values)) / STEPS
    exact = (label - 1 / (1 + np.exp(-dense @ theta))) @ dense
    found = [gradient(design.sparse(values), label, theta, rng.random(2000)) / GRAIN for _ in range(50)]
    # One rounding is off by at most 1/16, its deviation is at most half of that: six deviations of a mean of fifty.
    assert np.abs(np.mean(found, axis=0) - exact).max() < 6 * np.sqrt(2000 / 50) / 2 / GRAIN


def test_loose_bounds_of_a_number_cost_little() -> None:
    rng = np.random.default_rng(3)
    number, name = rng.integers(0, 100, 20_000), rng.choice(NAMES, 20_000)
    X, y = np.column_stack([number.astype(object), name]), rng.random(20_000) < 1 / (1 + np.exp(5 - number / 10))
    found = []
    for high in (100, 2000):
        domain = [within(0, high, grid=1), among(NAMES)]
        model = LogisticRegression(
            domain=domain, classes=[False, True], budget=price(epsilon=1, delta=1e-6), size=20_000
        )
        assert plan_descent(model._ask(X, y), 1, curves=False).looks > 0
        found.append(model.fit(X, y).score(X, y))
    assert min(found) > 0.85  # the best rule is right .876 of the time


def people(n: int = 4000) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    first, second, number = rng.integers(0, 25, n), rng.integers(0, 9, n), rng.uniform(-1, 1, n)
    effect = rng.normal(0, 0.3, 25)
    y = np.clip(0.4 * number + effect[first] + rng.normal(0, 0.1, n), -1, 1)
    return np.column_stack([number.astype(object), np.array(NAMES)[first], np.array(NAMES)[second]]), y


def price(neighbours: Any = ADD_OR_REMOVE_ONE, epsilon: float = 2, delta: float | None = None) -> Any:
    book = bruit.Ledger("rows", epsilon=epsilon, delta=delta or 0, neighbours=neighbours, person=EACH_ROW)
    return book.budget(epsilon=epsilon, delta=delta)


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("delta", [None, 1e-6])
def test_categories_are_learnt_at_a_price_that_all_products_would_drown(neighbours: Any, delta: float | None) -> None:
    paid = price(neighbours, delta=delta)
    model = LinearRegression(domain=list(DOMAIN), target=UNIT, budget=paid, random_state=1).fit(*people())
    assert model.score(*people()) > 0.5
    assert model.guarantee_.epsilon <= 2
    X, y = people()
    paid = price(neighbours, delta=delta)
    clear = LogisticRegression(domain=list(DOMAIN), classes=[False, True], budget=paid, random_state=1).fit(X, y > 0)
    assert clear.score(X, y > 0) > max((y > 0).mean(), (y <= 0).mean()) + 0.05
    assert np.isinf(clear.coef_interval_.low).all()


@pytest.mark.parametrize(("size", "asked", "has"), [(300, None, False), (30_000, None, True), (30_000, False, False)])
def test_curves_come_where_public_numbers_leave_little_noise(size: int, asked: Any, has: bool) -> None:
    X, y = people()
    paid = price(delta=1e-6, epsilon=1)
    model = LogisticRegression(
        domain=list(DOMAIN), classes=[False, True], curves=asked, size=size, budget=paid, random_state=1
    )
    plan = model.fit(X[:300], y[:300] > 0)._design
    assert plan is not None
    assert np.isinf(model.coef_interval_.low).all()  # a descent
    assert plan.curves == has
    assert model.coef_.shape == (1, plan.columns)
    assert model.decision_function(X[:5]).shape == (5,)


@pytest.mark.parametrize("domain", [DOMAIN, DOMAIN[1:]])
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}])
@pytest.mark.parametrize("size", [None, 40_000])
def test_rule_13_a_descent_on_nobody_is_not_refused_after_the_charge(domain: Any, price: Any, size: Any) -> None:
    """No row, and rows that are all dropped: an error here would tell that nobody has a label of the list."""
    for labels in ([], ["never stated"] * 3):
        ledger = bruit.Ledger("rows", epsilon=9, delta=1e-6, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
        model = LogisticRegression(domain=domain, classes=[0, 1], size=size, budget=ledger.budget(**price))
        rows = np.full((len(labels), len(domain)), "0", object)
        assert set(model.fit(rows, labels).predict([["0"] * len(domain)])) <= {0, 1}
        assert len(ledger.entries) == 1


def test_a_search_over_models_of_many_categories_rehearses_them_on_nobody() -> None:
    ledger = bruit.Ledger("rows", epsilon=9, delta=1e-6, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    model = LogisticRegression(domain=DOMAIN, classes=[0, 1])
    search = PrivateSearch(model, {"curves": [False, True]}, budget=ledger.budget(epsilon=9, delta=1e-6), tries=2)
    assert search.fit([["0", "1", "2"]] * 40, [0, 1] * 20).best_params_["curves"] in (False, True)


@pytest.mark.parametrize("epsilon", ["0.01", "0.001"])
@pytest.mark.parametrize("model", [LogisticRegression, AdditiveModel])
def test_a_price_below_what_pld_can_tell_is_paid_by_concentrated_privacy(model: Any, epsilon: str) -> None:
    ledger = bruit.Ledger("rows", epsilon=1, delta=1e-5, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    asked = {"domain": DOMAIN, "classes": [0, 1], "size": 30_000}
    fitted = model(**asked, budget=ledger.budget(epsilon=epsilon, delta=1e-5)).fit([["0", "1", "2"]] * 4, [0, 1] * 2)
    assert fitted.guarantee_.by == "zcdp"
    assert 0.99 * float(epsilon) < fitted.guarantee_.epsilon <= float(epsilon)
    with pytest.raises(bruit.errors.NotPrivate, match="too wide for pld"):
        model(**asked, budget=ledger.budget(epsilon=epsilon, delta=1e-5, by="pld")).fit([["0", "1", "2"]], [0])


def test_numbers_alone_keep_the_noise_of_a_cube() -> None:
    for domain, kind in ((UNIT, CubeNoise), (among(NAMES), SparseNoise)):
        question = LinearRegression(domain=domain, target=UNIT, budget=price())._ask([["1", "2"]], [0.5])
        design = Design(question.domains or ())
        found = buy_for_few(question, entries=product_entries(design.columns + 2, public_size=False), moved=10, each=1)
        assert isinstance(found, kind)
        assert basic(found.loss) == (2, 0)


def test_a_small_budget_does_not_fall_below_the_larger_class() -> None:
    X, _ = people(3000)
    y = np.random.default_rng(5).random(3000) < 0.2
    for seed in range(3):
        model = LogisticRegression(
            domain=list(DOMAIN), classes=[False, True], budget=price(epsilon=1), random_state=seed
        )
        assert model.fit(X, y).score(X, y) > 0.79
