"""A search that pays for its choice: price, compatibility, and the attack on choices by unpaid scores."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from estimators import WITH_A_BUDGET, failures
from sklearn.base import clone
from sklearn.metrics import accuracy_score
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    TunedThresholdClassifierCV,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline

import bruit
from bruit.errors import BudgetMissing, InvalidArgument
from bruit.learning import (
    PCA,
    AdditiveModel,
    BoostedTrees,
    KMeans,
    LinearRegression,
    NaiveBayes,
    PrivateSearch,
    evaluate,
    select,
)
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, Assumption, ZeroConcentrated
from bruit.tables import within

UNIT = within(-1, 1, grid="0.01")
BLIND = within(2, 3, grid=1)
GRID = {"domain": [BLIND, UNIT]}


def rows(n: int = 400) -> tuple[Any, Any]:
    X = np.random.default_rng(1).uniform(-1, 1, (n, 2))
    return X, (X[:, 0] > 0).astype(int)


def book(neighbours: Any = ADD_OR_REMOVE_ONE, **terms: Any) -> bruit.Ledger:
    return bruit.Ledger("rows", **({"epsilon": 1000, "delta": 0.01, "person": EACH_ROW} | terms), neighbours=neighbours)


def bayes(**more: Any) -> NaiveBayes:
    return NaiveBayes(**({"domain": UNIT, "classes": [0, 1]} | more))


PRICES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "pure": ({}, {"epsilon": 12}),
    "with a delta": ({}, {"epsilon": 12, "delta": 1e-6}),
    "zcdp": ({"by": "zcdp", "delta": 1e-6}, {"epsilon": 30, "delta": 1e-6}),
    "rdp": ({"by": ("rdp", 4), "delta": 1e-6}, {"epsilon": 40, "delta": 1e-6}),
}


@pytest.mark.parametrize("name", PRICES)
@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_the_price_before_is_what_the_book_shows_after(name: str, neighbours: Any) -> None:
    terms, price = PRICES[name]
    ledger = book(neighbours, **terms)
    search = PrivateSearch(bayes(), GRID, budget=ledger.budget(**price), tries=12, random_state=3)
    quote = search.quote()
    assert not ledger.entries
    search.fit(*rows())
    (entry,) = ledger.entries
    assert entry.what == "learning.PrivateSearch"
    assert (entry.guarantee, entry.loss) == (quote.guarantee, quote.loss)
    assert ledger.spent.total == quote.total
    assert search.guarantee_ == search.best_estimator_.guarantee_ == quote.guarantee
    assert search.best_index_ == 1
    assert search.score(*rows()) > 0.85


def test_it_reads_like_a_search_of_scikit_learn_and_tells_no_other_score() -> None:
    search = PrivateSearch(bayes(), GRID, budget=book().budget(epsilon=12), tries=12, random_state=1).fit(*rows())
    assert search.best_params_ == {"domain": UNIT}
    assert set(search.cv_results_) == {"param_domain", "params", "chosen", "rank_test_score"}
    assert search.cv_results_["chosen"].tolist() == [False, True]
    assert search.predict_proba(rows()[0]).shape == (400, 2)
    assert list(search.classes_) == [0, 1]
    again = pickle.loads(pickle.dumps(search))
    assert np.array_equal(again.predict(rows()[0]), search.predict(rows()[0]))
    assert again.budget is None
    assert clone(search).get_params()["tries"] == 12
    assert "try" not in repr(vars(search.best_estimator_))


@pytest.mark.parametrize("kind", [BoostedTrees, AdditiveModel])
@pytest.mark.parametrize("by", ["basic", "zcdp"])
def test_models_that_need_a_delta_are_searched_over(kind: Any, by: str) -> None:
    ledger = book(by=by, delta=1e-6, epsilon=60)
    grid = {"bins": [2, 8]}
    model = kind(domain=UNIT, classes=[0, 1], size=300)
    more = {"n_estimators": 5} if kind is BoostedTrees else {"steps": 5}
    search = PrivateSearch(model.set_params(**more), grid, budget=ledger.budget(epsilon=20, delta=1e-6), tries=2)
    assert Assumption.PUBLIC_SIZE in search.fit(*rows(200)).guarantee_.assumes
    assert len(ledger.entries) == 1


def test_people_regressions_and_a_rho_are_searched_over() -> None:
    X, _ = rows(100)
    ledger = book(person="id", by="zcdp", delta=1e-6)
    model = LinearRegression(domain=UNIT, target=UNIT)
    price = ledger.budget(ZeroConcentrated(20, neighbours=ADD_OR_REMOVE_ONE))
    search = PrivateSearch(model, {"rows_per_person": [1, 2]}, budget=price, stopping="logarithmic")
    quote = search.quote(several_rows=True)
    search.fit(X, X[:, 0] / 2, groups=np.repeat(np.arange(25), 4))
    assert search.guarantee_ == quote.guarantee
    assert search.guarantee_.person == "id"


def test_what_cannot_be_searched_is_refused_before_anything_is_charged() -> None:
    ledger = book()
    price = ledger.budget(epsilon=1)
    with pytest.raises(BudgetMissing):
        PrivateSearch(bayes(), GRID).fit(*rows())
    for wrong in (
        PrivateSearch(object(), GRID, budget=price),
        PrivateSearch(bayes(), {"budget": [price]}, budget=price),
        PrivateSearch(bayes(), GRID, budget=price, held_parts=1),
        PrivateSearch(bayes(), GRID, budget=price, tries=0),
        PrivateSearch(bayes(), GRID, budget=price, stopping="poisson"),
    ):
        with pytest.raises(InvalidArgument):
            wrong.fit(*rows())
    assert not ledger.entries


def test_scikit_learn_checks_pass(tmp_path: Any) -> None:
    store = f"sqlite:///{tmp_path}/book.db"
    ledger = bruit.Ledger("checks", epsilon=9000, neighbours=REPLACE_ONE, person=EACH_ROW, store=store)
    model = NaiveBayes(domain=within(-9, 9, grid="0.01"), classes=[0, 1, 2])
    search = PrivateSearch(model, {"rows_per_person": [1, 2]}, budget=ledger.budget(epsilon=60), tries=1)
    assert failures(search, allowed=WITH_A_BUDGET) == {}


class Fixed(NaiveBayes):
    """Always says one class: a setting whose exact score counts the rows of that class, whatever the noise."""

    def __init__(self, *, says: int = 0, domain: Any = UNIT, classes: Any = (0, 1), budget: Any = None) -> None:
        super().__init__(domain=domain, classes=classes, budget=budget)
        self.says = says

    def predict(self, X: Any) -> Any:
        return np.full(len(self._encode(X)), self.says)


ONE_FOLD = [(np.arange(600), np.arange(600, 601))]
RUNS = 40


def test_the_attack_on_exact_scores_wins_always_and_its_model_is_marked() -> None:
    """GridSearchCV at ε = 0.001: one row decides the winner in 40 of 40 runs; the guarantee says what it assumes."""
    told = {0: 0, 1: 0}
    for last in told:
        X, y = np.zeros((601, 1)), np.append(np.repeat([0, 1], 300), last)
        for _ in range(RUNS):
            model = Fixed(budget=book().budget(epsilon="0.001"))
            found = GridSearchCV(model, {"says": [0, 1]}, scoring="accuracy", cv=ONE_FOLD).fit(X, y)
            told[last] += found.best_params_["says"]
            assert Assumption.UNPAID_SCORES in found.best_estimator_.guarantee_.assumes
    assert told == {0: 0, 1: RUNS}


def test_the_same_attack_on_the_private_search_tells_nothing() -> None:
    """One row moves no chance by more than e^0.001: 40 runs on either table look alike, within an exact window."""
    told = []
    for last in (0, 1):
        X, y = np.zeros((601, 1)), np.append(np.repeat([0, 1], 300), last)
        search = PrivateSearch(Fixed(), {"says": [0, 1]}, budget=book().budget(epsilon="0.001"), tries=2)
        told.append(sum(search.fit(X, y).best_params_["says"] for _ in range(RUNS)))
    for wins in told:
        assert 2 <= wins <= RUNS - 2  # a fair coin leaves these with a chance of 1.5e-9
    assert Assumption.UNPAID_SCORES not in search.guarantee_.assumes


def test_scores_of_one_of_two_fits_mark_every_model_of_the_book_and_task() -> None:
    X, y = rows(40)
    ledger = book()
    first = bayes(budget=ledger.budget(epsilon=1)).fit(X, y)
    accuracy_score(y, first.predict(X))
    assert not first.guarantee_.assumes
    second = bayes(budget=ledger.budget(epsilon=1)).fit(X, y)  # it may be there because the first scored badly
    for model in (first, second):
        assert model.guarantee_.assumes == (Assumption.UNPAID_SCORES,)
        assert model.release_.guarantee == model.guarantee_
        assert pickle.loads(pickle.dumps(model)).guarantee_ == model.guarantee_
    assert not bayes(budget=book().budget(epsilon=1)).fit(X, y).guarantee_.assumes
    other = bayes(classes=["rent", "own"], budget=ledger.budget(epsilon=1)).fit(X, y)
    assert not other.guarantee_.assumes


def test_a_fit_that_follows_an_exact_score_tells_of_a_row_and_is_marked() -> None:
    """The first setting is kept if it scores well, else another is fitted and never scored: one row decides."""
    kept = []
    for last in (0, 1):
        X, y = np.zeros((601, 1)), np.append(np.repeat([0, 1], 300), last)
        ledger = book()
        price = ledger.budget(epsilon="0.001")
        first = Fixed(says=0, budget=price).fit(X[:600], y[:600])
        good = first.score(X[600:], y[600:]) == 1
        second = Fixed(says=1, budget=price).fit(X, y)
        kept.append(first if good else second)
    assert [model.says for model in kept] == [0, 1]
    assert all(Assumption.UNPAID_SCORES in model.guarantee_.assumes for model in kept)


def test_a_choice_of_labels_or_of_bounds_by_exact_scores_is_marked() -> None:
    """What is a setting of the model does not make it another task."""
    X, y = rows(40)
    ledger = book()
    more = [bayes(classes=classes, budget=ledger.budget(epsilon=1)).fit(X, y) for classes in ([0, 1], [0, 1, 2])]
    price = ledger.budget(epsilon=1)
    wide = [LinearRegression(domain=UNIT, target=within(0, top, grid=1), budget=price).fit(X, y) for top in (1, 9)]
    for models in (more, wide):
        best = max(models, key=lambda model: model.score(X, y))
        assert best.guarantee_.assumes == (Assumption.UNPAID_SCORES,)


def test_a_number_of_clusters_that_is_chosen_by_exact_scores_is_marked() -> None:
    ledger = book()
    model = KMeans(domain=UNIT, budget=ledger.budget(epsilon=1))
    found = GridSearchCV(model, {"n_clusters": [2, 3]}, cv=2).fit(rows(60)[0])
    assert found.best_estimator_.guarantee_.assumes == (Assumption.UNPAID_SCORES,)


def test_fits_to_folds_are_marked_because_one_row_more_moves_others_between_them() -> None:
    """Of scikit-learn's folds one more row changes three rows of a fit, which is not hidden by the ε of one."""
    X, y = rows(101)
    before, after = ([set(fit) for fit, _ in KFold(10).split(X[:size])] for size in (100, 101))
    assert max(len(one ^ other) for one, other in zip(before, after, strict=True)) == 3
    folds = cross_validate(bayes(budget=book().budget(epsilon=1)), X, y, cv=2, return_estimator=True)["estimator"]
    both = {Assumption.UNPAID_PREPARATION, Assumption.UNPAID_SCORES}
    assert [set(model.guarantee_.assumes) for model in folds] == [both] * 2
    tuned = TunedThresholdClassifierCV(bayes(budget=book().budget(epsilon=1)), cv=0.5, refit=False).fit(X, y)
    assert Assumption.UNPAID_PREPARATION in tuned.estimator_.guarantee_.assumes


