"""NearestNeighbours: paid before they are asked, and no more often than was paid for."""

import copy
import pickle
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import polars
import pytest
from estimators import WITH_A_BUDGET, failures
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import bruit
from bruit.errors import BruitError, BudgetExceeded, BudgetMissing, InvalidArgument, LedgerError
from bruit.learning import NearestNeighbours
from bruit.learning.nearest_neighbours import query_allowance
from bruit.ledger import Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, Assumption
from bruit.tables import among, within

DOMAIN: dict[str, Any] = {"age": within(0, 100, grid=1, missing=50), "city": among(["Lyon", "Porto"])}
ROWS = polars.DataFrame({"age": [20, 30, 40, 70, 80, 90], "city": ["Lyon"] * 3 + ["Porto"] * 3})
SAID: list[Any] = ["no", "no", "no", "yes", "yes", "yes"]


def book(epsilon: float = 10, neighbours: Any = ADD_OR_REMOVE_ONE, person: str = EACH_ROW) -> Ledger:
    return Ledger("people", epsilon=epsilon, delta=1e-3, neighbours=neighbours, person=person)


def asked(ledger: Ledger, epsilon: float = 5, **changes: Any) -> NearestNeighbours:
    stated: dict[str, Any] = {
        "domain": DOMAIN,
        "classes": ["no", "yes"],
        "queries": 10,
        "budget": ledger.budget(epsilon=epsilon),
        "random_state": 1,
    }
    return NearestNeighbours(3, **{**stated, **changes})


@parametrize_with_checks([NearestNeighbours(5, budget=bruit.WITHOUT_PRIVACY)])  # type: ignore[untyped-decorator]
def test_scikit_learn_checks_the_exact_algorithm(estimator: Any, check: Any) -> None:
    check(estimator)


def test_scikit_learn_checks_pass_with_a_budget(tmp_path: Path) -> None:
    """All but what noise does, and pickling: a fitted one holds the records, and stays."""
    terms: dict[str, Any] = {"epsilon": 9000, "neighbours": ADD_OR_REMOVE_ONE, "person": EACH_ROW}
    ledger = Ledger("checks", **terms, store=f"sqlite:///{tmp_path / 'book.db'}")
    stated: dict[str, Any] = {"domain": within(-10, 10, grid="0.1", missing=0), "classes": [0, 1, 2], "queries": 2000}
    model = NearestNeighbours(11, **stated, budget=ledger.budget(epsilon=5))
    assert set(failures(model, allowed=WITH_A_BUDGET)) == {"check_estimators_pickle"}


def test_without_privacy_it_is_what_scikit_learn_does() -> None:
    data = load_wine()
    ours = NearestNeighbours(7, budget=bruit.WITHOUT_PRIVACY).fit(data.data[::2], data.target[::2])
    theirs = KNeighborsClassifier(7, algorithm="brute").fit(data.data[::2], data.target[::2])
    np.testing.assert_array_equal(ours.predict(data.data[1::2]), theirs.predict(data.data[1::2]))
    assert ours.guarantee_ is None
    assert ours.queries_left_ is None


def test_a_large_budget_tells_the_truth() -> None:
    model = asked(book(2000), epsilon=1000).fit(ROWS, SAID)
    assert model.predict(polars.DataFrame({"age": [25, 85], "city": ["Lyon", "Porto"]})).tolist() == ["no", "yes"]


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_a_fit_charges_for_all_questions_at_once(neighbours: Any) -> None:
    ledger = book(neighbours=neighbours)
    model = asked(ledger, per_query="0.5", queries=None).fit(ROWS, SAID)
    assert ledger.spent.epsilon == model.guarantee_.epsilon == 5
    assert model.guarantee_.assumes == (Assumption.SEEDED,)
    assert (model.queries_left_, ledger.entries[0].what) == (10, "learning.NearestNeighbours")
    model.predict(ROWS)
    assert (model.queries_left_, len(ledger.entries)) == (4, 1)


def test_no_more_questions_are_answered_than_were_paid_for() -> None:
    model = asked(book()).fit(ROWS, SAID)
    model.predict(ROWS)
    with pytest.raises(BudgetExceeded, match="asked 6 questions; 4 of those paid for are left; nothing was answered"):
        model.predict(ROWS)
    assert model.queries_left_ == 4
    assert len(model.predict(ROWS[:4])) == 4


def test_rule_8_copies_share_what_is_left_and_never_repeat_noise() -> None:
    model = asked(book()).fit(ROWS, SAID)
    other = copy.deepcopy(model)
    other.predict(ROWS)
    assert model.queries_left_ == other.queries_left_ == copy.copy(model).queries_left_ == 4


def test_a_fitted_model_does_not_leave_its_process(monkeypatch: pytest.MonkeyPatch) -> None:
    model = asked(book()).fit(ROWS, SAID)
    with pytest.raises(LedgerError, match="stays in its process"):
        pickle.dumps(model.set_params(budget=None))
    monkeypatch.setattr(query_allowance.os, "getpid", lambda: -1)  # type: ignore[attr-defined]
    with pytest.raises(LedgerError, match="another process"):
        model.predict(ROWS)


