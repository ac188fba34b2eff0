"""The contract of private estimators, on an estimator that only counts its classes."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import pandas
import polars
import pytest
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin, clone
from sklearn.model_selection import cross_val_score

import bruit
from bruit.errors import BudgetExceeded, BudgetMissing, InvalidArgument, NeighboursDiffer, PrivacyError
from bruit.learning.estimator.contract import FitRequest, PrivateEstimator
from bruit.learning.estimator.records import choose_rows, encode_classes, encode_rows, person_numbers
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, LOCAL, REPLACE_ONE, Assumption, DiscreteLaplace, Neighbours
from bruit.randomness import discrete_laplace
from bruit.tables import among, within

X = np.array([[0.5, 1.0], [0.2, 3.0], [0.9, 2.0], [0.4, 0.0]])
Y = np.array(["a", "b", "a", "a"])
UNIT = within(0, 4, grid="0.01", missing=0)


class Majority(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """Predicts the class of the largest noisy count."""

    def __init__(
        self,
        *,
        domain: Any = None,
        classes: Any = None,
        size: Any = None,
        rows_per_person: int = 1,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.domain = domain
        self.classes = classes
        self.size = size
        self.rows_per_person = rows_per_person
        self.budget = budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any, groups: Any = None) -> Majority:
        question = self._ask(X, y, groups=groups)
        loss = None
        if question.price is not None:
            moved = question.rows * (2 if question.exchanged else 1)
            loss = DiscreteLaplace(moved / question.price.epsilon, sensitivity=moved, neighbours=question.neighbours)
        records = question.pay(loss)
        self.classes_ = records.classes
        self.counts_ = np.bincount(records.target, minlength=len(self.classes_))
        if loss is not None:
            self.counts_ += discrete_laplace(loss.scale, len(self.classes_), rng=records.rng)
        self.rows_, self.values_, self.public_size_ = len(records.values), records.values, question.size
        return records.finish(self)

    def predict(self, X: Any) -> NDArray[Any]:
        return np.full(len(self._encode(X)), self.classes_[np.argmax(self.counts_)])


def book(epsilon: float = 10, neighbours: Neighbours = ADD_OR_REMOVE_ONE, person: str = EACH_ROW) -> bruit.Ledger:
    return bruit.Ledger("rows", epsilon=epsilon, neighbours=neighbours, person=person)


def majority(ledger: bruit.Ledger | None = None, **settings: Any) -> Majority:
    price = (ledger or book()).budget(epsilon=1)
    return Majority(**{"domain": UNIT, "classes": ["a", "b"], "budget": price} | settings)


def test_rule_1_nothing_private_is_guessed() -> None:
    with pytest.raises(BudgetMissing, match="WITHOUT_PRIVACY"):
        majority(budget=None).fit(X, Y)
    with pytest.raises(InvalidArgument, match="domain="):
        majority(domain=None).fit(X, Y)
    with pytest.raises(InvalidArgument, match="classes="):
        majority(classes=None).fit(X, Y)
    with pytest.raises(NeighboursDiffer):
        majority(book(neighbours=LOCAL)).fit(X, Y)


def test_the_charge_stands_before_the_data_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    ledger = book()

    def fails(*_: Any) -> Any:
        raise OSError("the disk is gone")

    monkeypatch.setattr("bruit.learning.estimator.contract.encode_rows", fails)
    with pytest.raises(OSError, match="disk"):
        majority(ledger).fit(X, Y)
    assert [entry.what for entry in ledger.entries] == ["learning.Majority"]


def test_parameters_stay_untouched() -> None:
    model = majority(random_state=3)
    before = model.get_params()
    model.fit(X, Y)
    assert all(model.get_params()[name] is value for name, value in before.items())


def test_rule_8_three_clones_draw_three_noises_and_pay_three_times() -> None:
    ledger = book()
    model = majority(ledger, random_state=1)
    counts = [tuple(clone(model).fit(X, Y).counts_.tolist()) for _ in range(3)]
    assert len(set(counts)) == 3
    assert len(ledger.entries) == 3
    assert Assumption.SEEDED in model.fit(X, Y).guarantee_.assumes
    assert not majority().fit(X, Y).guarantee_.assumes


def test_the_same_seed_and_entry_draw_the_same_noise() -> None:
    first, second = (majority(book(), random_state=1).fit(X, Y) for _ in range(2))
    assert first.counts_.tolist() == second.counts_.tolist()


def test_cross_validation_under_a_small_book_is_refused_when_it_is_empty() -> None:
    ledger = book(epsilon=2)
    with pytest.raises(BudgetExceeded):
        cross_val_score(majority(ledger), np.tile(X, (3, 1)), np.tile(Y, 3), cv=3, error_score="raise")
    assert len(ledger.entries) == 2


def test_people_with_several_rows_need_a_book_of_their_own_and_are_bounded() -> None:
    people = ["p", "p", "p", None]
    for ledger, groups in ((book(), people), (book(person="id"), None)):
        with pytest.raises(PrivacyError, match="protects"):
            majority(ledger).fit(X, Y, groups=groups)
    model = majority(book(person="id"), rows_per_person=2).fit(X, Y, groups=people)
    assert model.rows_ == 2
    assert model.guarantee_.person == "id"


def test_what_a_person_contributes_does_not_depend_on_others() -> None:
    kept = choose_rows(["a", "b", "a", None, "b", "b"], 1, rng=np.random.default_rng(1))
    assert kept[[0, 2]].sum() == 1
    assert kept[[1, 4, 5]].sum() == 1
    assert not kept[3]
    assert not choose_rows([], 1, rng=np.random.default_rng(1)).size


def test_the_size_is_public_only_where_rows_are_exchanged_or_it_is_stated() -> None:
    assert majority().fit(X, Y).public_size_ is None
    assert majority(book(neighbours=REPLACE_ONE)).fit(X, Y).public_size_ == 4
    stated = majority(size=4).fit(X, Y)
    assert stated.public_size_ == 4
    assert stated.guarantee_.assumes == (Assumption.PUBLIC_SIZE,)


class Refusing:
    """An object whose every conversion and comparison fails in its own way."""

    def __float__(self) -> float:
        raise RuntimeError

    def __str__(self) -> str:
        raise LookupError

    def __eq__(self, other: object) -> bool:
        raise ArithmeticError

    def __hash__(self) -> int:
        return hash(1)


STRANGE: list[Any] = [np.nan, np.inf, -np.inf, 1e308, None, "text", {"a": 1}, b"x", object(), 10**5000, Refusing()]


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
def test_rule_2_no_error_and_no_charge_depends_on_values(value: Any) -> None:
    rows, labels = X.astype(object), Y.astype(object)
    rows[0, 0], labels[1] = value, value
    ledger = book()
    model = majority(ledger).fit(rows, labels)
    assert model.rows_ == 3
    assert model.predict(rows).shape == (4,)
    assert ledger.spent.epsilon == 1
    assert majority(book(), domain=[UNIT, among([1, 2])]).fit(rows, labels).values_[:, 1].tolist() == [0, 1, 2]


@pytest.mark.parametrize("value", [*STRANGE, 1j, [1], ([],)], ids=lambda value: type(value).__name__)
def test_rule_2_one_entry_of_a_list_does_not_turn_the_others(value: Any) -> None:
    rows, labels = [[0.5, 1.0], [0.2, True], [0.9, 2], [0.4, 0.0]], [1, 2, 1, 1]
    domain = [UNIT, among([1, 2, "true"])]
    expected = majority(domain=domain, classes=[1, 2]).fit(rows, labels).values_.tolist()
    rows[0][1], labels[0] = value, 1
    strange = majority(domain=domain, classes=[1, 2]).fit(rows, labels)
    assert strange.values_[1:].tolist() == expected[1:]
    labels[0] = value
    assert majority(domain=domain, classes=[1, 2]).fit(rows, labels).values_.tolist() == expected[1:]


def test_a_person_named_by_a_number_is_one_person_whatever_its_type() -> None:
    people = [1, 1.0, np.float32(1), "1", None]
    assert choose_rows(people, 1, rng=np.random.default_rng(1)).sum() == 1


def test_people_are_two_where_any_character_of_their_names_differs() -> None:
    people = ["a", "a", "a\0", "a\0", "", "", "A", "A", 10**5000, Refusing()]
    assert choose_rows(people, 1, rng=np.random.default_rng(1)).sum() == 4


def test_one_long_name_does_not_make_the_others_long() -> None:
    """A table of texts as wide as the longest would take 80 GB."""
    people = [f"p{i}" for i in range(20_000)]
    people[7] = "x" * 1_000_000
    assert choose_rows(people, 1, rng=np.random.default_rng(1)).all()


def test_no_row_at_all_is_no_error() -> None:
    assert majority().fit(X[:0], Y[:0]).rows_ == 0


FRAME = {"age": [0.5, 9.0, None, -1.0], "job": ["x", "y", "z", None]}
DOMAINS = {"age": within(0, 4, grid="0.5"), "job": among(["x", "y"])}


@pytest.mark.parametrize("make", [polars.DataFrame, pandas.DataFrame])
def test_frames_are_read_by_the_names_of_their_columns(make: Any) -> None:
    model = majority(domain=dict(reversed(DOMAINS.items()))).fit(make(FRAME), Y)
    assert model.values_.tolist() == [[1, 0], [8, 1], [0, 2]]
    assert list(model.feature_names_in_) == ["age", "job"]
    with pytest.raises(InvalidArgument, match="same columns"):
        majority(domain={"age": UNIT}).fit(make(FRAME), Y)


def test_an_array_and_a_frame_are_encoded_alike() -> None:
    array = np.array([FRAME["age"], FRAME["job"]], object).T
    for data in (array, polars.DataFrame(FRAME), pandas.DataFrame(FRAME)):
        integers, kept = encode_rows(data, list(DOMAINS.values()))
        assert integers.tolist() == [[1, 0], [8, 1], [4, 2], [0, 2]]
        assert kept.tolist() == [True, True, False, True]


def test_labels_are_found_among_the_public_classes() -> None:
    codes, known = encode_classes(np.array([1.0, 3.0, np.nan]), np.array([1, 2]))
    assert (codes[0], known.tolist()) == (0, [True, False, False])
    assert encode_classes(pandas.Series(["b", None]), np.array(["a", "b"]))[1].tolist() == [True, False]


@pytest.mark.parametrize("data", [X[0], X[None], X[:, :0], X.astype(complex)], ids=["1d", "3d", "none", "complex"])
def test_a_schema_that_does_not_fit_is_told_and_costs_nothing(data: Any) -> None:
    ledger = book()
    with pytest.raises(ValueError, match="X must"):
        majority(ledger).fit(data, Y)
    assert not ledger.entries


def lazy(*names: str) -> polars.LazyFrame:
    frame = polars.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": Y, "id": [1, 1, 2, 3]})
    return frame.lazy().select(names)


@pytest.mark.parametrize("name", ["X", "y", "groups"])
@pytest.mark.parametrize("settings", [{}, {"domain": None, "budget": bruit.WITHOUT_PRIVACY}], ids=["paid", "exact"])
def test_a_lazy_frame_is_refused_and_costs_nothing(name: str, settings: dict[str, Any]) -> None:
    """Its rows have no order in which they belong to the labels, and finding out how many they are is a query."""
    ledger = book(person="id")
    queries = {"X": lazy("a", "b"), "y": lazy("y"), "groups": lazy("id")}
    given = {"X": X, "y": Y, "groups": [1, 1, 2, 3], name: queries[name]}
    with pytest.raises(InvalidArgument, match=f"{name} is a lazy frame"):
        majority(ledger, **settings).fit(**given)
    assert not ledger.entries


def test_a_query_of_an_engine_is_a_lazy_frame() -> None:
    with pytest.raises(InvalidArgument, match="X is a lazy frame"):
        majority().fit(duckdb.sql("select 1.0 as a, 2.0 as b"), ["a"])


def test_predictions_for_a_lazy_frame_are_refused_and_those_for_the_collected_one_are_not() -> None:
    model = majority(domain={"a": UNIT, "b": UNIT}).fit(lazy("a", "b").collect(), Y)
    with pytest.raises(InvalidArgument, match="X is a lazy frame"):
        model.predict(lazy("a", "b"))
    assert len(model.predict(lazy("a", "b").collect())) == len(X)


def test_without_privacy_it_reads_what_it_was_not_told() -> None:
    model = Majority(budget=bruit.WITHOUT_PRIVACY).fit(X, Y)
    assert (model.counts_.tolist(), model.classes_.tolist(), model.guarantee_) == ([3, 1], ["a", "b"], None)
    assert Majority(domain=UNIT, budget=bruit.WITHOUT_PRIVACY).fit(X, Y).counts_.tolist() == [3, 1]


def test_a_text_is_one_category_however_often_it_occurs_and_equal_values_of_other_types_are_not() -> None:
    """1 and True are equal and hash alike; a list cannot be hashed; a lone surrogate is no UTF-8."""
    domain = among(["1", "true", "a", "?"])
    cells = ["a", 1, True, 1.0, "a", "1", "\ud800", [1], None, float("nan"), np.str_("a")]
    column = np.empty((len(cells), 1), object)
    column[:, 0] = cells
    codes, kept = encode_rows(column, [domain])
    assert codes[:, 0].tolist() == [2, 0, 1, 0, 2, 0, 3, 4, 4, 4, 2]
    assert kept.all()
    numbers, _ = encode_rows(np.array([[1.0], [np.nan], [2.0], [1.0], [np.nan]]), [domain])
    assert numbers[:, 0].tolist() == [0, 4, 4, 0, 4]


@pytest.mark.parametrize("kind", [polars.Int64, polars.UInt64])
def test_rule_12_a_row_without_a_person_leaves_the_others_who_they_are(kind: Any) -> None:
    """NumPy makes floats of whole numbers where one is missing, and of 200 people near 2^60 one."""
    people = [2**60 + place for place in range(200)]
    alone = person_numbers(polars.Series(people, dtype=kind))
    beside = person_numbers(polars.Series([*people, None], dtype=kind))
    assert alone.tolist() == list(range(200))
    assert beside.tolist() == [*range(200), -1]


def test_rule_13_a_fit_that_is_interrupted_keeps_no_promise_for_what_was_fitted_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The exact counts of an earlier fit would stand under the ε of the one that did not end."""
    model = Majority(domain=UNIT, classes=["a", "b"], budget=bruit.WITHOUT_PRIVACY).fit(X, Y)
    exact = model.counts_.copy()

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    ledger = bruit.Ledger("rows", epsilon=9, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    model.set_params(budget=ledger.budget(epsilon="0.1"))
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(FitRequest, "_read_rows", stop)
        model.fit(X, Y)
    assert len(ledger.entries) == 1
    assert np.array_equal(model.counts_, exact)
    for promise in ("guarantee_", "release_"):
        with pytest.raises(AttributeError, match="not fitted"):
            getattr(model, promise)
    assert model.fit(X, Y).guarantee_ == model.release_.guarantee


def test_rule_12_one_missing_label_does_not_round_the_others() -> None:
    """NumPy makes floating numbers of a column of whole ones where one is missing: 2^60 and 2^60 + 1 become one."""
    labels = [2**60, 2**60 + 1, 2**60 + 1, None]
    for y in (polars.Series(labels), pandas.Series(labels, dtype="Int64"), labels):
        book = bruit.Ledger("rows", epsilon=1000, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
        model = Majority(domain=UNIT, classes=labels[:2], budget=book.budget(epsilon=1000)).fit(X, y)
        assert model.counts_.tolist() == [1, 2]


def test_rule_13_one_number_beyond_64_bits_raises_nothing_after_the_charge() -> None:
    """polars takes 128 bits for the whole column, of which NumPy has none."""
    beyond = polars.Series([1, 2, 2**64 + 1, 1], strict=False)
    assert beyond.dtype == polars.Int128
    book = bruit.Ledger("rows", epsilon=2000, neighbours=ADD_OR_REMOVE_ONE, person="id")
    made = {"domain": UNIT, "classes": [1, 2], "budget": book.budget(epsilon=1000)}
    assert Majority(**made).fit(X, beyond, groups=polars.Series(range(4))).counts_.tolist() == [2, 1]
    assert Majority(**made).fit(X, [1, 2, 2, 1], groups=beyond).counts_.sum() == 3
    assert person_numbers(beyond).tolist() == [0, 1, 2, 0]


class Odd(np.float64):
    """A number of NumPy's whose class says something else of it."""

    def item(self, *_args: object) -> float:
        raise RuntimeError("item")


def test_rule_2_no_number_of_numpy_raises() -> None:
    cells = np.array([[np.longdouble(7)], [Odd(7)], [np.clongdouble(7)], [7.0]], object)
    categories, _ = encode_rows(cells, [among(["7"])])
    numbers, _ = encode_rows(cells, [within(0, 10, grid=1, missing=0)])
    for rows in (pandas.DataFrame(cells), cells):
        found, _ = encode_rows(rows, [within(0, 10, grid=1, missing=0)])
        assert found[[0, 3], 0].tolist() == [7, 7]
    assert categories[[0, 3], 0].tolist() == [0, 0]
    assert numbers[3, 0] == 7