def test_a_number_of_components_that_is_chosen_by_exact_scores_is_marked() -> None:
    X, y = rows(60)
    components = PCA(domain=UNIT, budget=book().budget(epsilon=1))

    def spread(model: Any, X: Any, y: Any = None) -> float:
        return float(model.transform(X).var())

    found = GridSearchCV(components, {"n_components": [1, 2]}, scoring=spread, cv=2).fit(X)
    assert found.best_estimator_.guarantee_.assumes == (Assumption.UNPAID_SCORES,)
    ledger = book()
    both = make_pipeline(PCA(domain=UNIT, budget=ledger.budget(epsilon=1)), bayes(budget=ledger.budget(epsilon=1)))
    best = GridSearchCV(both, {"pca__n_components": [1, 2]}, cv=2).fit(X, y).best_estimator_
    assert [step.guarantee_.assumes for step in best] == [(Assumption.UNPAID_SCORES,)] * 2


def test_folds_in_other_processes_are_not_forgotten(tmp_path: Any) -> None:
    X, y = rows(40)
    ledger = book(store=f"sqlite:///{tmp_path / 'books.db'}")
    model = bayes(budget=ledger.budget(epsilon=1))
    pickle.dumps(clone(model))
    assert Assumption.UNPAID_SCORES in model.fit(X, y).guarantee_.assumes


def test_paid_figures_and_paid_choices_mark_nothing() -> None:
    X, y = rows(60)
    ledger = book()
    for _ in range(2):
        found = select([bayes()], X, y, budget=ledger.budget(epsilon=3), tries=2).estimator
        evaluate(found, X, y, budget=ledger.budget(epsilon=1))
    assert not found.guarantee_.assumes
    cross_val_score(bayes(budget=ledger.budget(epsilon=1)), X, y, cv=2)
    assert Assumption.UNPAID_SCORES in found.guarantee_.assumes
