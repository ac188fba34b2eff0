"""Private selection: what it costs, what it keeps, and that it finds the better setting."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import polars
import pytest

import bruit
from bruit.errors import BudgetMissing, InvalidArgument
from bruit.learning import BoostedTrees, KMeans, LinearRegression, NaiveBayes, NearestNeighbours, select
from bruit.learning.estimator.contract import PrivateEstimator
from bruit.learning.selection.trials import FINE, Trial, _points
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, Assumption, basic
from bruit.tables import within

UNIT = within(-1, 1, grid="0.01")


def rows(n: int = 400) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (n, 2))
    return X, (X[:, 0] > 0).astype(int)


def candidates() -> list[NaiveBayes]:
    """The first sees nothing of what matters: its bounds clamp every number to one."""
    blind = within(2, 3, grid=1)
    return [NaiveBayes(domain=domain, classes=[0, 1]) for domain in (blind, UNIT)]


def book(neighbours: Any = ADD_OR_REMOVE_ONE, person: str = EACH_ROW) -> bruit.Ledger:
    return bruit.Ledger("rows", epsilon=100, delta=0.1, neighbours=neighbours, person=person)


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_the_better_setting_is_found_for_the_price_of_three_runs(neighbours: Any) -> None:
    ledger = book(neighbours)
    found = select(candidates(), *rows(), budget=ledger.budget(epsilon=12), tries=20, rng=np.random.default_rng(1))
    assert found.candidate == 1
    assert found.estimator.score(*rows()) > 0.9
    (entry,) = ledger.entries
    assert (entry.what, basic(entry.loss)) == ("learning.select", (12, 0))
    assert found.estimator.guarantee_ == found.guarantee, "the model promises what the whole selection does"
    assert Assumption.SEEDED in found.guarantee.assumes


def test_frames_people_and_regressions_are_selected_over() -> None:
    X, _ = rows()
    frame, y = pandas.DataFrame(X, columns=["a", "b"]), 0.5 * X[:, 0]
    models = [LinearRegression(domain=UNIT, target=UNIT, rows_per_person=n) for n in (1, 2)]
    price = book(person="id").budget(epsilon=9)
    found = select(models, frame, y, budget=price, groups=np.repeat(np.arange(100), 4))
    assert found.guarantee.person == "id"
    assert list(found.estimator.feature_names_in_) == ["a", "b"]


def test_a_lazy_frame_is_refused_before_the_charge() -> None:
    ledger = book()
    X, y = rows()
    with pytest.raises(InvalidArgument, match="X is a lazy frame"):
        select(candidates(), polars.LazyFrame(X), y, budget=ledger.budget(epsilon=12))
    assert not ledger.entries


def test_the_size_of_a_part_is_private_to_every_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where people are exchanged the size of the table is public, and that of one cell of a partition is not."""
    sizes = []

    def asked(self: Any, *data: Any, **more: Any) -> Any:
        question = PrivateEstimator._ask(self, *data, **more)
        sizes.append(question.size)
        return question

    monkeypatch.setattr(NaiveBayes, "_ask", asked, raising=False)
    ledger = book(REPLACE_ONE)
    select(candidates(), *rows(50), budget=ledger.budget(epsilon=9), tries=1)
    assert None not in sizes
    sizes.clear()
    select(candidates(), *rows(50), budget=ledger.partition("ward").budget("north", epsilon=9), tries=1)
    assert set(sizes) == {None}


def test_people_whose_names_differ_in_a_last_nul_take_sides_by_themselves() -> None:
    people = [name for i in range(200) for name in (f"p{i}", f"p{i}\0")]
    trial = Trial(None, None, None, people, np.random.default_rng(1), "")  # type: ignore[arg-type]
    sides = trial._held().reshape(200, 2)
    assert (sides[:, 0] != sides[:, 1]).any()


