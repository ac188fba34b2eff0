"""A student learns from public records and then answers without limit."""

import pickle
from typing import Any

import numpy as np
import polars
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.linear_model import Perceptron
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import bruit
from bruit.apps import data
from bruit.apps.data.census_categories import CATEGORIES
from bruit.errors import InvalidArgument, MissingData
from bruit.learning import Student, evaluate
from bruit.ledger import Budget, Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE
from bruit.tables import Domain, among, within

UNIT = within(0, 1, grid="0.001", missing=0)


def price(epsilon: float, neighbours: Any = ADD_OR_REMOVE_ONE, delta: float = 1e-5) -> Budget:
    return Ledger("pupils", epsilon=10 * epsilon, delta=1e-3, neighbours=neighbours, person=EACH_ROW).budget(
        epsilon=epsilon, delta=delta
    )


def halves(rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    points = np.random.default_rng(seed).random((rows, 2))
    return points, np.where(points[:, 0] > 0.5, "right", "left")


def taught(**changes: Any) -> Student:
    stated: dict[str, Any] = {
        "public": halves(60, 2)[0],
        "domain": UNIT,
        "classes": ["left", "right"],
        "budget": price(2),
        "random_state": 3,
    }
    return Student(151, **{**stated, **changes})


@parametrize_with_checks([Student(5, budget=bruit.WITHOUT_PRIVACY)])  # type: ignore[untyped-decorator]
def test_scikit_learn_checks_the_exact_algorithm(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_a_student_learns_what_private_records_know(neighbours: Any) -> None:
    model = taught(budget=price(2, neighbours)).fit(*halves(1000, 1))
    points, sides = halves(500, 4)
    assert model.score(points, sides) > 0.9
    assert 1.99 < model.guarantee_.epsilon <= 2
    assert model.guarantee_.neighbours is neighbours
    chances = model.predict_proba(points)
    np.testing.assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(points))


def test_a_student_pays_once_and_may_be_kept_and_sent() -> None:
    paid = price(2)
    model = taught(budget=paid).fit(*halves(400, 1))
    points, _ = halves(500, 4)
    again = pickle.loads(pickle.dumps(model.set_params(budget=None)))
    np.testing.assert_array_equal(again.predict(points), model.predict(points))
    assert len(paid.ledger.entries) == 1
    assert not any(isinstance(each, np.ndarray) and len(each) == 400 for each in vars(model).values())


def test_any_model_may_learn_from_pure_labels() -> None:
    model = taught(model=DecisionTreeClassifier(max_depth=1), budget=price(20, delta=0)).fit(*halves(1000, 1))
    assert isinstance(model.model_, DecisionTreeClassifier)
    assert model.guarantee_.delta == 0
    assert model.score(*halves(500, 4)) > 0.8


@pytest.mark.parametrize("model", ["tree", DecisionTreeClassifier, KMeans(2), DecisionTreeClassifier(max_depth=-1)])
def test_rule_13_a_model_that_cannot_be_fitted_is_refused_before_the_charge(model: Any) -> None:
    paid = price(2)
    with pytest.raises(ValueError, match=r"no classifier|max_depth"):
        taught(model=model, budget=paid).fit(*halves(100, 1))
    assert not paid.ledger.entries


def test_a_student_whose_model_gives_no_chances_has_none() -> None:
    paid = price(2)
    model = taught(model=Perceptron(), budget=paid).fit(*halves(400, 1))
    assert not hasattr(model, "predict_proba")
    with pytest.raises(InvalidArgument, match="predict_proba"):
        evaluate(model, *halves(40, 4), budget=paid)
    assert len(paid.ledger.entries) == 1


def test_rule_8_three_clones_draw_three_noises() -> None:
    first = taught(budget=price(0.1))
    told = {tuple(clone(first).fit(*halves(300, 1)).labels_) for _ in range(3)}
    assert len(told) == 3


def test_rule_2_no_error_and_no_charge_depends_on_values() -> None:
    points, sides = halves(50, 1)
    for strange in (np.nan, np.inf, -7.0):
        points[0, 0] = strange
        paid = price(2)
        model = taught(budget=paid).fit(points, sides)
        assert model.predict([[strange, 0.5]])[0] in ("left", "right")
        assert float(paid.ledger.spent.epsilon) == pytest.approx(2, rel=2e-3)


def test_one_label_alone_is_told_to_all() -> None:
    model = taught(budget=price(500, delta=0)).fit(halves(300, 1)[0], ["left"] * 300)
    assert set(model.predict(halves(50, 4)[0])) == {"left"}
    np.testing.assert_array_equal(model.predict_proba(halves(2, 4)[0]), [[1, 0], [1, 0]])


def test_public_records_are_stated_and_have_the_same_columns() -> None:
    paid = price(2)
    with pytest.raises(InvalidArgument, match="public="):
        taught(public=None, budget=paid).fit(*halves(10, 1))
    with pytest.raises(ValueError, match="features"):
        taught(public=[[0.0]], budget=paid).fit(*halves(10, 1))
    assert paid.ledger.entries == ()


def adult(part: Any) -> polars.DataFrame:
    numbers = polars.col("age", "education-num", "hours-per-week"), polars.col("capital-gain", "capital-loss").log1p()
    return data.adult(part).select(*numbers, *(name for name in CATEGORIES if name not in ("income", "education")))


def test_a_student_reaches_its_goal_on_adult_income() -> None:
    try:
        people, others = adult("training"), adult("test")
    except MissingData as reason:
        pytest.skip(str(reason))
    bounds = {"age": 90, "education-num": 16, "hours-per-week": 99, "capital-gain": 12, "capital-loss": 9}
    domain: dict[str, Domain] = {name: within(0, high, grid="0.1") for name, high in bounds.items()}
    domain |= {name: among(CATEGORIES[name]) for name in others.columns[5:]}
    model = Student(
        1001,
        public=others[8000:9000],
        domain=domain,
        classes=CATEGORIES["income"],
        weights=[2] * 5 + [1] * 7,
        budget=price(1),
        random_state=1,
    )
    model.fit(people, data.adult("training")["income"])
    assert model.guarantee_ is not None
    assert model.guarantee_.epsilon <= 1
    assert model.score(others[:8000], data.adult("test")["income"][:8000]) >= 0.835


def test_a_students_model_holds_no_number_of_the_stream_that_drew_the_noise() -> None:
    """From such a number a small seed could be found, and with it the noise drawn again."""
    points, labels = halves(200, 4)
    assert taught().fit(points, labels).model_.random_state is None
    assert taught(model=Perceptron(random_state=7)).fit(points, labels).model_.random_state == 7
