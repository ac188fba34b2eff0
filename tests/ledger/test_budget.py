"""A price is frozen, follows its book everywhere, and every use pays again."""

import copy
import dataclasses
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Never

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import cross_val_score
from stress.ledger import charge

from bruit.core import Outcome
from bruit.errors import BudgetExceeded, BudgetMissing, InvalidArgument, LedgerError, StorageError, TermsDiffer
from bruit.ledger import WITHOUT_PRIVACY, Ledger, require
from bruit.privacy import ADD_OR_REMOVE_ONE, Pure


class Majority(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Stands for every estimator that pays when it fits."""

    def __init__(self, budget: Any = None) -> None:
        self.budget = budget

    def fit(self, X: Any, y: Any) -> Any:
        require(self.budget, "Majority").charge(self.budget.loss, what="Majority.fit")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.classes_[0])


def book(store: str | None, epsilon: int = 2) -> Ledger:
    return Ledger("adult", epsilon=epsilon, neighbours=ADD_OR_REMOVE_ONE, person="id", store=store)


@pytest.mark.parametrize("stored", [False, True])
def test_a_clone_pays_from_the_same_book_so_the_third_fit_of_five_is_refused(stored: bool, tmp_path: Path) -> None:
    """The field's library loses its accountant when cloned: five fits at ε = 1 under a ceiling of 2, and it read 0."""
    ledger = book(f"sqlite:///{tmp_path}/b.db" if stored else None)
    model = Majority(budget=ledger.budget(epsilon=1))
    X, y = np.zeros((10, 1)), np.arange(10) % 2
    fitted = 0
    with pytest.raises(BudgetExceeded):
        for _ in range(5):
            clone(model).fit(X, y)
            fitted += 1
    assert fitted == 2
    assert ledger.spent.epsilon == 2


def test_every_fold_of_a_cross_validation_pays(tmp_path: Path) -> None:
    ledger = book(f"sqlite:///{tmp_path}/b.db", epsilon=5)
    X, y = np.zeros((20, 1)), np.arange(20) % 2
    cross_val_score(Majority(budget=ledger.budget(epsilon=1)), X, y, cv=5, error_score="raise")
    assert ledger.remaining.epsilon == 0
    with pytest.raises(BudgetExceeded):
        cross_val_score(Majority(budget=ledger.budget(epsilon=1)), X, y, cv=5, error_score="raise")


def test_copies_and_pickles_are_the_same_book(store: str) -> None:
    ledger = book(store)
    budget = ledger.budget(epsilon=1)
    for same in (copy.copy(budget), copy.deepcopy(budget), pickle.loads(pickle.dumps(budget))):
        assert same == budget
        assert same.ledger == ledger
    pickle.loads(pickle.dumps(budget)).charge(budget.loss, what="a pickle")
    copy.deepcopy(budget).charge(budget.loss, what="a copy")
    with pytest.raises(BudgetExceeded):
        budget.charge(budget.loss, what="the first")


def test_a_charge_can_be_finished_from_its_pickle(store: str) -> None:
    ledger = book(store)
    made = ledger.budget(epsilon=1).charge(Pure(1, neighbours=ADD_OR_REMOVE_ONE), what="count")
    pickle.loads(pickle.dumps(made)).finish(Outcome(3, "count"))
    assert ledger.releases[0].value == 3


def test_a_book_in_memory_is_its_own_copy_but_refuses_to_pickle() -> None:
    budget = book(None).budget(epsilon=1)
    assert copy.deepcopy(budget).ledger is budget.ledger
    with pytest.raises(LedgerError, match="store="):
        pickle.dumps(budget)


def test_two_books_in_memory_are_two_books() -> None:
    assert book(None) != book(None)
    assert len({book(None), book(None)}) == 2


def test_a_book_that_was_replaced_is_not_taken_for_the_old_one(tmp_path: Path) -> None:
    ledger = book(f"sqlite:///{tmp_path}/b.db")
    pickled = pickle.dumps(ledger)
    with (tmp_path / "b.db").open("rb"):
        for left in tmp_path.iterdir():
            left.unlink()
    code = (
        "import pickle, sys, bruit.ledger, bruit.privacy as p; "
        "bruit.ledger.Ledger('adult', epsilon=2, neighbours=p.ADD_OR_REMOVE_ONE, person='id', store=sys.argv[1]); "
        "print('created'); pickle.loads(bytes.fromhex(sys.argv[2]))"
    )
    command = [sys.executable, "-c", code, ledger.book.store, pickled.hex()]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.stdout.strip() == "created"
    assert "was replaced by another" in done.stderr


def test_a_forked_child_of_a_book_in_memory_is_refused_and_of_a_stored_one_charges(tmp_path: Path) -> None:
    memory, stored = book(None), book(f"sqlite:///{tmp_path}/b.db")
    stored.budget(epsilon=0.5).charge(Pure(0.5, neighbours=ADD_OR_REMOVE_ONE), what="parent")
    child = os.fork()
    if child == 0:  # pragma: no cover
        status = 1
        try:
            charge(stored.budget(epsilon=0.5))
            charge(memory.budget(epsilon=0.5))
        except LedgerError:
            status = 0
        finally:
            os._exit(status)
    assert os.waitpid(child, 0)[1] == 0
    assert stored.spent.epsilon == 1
    assert memory.spent.epsilon == 0


UNDER_STRESS = [pytest.mark.service, pytest.mark.xdist_group("postgres"), pytest.mark.stress]
"""In the gate processes charge a book on PostgreSQL in test_stored.py, two thousand times."""


@pytest.mark.parametrize("store", ["sqlite", pytest.param("postgres", marks=UNDER_STRESS)], indirect=True)
def test_spawned_processes_and_joblib_workers_charge_one_book(store: str) -> None:
    ledger = book(store, epsilon=3)
    budget = ledger.budget(epsilon=1)
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        first = pool.map(charge, [budget] * 2)
    others = joblib.Parallel(n_jobs=2)(joblib.delayed(charge)(budget) for _ in range(3))
    assert sorted(first + others) == [0, 0, 1, 2, 3]
    assert ledger.remaining.epsilon == 0


def test_threads_charge_one_book(new: Callable[..., Ledger]) -> None:
    ledger = new(epsilon=1)
    budget, granted = ledger.budget(epsilon="1/40"), []  # type: ignore[var-annotated]
    threads = [threading.Thread(target=lambda: granted.extend(charge(budget) for _ in range(10))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(number for number in granted if number) == list(range(1, 41))
    assert ledger.spent.epsilon == 1


def test_a_relative_file_means_the_same_file_in_another_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    ledger = book("sqlite:///b.db")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    charge(pickle.loads(pickle.dumps(ledger)).budget(epsilon=1))
    assert ledger.spent.epsilon == 1


def test_a_budget_is_frozen() -> None:
    budget = book(None).budget(epsilon=1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        budget.epsilon = 5  # type: ignore[assignment, misc]


def test_rule_1_a_forgotten_budget_raises() -> None:
    with pytest.raises(BudgetMissing, match=r"central\.count needs a budget"):
        require(None, "central.count")
    for wrong in (WITHOUT_PRIVACY, 1.0, book(None)):
        with pytest.raises(InvalidArgument):
            require(wrong, "central.count")


def test_without_privacy_is_one_value_everywhere() -> None:
    assert copy.deepcopy(WITHOUT_PRIVACY) is WITHOUT_PRIVACY
    assert pickle.loads(pickle.dumps(WITHOUT_PRIVACY)) is WITHOUT_PRIVACY


def test_a_release_that_cannot_be_kept_is_still_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    made = book(None).budget(epsilon=1).charge(Pure(1, neighbours=ADD_OR_REMOVE_ONE), what="count")

    def broken(number: Any, release: Any) -> Never:
        raise StorageError("the disk is gone")

    monkeypatch.setattr(made.ledger.book, "keep", broken)
    with pytest.warns(RuntimeWarning, match="paid for but not kept"):
        release = made.finish(Outcome(3, "count"))
    assert (release.value, release.guarantee, release.receipt) == (3, made.guarantee, made.receipt)
    assert made.ledger.entries[0].state == "open"


def test_room_for_a_rehearsal_is_asked_in_a_book_of_the_same_terms_and_charges_nothing() -> None:
    book, rehearsal = (Ledger("people", epsilon=2, neighbours=ADD_OR_REMOVE_ONE, person="id") for _ in range(2))
    rehearsal.budget(epsilon=2).charge(Pure(2, neighbours=ADD_OR_REMOVE_ONE), what="rehearsed")
    book.require_room_for(rehearsal)
    book.budget(epsilon=1).charge(Pure(1, neighbours=ADD_OR_REMOVE_ONE), what="paid")
    with pytest.raises(BudgetExceeded, match="left ε = 1"):
        book.require_room_for(rehearsal)
    assert book.spent.epsilon == 1
    other = Ledger("people", epsilon=2, delta="1e-6", by="zcdp", neighbours=ADD_OR_REMOVE_ONE, person="id")
    with pytest.raises(TermsDiffer, match="by=basic"):
        book.require_room_for(other)