def test_what_cannot_be_selected_is_refused_before_anything_is_charged() -> None:
    ledger = book()
    price = ledger.budget(epsilon=3)
    with pytest.raises(BudgetMissing):
        select(candidates(), *rows(), budget=None)
    limited, deltaless = NearestNeighbours(domain=UNIT, classes=[0, 1], queries=5), BoostedTrees(domain=UNIT)
    for wrong in ([], [object()], [KMeans(domain=UNIT)], [NaiveBayes(domain=UNIT)], [limited], [deltaless]):
        with pytest.raises(InvalidArgument):
            select(wrong, *rows(), budget=price)
    assert not ledger.entries


def test_rule_2_strange_rows_change_no_error_and_no_charge() -> None:
    ledger = book()
    X, y = rows(20)
    for data, labels in ((X * np.nan, y), (X * 1e300, y + 7), (X[:0], y[:0]), (X[:1], y[:1])):
        select(candidates(), data, labels, budget=ledger.budget(epsilon=3), tries=2)
    assert ledger.spent.epsilon == 12


def test_the_number_of_the_best_run_is_not_told() -> None:
    """Pr[run j is the best] moves by e^(epsilon j), which no price of three runs covers."""
    for seed in range(3):
        found = select(
            candidates(), *rows(50), budget=book().budget(epsilon=3), tries=50, rng=np.random.default_rng(seed)
        )
        assert found.estimator.budget is None
        assert "try" not in repr(vars(found.estimator))


def test_rule_8_seeded_candidates_draw_other_noise_for_another_entry() -> None:
    ledger = book()
    seeded = [NaiveBayes(domain=UNIT, classes=[0, 1], random_state=5)]
    found = [
        select(seeded, *rows(), budget=ledger.budget(epsilon=3), tries=1, rng=np.random.default_rng(1)).estimator
        for _ in range(2)
    ]
    assert not np.array_equal(found[0]._means, found[1]._means)


class FailsOnRows(NaiveBayes):
    """A candidate of a user's own that fits nobody but fails wherever there are rows."""

    def fit(self, X: Any, y: Any, groups: Any = None) -> Any:
        if len(X):
            raise ValueError(f"{len(X)} rows")
        return super().fit(X, y, groups=groups)


class PredictsPairs(NaiveBayes):
    """A candidate whose predictions have another shape than the rows."""

    def predict(self, X: Any) -> Any:
        return np.repeat(super().predict(X)[:, None], 2, axis=1)


class FailsToPredict(NaiveBayes):
    """A candidate whose predictions fail."""

    def predict(self, X: Any) -> Any:
        raise ValueError(f"{len(X)} rows")


@pytest.mark.parametrize("kind", [FailsOnRows, PredictsPairs, FailsToPredict])
def test_a_candidate_that_fails_on_real_rows_is_worth_nothing_and_says_nothing(kind: Any) -> None:
    X, y = rows()
    ledger = book()
    given = candidates()[0].get_params()
    found = select([kind(**given)], X, y, budget=ledger.budget(epsilon=30), rng=np.random.default_rng(1))
    assert found.details["score"] < 150, "of about two hundred rows held back"
    assert [entry.finished for entry in ledger.entries] == [True]


class Picky:
    """A model of the caller's own that fails on a whole batch for one of its rows."""

    def predict(self, rows: Any) -> Any:
        if (rows == 99).any():
            raise ValueError("99")
        return np.where(rows[:, 0] > 0, "yes", "no")


def test_rule_12_a_row_on_which_a_model_fails_moves_its_score_by_that_row_alone() -> None:
    rows = np.arange(-5.0, 5.0).reshape(-1, 1)
    y = np.where(rows[:, 0] > 0, "yes", "no")
    asked: Any = SimpleNamespace(classes=np.array(["no", "yes"]), target=None)
    before = _points(Picky(), asked, rows, y)
    rows[3] = 99
    after = _points(Picky(), asked, rows, y)
    assert before.tolist() == [FINE] * 10
    assert after.tolist() == [FINE] * 3 + [0] + [FINE] * 6
