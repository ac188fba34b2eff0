"""What every estimator of the engine keeps: scikit-learn's checks, and the privacy rules."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from estimators import WITH_A_BUDGET, failures
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

import bruit
from bruit.errors import BudgetExceeded, BudgetMissing, InvalidArgument
from bruit.learning import AdditiveModel, BoostedTrees, DecisionTree, Forest
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, Assumption, Neighbours
from bruit.tables import among, within

EXACT = {"budget": bruit.WITHOUT_PRIVACY, "random_state": 0}
SMALL = {"DecisionTree": {"max_depth": 2}, "Forest": {"n_estimators": 4}, "BoostedTrees": {"n_estimators": 4}}
KINDS = [DecisionTree, Forest, BoostedTrees, AdditiveModel]
NUMBERS = {"DecisionTree": "criterion", "Forest": "criterion", "BoostedTrees": "loss", "AdditiveModel": "loss"}


def small(kind: type[Any], **settings: Any) -> Any:
    quick = {"steps": 4} if kind is AdditiveModel else SMALL[kind.__name__]
    return kind(**quick | settings)


def book(
    epsilon: float = 10, neighbours: Neighbours = ADD_OR_REMOVE_ONE, person: str = EACH_ROW, by: str = "basic"
) -> bruit.Ledger:
    return bruit.Ledger("rows", epsilon=epsilon, delta=0.01, neighbours=neighbours, person=person, by=by)


def rows(count: int = 200) -> tuple[polars.DataFrame, np.ndarray[Any, Any]]:
    rng = np.random.default_rng(3)
    a, b = rng.random(count), rng.choice(["x", "y", "z"], count)
    return polars.DataFrame({"a": a, "b": b}), (a + (b == "x") > 0.9).astype(int)


DOMAIN = {"a": within(0, 1, grid="0.01", missing=0), "b": among(["x", "y"])}


def private(kind: type[Any], ledger: bruit.Ledger | None = None, **settings: Any) -> Any:
    price = (ledger or book()).budget(epsilon=1, delta=1e-4)
    return small(kind, **{"domain": DOMAIN, "budget": price} | settings)


@pytest.mark.parametrize("kind", KINDS)
def test_scikit_learn_finds_nothing_wrong_without_privacy(kind: type[Any]) -> None:
    assert (
        failures(kind(**({} if kind is AdditiveModel else SMALL[kind.__name__] if kind is Forest else {}) | EXACT))
        == {}
    )


@pytest.mark.parametrize("kind", KINDS)
def test_scikit_learn_finds_nothing_wrong_in_regressors(kind: type[Any]) -> None:
    quick = {"n_estimators": 10} if kind is Forest else {}
    assert failures(kind(**quick | EXACT | {NUMBERS[kind.__name__]: "squared_error"})) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_scikit_learn_finds_nothing_wrong_with_a_budget_but_what_noise_does(kind: type[Any], tmp_path: Path) -> None:
    ledger = bruit.Ledger(
        "checks",
        epsilon=9000,
        delta=0.5,
        neighbours=ADD_OR_REMOVE_ONE,
        person=EACH_ROW,
        store=f"sqlite:///{tmp_path / 'book.db'}",
    )
    price = ledger.budget(epsilon=1, delta=1e-5)
    model = small(kind, domain=within(-10, 10, grid="0.1", missing=0), budget=price, size=100)
    assert failures(model, allowed=WITH_A_BUDGET) == {}


@pytest.mark.parametrize("kind", KINDS)
def test_rule_1_nothing_private_is_guessed(kind: type[Any]) -> None:
    X, y = rows()
    with pytest.raises(BudgetMissing, match="WITHOUT_PRIVACY"):
        private(kind, budget=None).fit(X, y)
    with pytest.raises(InvalidArgument, match="domain="):
        private(kind, domain=None).fit(X, y)
    with pytest.raises(InvalidArgument, match="target="):
        private(kind, None, **{NUMBERS[kind.__name__]: "squared_error"}).fit(X, y)
    with pytest.raises(InvalidArgument, match="choose one of"):
        private(kind, None, **{NUMBERS[kind.__name__]: "absolute"}).fit(X, y)
    with pytest.raises(InvalidArgument, match="delta"):
        private(kind, budget=book().budget(epsilon=1)).fit(X, y)


@pytest.mark.parametrize("kind", KINDS)
def test_rule_2_no_error_and_no_charge_depends_on_values(kind: type[Any]) -> None:
    """An unseen category, a constant column, a value outside the domain, a missing one, an unknown label."""
    X, y = rows(40)
    strange = polars.DataFrame({"a": [1e9, None, -5.0, float("nan")] * 10, "b": ["never seen"] * 40})
    charged = []
    for table, labels in ((X, y), (strange, y), (X, np.full(40, 7)), (X.with_columns(a=0.5), y * 0)):
        ledger = book()
        model = private(kind, ledger, size=40).fit(table, labels)
        charged.append((ledger.spent.epsilon, ledger.spent.delta, model.guarantee_))
        assert np.isfinite(model.predict_proba(X)).all()
    assert len(set(charged)) == 1


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
@pytest.mark.parametrize("by", ["basic", "zcdp"])
@pytest.mark.parametrize("kind", KINDS)
def test_rule_4_a_fit_costs_at_most_its_price(kind: type[Any], by: str, neighbours: Neighbours) -> None:
    X, y = rows()
    ledger = book(neighbours=neighbours, by=by)
    model = private(kind, ledger, size=200).fit(X, y)
    assert 0.99 < float(model.guarantee_.epsilon) <= 1
    assert len(ledger.entries) == 1
    assert ledger.entries[0].what == f"learning.{kind.__name__}"
    public = Assumption.PUBLIC_SIZE in model.guarantee_.assumes
    assert public == (neighbours is ADD_OR_REMOVE_ONE)


@pytest.mark.parametrize("kind", KINDS)
def test_rule_6_people_with_several_rows_are_bounded(kind: type[Any]) -> None:
    X, y = rows()
    people = np.arange(200) // 4
    ledger = book(person="id")
    model = private(kind, ledger, size=200, rows_per_person=2).fit(X, y, groups=people)
    assert 0.99 < float(model.guarantee_.epsilon) <= 1
    assert model.guarantee_.person == "id"


@pytest.mark.parametrize("kind", KINDS)
def test_rule_8_clones_draw_noise_of_their_own_and_pay(kind: type[Any]) -> None:
    X, y = rows()
    ledger = book(3.5)
    for state in (None, 7):
        ledger = book(3.5)
        model = private(kind, ledger, random_state=state)
        found = [clone(model).fit(X, y).predict_proba(X)[:, 1] for _ in range(3)]
        assert not any(np.array_equal(found[i], found[j]) for i, j in ((0, 1), (0, 2), (1, 2)))
        assert len(ledger.entries) == 3
        with pytest.raises(BudgetExceeded):
            clone(model).fit(X, y)
    assert Assumption.SEEDED in clone(private(kind, random_state=7)).fit(X, y).guarantee_.assumes


@pytest.mark.parametrize("kind", KINDS)
def test_cross_validation_is_refused_when_the_book_is_empty(kind: type[Any]) -> None:
    X, y = rows()
    ledger = book(3.5)
    with pytest.raises(BudgetExceeded):
        cross_val_score(private(kind, ledger, domain=list(DOMAIN.values())), X.to_numpy(), y, cv=5, error_score="raise")
    assert len(ledger.entries) == 3


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [None, 3000])
def test_private_models_learn(kind: type[Any], size: int | None) -> None:
    X, y = rows(3000)
    price = book(100).budget(epsilon=8, delta=1e-4)
    quick = {"n_estimators": 60} if kind in (Forest, BoostedTrees) else {}
    model = kind(domain=DOMAIN, budget=price, size=size, random_state=1, **quick).fit(X, y)
    assert model.score(X, y) > 0.85
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("kind", KINDS)
def test_private_models_learn_several_classes(kind: type[Any]) -> None:
    X, _ = rows(3000)
    y = X["b"].to_numpy()
    price = book(100).budget(epsilon=8, delta=1e-4)
    settings = {"classes": ["x", "y", "z"], "size": 3000, "random_state": 1}
    quick = {"n_estimators": 60} if kind in (Forest, BoostedTrees) else {}
    model = kind(domain=DOMAIN, budget=price, **settings, **quick).fit(X, y)
    assert model.classes_.tolist() == ["x", "y", "z"]
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("kind", KINDS)
def test_private_models_learn_numbers(kind: type[Any]) -> None:
    X, _ = rows(3000)
    y = 10 + 4 * X["a"].to_numpy() + 3 * (X["b"] == "x").to_numpy()
    price = book(100).budget(epsilon=8, delta=1e-4)
    quick = {"n_estimators": 60} if kind in (Forest, BoostedTrees) else {}
    settings = {NUMBERS[kind.__name__]: "squared_error", "target": within(10, 20, grid="0.1"), "size": 3000}
    model = kind(domain=DOMAIN, budget=price, random_state=1, **settings, **quick).fit(X, y)
    assert model.score(X, y) > (0.5 if kind is Forest else 0.75)
    assert not hasattr(model, "predict_proba")
    assert (model.predict(X) >= 9).all()


@pytest.mark.parametrize("kind", [DecisionTree, Forest, BoostedTrees])
@pytest.mark.parametrize("wrong", [{"max_depth": 0}, {"max_depth": 2.5}, {"bins": 0}], ids=str)
def test_a_setting_that_makes_no_sense_is_refused_before_it_is_paid(kind: type[Any], wrong: dict[str, Any]) -> None:
    ledger = book()
    with pytest.raises(InvalidArgument, match="whole number"):
        private(kind, ledger, **wrong).fit(*rows())
    assert not ledger.entries


@pytest.mark.parametrize("kind", [Forest, BoostedTrees])
def test_more_leaves_than_can_be_counted_are_refused_before_they_are_paid(kind: type[Any]) -> None:
    ledger = book()
    with pytest.raises(InvalidArgument, match="at most 20 levels"):
        private(kind, ledger, max_depth=21).fit(*rows())
    assert not ledger.entries


def test_random_trees_of_a_seed_are_the_same_with_a_row_more() -> None:
    """Once a row's dither was drawn before the trees: what a row moves was compared between different trees."""
    fitted = [private(BoostedTrees, random_state=0).fit(*rows(count)) for count in (200, 201)]
    one, other = ([(tree.columns, tree.sides) for _, tree, _ in model.estimators_] for model in fitted)
    np.testing.assert_equal(one, other)