@pytest.mark.parametrize("dump", [pickle.dump, joblib.dump])
def test_no_record_is_written_by_a_dump_that_is_refused(dump: Any, tmp_path: Path) -> None:
    """With a book in a store, which may be written: all that the file can then hold is what is public."""
    ledger = Ledger(
        "people",
        epsilon=10,
        delta=1e-3,
        neighbours=ADD_OR_REMOVE_ONE,
        person=EACH_ROW,
        store=f"sqlite:///{tmp_path}/book.db",
    )
    rng = np.random.default_rng(1)
    model = asked(ledger, domain=within(0, 1, grid="0.000001")).fit(
        rng.random((5000, 2)), rng.choice(["no", "yes"], 5000)
    )
    with (tmp_path / "model").open("wb") as file, pytest.raises(LedgerError, match="stays in its process"):
        dump(model, file)
    written = (tmp_path / "model").read_bytes()
    assert model._voters._records[:8].tobytes("A") not in written
    assert model._voters.labels[:64].tobytes() not in written
    assert len(written) < 5000


def test_the_exact_algorithm_may_be_kept() -> None:
    model = NearestNeighbours(1, budget=bruit.WITHOUT_PRIVACY).fit([[0.0], [1.0]], [0, 1])
    assert pickle.loads(pickle.dumps(model)).predict([[0.9]]).tolist() == [1]


def test_rule_8_three_clones_draw_three_noises() -> None:
    ledger = book(30)
    first = asked(ledger, epsilon=1, queries=200, random_state=7)
    ages = polars.DataFrame({"age": [55] * 200, "city": ["Lyon"] * 200})
    told = {tuple(clone(first).fit(ROWS, SAID).predict(ages)) for _ in range(3)}
    assert len(told) == 3
    assert ledger.spent.epsilon == 3


def test_cross_validation_under_a_small_book_is_refused_when_it_is_empty() -> None:
    ledger = book(3)
    with pytest.raises(BudgetExceeded):
        cross_val_score(asked(ledger, epsilon=1), ROWS.to_pandas(), SAID, cv=[([0, 3], [1])] * 4, error_score="raise")
    assert len(ledger.entries) == 3


STRANGE = [
    ("an unseen category", {"age": [20], "city": ["Paris"]}),
    ("a missing category", {"age": [20], "city": [None]}),
    ("beyond the bounds", {"age": [10**9], "city": ["Lyon"]}),
    ("not a number", {"age": [float("nan")], "city": ["Lyon"]}),
    ("infinite", {"age": [float("-inf")], "city": ["Porto"]}),
]


@pytest.mark.parametrize(("name", "record"), STRANGE, ids=[name for name, _ in STRANGE])
def test_rule_2_no_error_and_no_charge_depends_on_values(name: str, record: dict[str, list[Any]]) -> None:
    ledger = book()
    strange = polars.DataFrame(record, schema={"age": polars.Float64, "city": polars.String})
    rows = polars.concat([ROWS.cast({"age": polars.Float64}), strange])
    model = asked(ledger).fit(rows, [*SAID, "yes"])
    assert model.predict(strange)[0] in ("no", "yes")
    assert (ledger.spent.epsilon, model.queries_left_) == (5, 9)


@pytest.mark.parametrize("label", ["perhaps", None, 3, float("nan")])
def test_rule_2_an_unseen_label_changes_nothing(label: Any) -> None:
    ledger = book()
    model = asked(ledger).fit(ROWS, np.array([*SAID[:5], label], object))
    assert model.classes_.tolist() == ["no", "yes"]
    assert set(model.predict(ROWS)) <= {"no", "yes"}
    assert ledger.spent.epsilon == 5


def test_rule_1_a_constant_column_and_an_absent_class_change_nothing() -> None:
    rows = ROWS.with_columns(age=polars.lit(40))
    model = asked(book(), classes=["maybe", "no", "yes"], epsilon=0.001, queries=300).fit(rows, SAID)
    ages = polars.DataFrame({"age": [40] * 300, "city": ["Lyon"] * 300})
    assert set(model.predict(ages)) == {"maybe", "no", "yes"}


def test_people_with_several_rows_pay_for_them() -> None:
    ledger = book(person="name")
    model = asked(ledger, rows_per_person=2, method="laplace", queries=1)
    model.fit(ROWS, SAID, groups=["a", "a", "b", "c", "c", "c"])
    assert model._plan.channel.loss.scale == 4 / model.guarantee_.epsilon
    assert len(model._voters.labels) == 5


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"queries": None}, "either queries="),
        ({"method": "sum"}, "one of auto"),
        ({"weights": [1.0]}, "one for each column"),
        ({"domain": None}, "needs domain="),
        ({"classes": None}, "needs classes="),
    ],
)
def test_what_is_asked_wrongly_is_refused_before_anything_is_charged(changes: dict[str, Any], said: str) -> None:
    ledger = book()
    with pytest.raises(BruitError, match=said):
        asked(ledger, **changes).fit(ROWS, SAID)
    assert ledger.entries == ()


def test_voters_and_budgets_are_required() -> None:
    with pytest.raises(BudgetMissing):
        NearestNeighbours(3, domain=DOMAIN, classes=["no", "yes"], queries=1).fit(ROWS, SAID)
    with pytest.raises(InvalidArgument, match="n_neighbors=0"):
        NearestNeighbours(0, budget=bruit.WITHOUT_PRIVACY).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InvalidArgument, match="weights="):
        NearestNeighbours(1, weights=[1.0], budget=bruit.WITHOUT_PRIVACY).fit([[0.0], [1.0]], [0, 1])
