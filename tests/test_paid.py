"""Every public callable that takes `budget=`: one list, found by introspection, and the same refusals everywhere.

Nothing is spent by what is refused; an entry is finished after success and open after a crash while data is read.
"""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from sklearn.base import clone

import bruit
from bruit import central, deep, learning, sql, synthetic
from bruit.core import Release, Seed
from bruit.errors import (
    BruitError,
    BudgetMissing,
    InvalidArgument,
    NeighboursDiffer,
    PrivacyError,
)
from bruit.ledger import Budget, Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, LOCAL, Assumption, Pure
from bruit.tables import within
from bruit.tables.plan.operators import open_table
from bruit.tables.schema import Schema, category
from bruit.tables.schema import number as number_column

PRICING = ("ledger", "mechanisms")
"""Packages whose functions price a budget and charge no book by themselves."""

DOMAIN = within(0, 10, grid=1)


class Crash(BaseException):
    """Not an error that a caller's function may raise: the process dies."""


class Crashing:
    """An array that can be read until the book holds an entry."""

    def __init__(self, values: Any, book: Ledger) -> None:
        self.values, self.book, self.shape = np.asarray(values), book, np.asarray(values).shape

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        if self.book.entries:
            raise Crash
        return np.array(self.values, dtype)


class CrashingRecords(torch.utils.data.Dataset[Any]):
    """Records of which none can be read once the book holds an entry."""

    def __init__(self, book: Ledger) -> None:
        self.book = book

    def __len__(self) -> int:
        return 64

    def __getitem__(self, place: int) -> Any:
        if self.book.entries:
            raise Crash
        return torch.zeros(4), torch.tensor(0)


@dataclass(frozen=True)
class Case:
    """How a callable is asked: `call(budget, source, numbers)`, `crash` the same with data that cannot be read."""

    call: Callable[..., Any]
    crash: Callable[..., Any]
    numbers: dict[str, int] = field(default_factory=dict)
    exact: bool = False
    what: str | None = None


def book(**terms: Any) -> Ledger:
    usual: dict[str, Any] = {"epsilon": 1000, "delta": 1e-2, "neighbours": ADD_OR_REMOVE_ONE, "person": EACH_ROW}
    return Ledger("rows", **(usual | terms))


def table(folder: Path) -> Any:
    file = folder / "rows.csv"
    pl.DataFrame({"x": [1.0, 2.0, 3.5, 9.0], "city": ["Paris", "Lyon", "Lyon", "Rome"]}).write_csv(file)
    return bruit.tables.read(file, person=EACH_ROW)


Ask = Callable[[Any, dict[str, Any]], Any]


def statistic(ask: Ask, **numbers: int) -> Case:
    """A statistic of a table in a file; the file is gone when it is read."""

    def call(folder: Path, budget: Any, source: Any, given: dict[str, Any]) -> Any:
        return ask(table(folder), {"budget": budget, "rng": source, **given})

    def crash(folder: Path, budget: Budget) -> None:
        rows = table(folder)
        (folder / "rows.csv").unlink()
        try:
            ask(rows, {"budget": budget, **numbers})
        except (BruitError, OSError, pl.exceptions.PolarsError) as error:
            raise Crash from error

    return Case(call, crash, numbers)


def by_function(ask: Callable[[Any, Callable[[Any], Any], dict[str, Any]], Any], **numbers: int) -> Case:
    """What reads a table through a caller's function; the process dies inside it."""

    def call(folder: Path, budget: Any, source: Any, given: dict[str, Any]) -> Any:
        return ask(table(folder), lambda _: [0, 1], {"budget": budget, "rng": source, **given})

    def crash(folder: Path, budget: Budget) -> None:
        def scores(rows: Any) -> list[int]:
            if len(rows.frame.collect()):
                raise Crash
            return [0, 1]

        ask(table(folder), scores, {"budget": budget, **numbers})

    return Case(call, crash, numbers)


def threshold_asked(rows: Any, question: Callable[[Any], Any], given: dict[str, Any]) -> Any:
    asking = central.AboveThreshold(rows, given.pop("threshold", -1000), **given)
    asking.ask(lambda rows: question(rows)[1])
    return asking.close()


X, Y, NUMBERS = np.arange(40).reshape(20, 2) % 11, np.arange(20) % 2, np.arange(20.0) % 7


def estimator(kind: type[Any], more: dict[str, Any], **numbers: int) -> Case:
    """A fit; its rows cannot be read after the charge."""
    target = NUMBERS if "target" in more else Y

    def call(folder: Path, budget: Any, source: Any, given: dict[str, Any]) -> Any:
        del folder
        model = kind(**({"domain": DOMAIN} | more | {"budget": budget, "random_state": source} | given))
        return model.fit(X, target).release_

    def crash(folder: Path, budget: Budget) -> None:
        del folder
        kind(**({"domain": DOMAIN, "budget": budget} | more | numbers)).fit(Crashing(X, budget.ledger), target)

    return Case(call, crash, numbers, exact=True)


def selected(folder: Path, budget: Any, source: Any, given: dict[str, Any], rows: Any = X) -> Any:
    del folder
    candidates = [learning.NaiveBayes(domain=DOMAIN, classes=[0, 1])]
    return learning.select(candidates, rows, Y, budget=budget, rng=source, **given)


def searched(folder: Path, budget: Any, source: Any, given: dict[str, Any], rows: Any = X) -> Any:
    del folder
    model = learning.NaiveBayes(domain=DOMAIN, classes=[0, 1])
    search = learning.PrivateSearch(model, {"rows_per_person": [1, 2]}, budget=budget, random_state=source, **given)
    return search.fit(rows, Y).release_


def evaluated(folder: Path, budget: Any, source: Any, given: dict[str, Any], rows: Any = X) -> Any:
    del folder
    model = learning.NaiveBayes(domain=DOMAIN, classes=[0, 1], budget=book().budget(epsilon=1)).fit(X, Y)
    return learning.evaluate(model, rows, Y, budget=budget, rng=source, **given)


POINTS = torch.randn(64, 4, generator=torch.Generator().manual_seed(1))
LABELS = (POINTS[:, 0] > 0).long()
RUN: dict[str, Any] = {"epochs": 1, "batch_size": 16, "clip": 1.0, "example": (torch.zeros(4), 0)}


def trained(folder: Path, budget: Any, source: Any, given: dict[str, Any], data: Any = (POINTS, LABELS)) -> Any:
    del folder
    return deep.train(torch.nn.Linear(4, 2), data, budget=budget, rng=source, **(RUN | given))


def privatised(folder: Path, budget: Any, source: Any, given: dict[str, Any], data: Any = (POINTS, LABELS)) -> Any:
    del folder
    model = torch.nn.Linear(4, 2)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    training = deep.privatise(model, optimiser, data, budget=budget, rng=source, **(RUN | given))
    for batch in training:
        training.step(batch)
    return training.release()


def headed(folder: Path, budget: Any, source: Any, given: dict[str, Any], **more: Any) -> Any:
    del folder
    asked = {"classes": 2, **given, **more}
    return deep.train_head(POINTS, LABELS, deep.Recipe(2, 1.0, 1.0), budget=budget, rng=source, **asked)


def recipe_searched(folder: Path, budget: Any, source: Any, given: dict[str, Any], recipe: Any = None) -> Any:
    del folder
    asked = {"classes": 2, "tries": 1, "recipes": [recipe or deep.Recipe(2, 1.0, 1.0)], **given}
    return deep.RecipeSearch(budget=budget, rng=source, **asked).fit(POINTS, LABELS)


def network_that_crashes(book: Ledger) -> Any:
    """A network that cannot be made once the book holds an entry."""

    def make() -> torch.nn.Module:
        if book.entries:
            raise Crash
        return torch.nn.Linear(4, 2)

    return deep.NetworkRecipe(make, epochs=1, batch_size=16, clip=1.0)


def stopped(done: int, steps: int) -> None:
    raise Crash


ROWS = Schema(EACH_ROW, {"x": number_column(0, 10, grid=1), "city": category(["Lyon", "Paris"])}, name="rows")
SYNTHESISED: dict[str, Any] = {"x": within(0, 10, grid=1), "city": bruit.tables.among(["Lyon", "Paris"])}


def queried(folder: Path, budget: Any, source: Any, given: dict[str, Any]) -> Any:
    table(folder)
    rows = open_table(folder / "rows.csv", ROWS)
    answer = sql.ask("select count(*) as n from rows", tables={"rows": rows}, budget=budget, rng=source, **given)
    return answer.release


def crash_by_query(folder: Path, budget: Budget) -> None:
    table(folder)
    rows = open_table(folder / "rows.csv", ROWS)
    (folder / "rows.csv").unlink()
    try:
        sql.ask("select count(*) as n from rows", tables={"rows": rows}, budget=budget)
    except (BruitError, OSError, pl.exceptions.PolarsError) as error:
        raise Crash from error


LABELLED: dict[str, Any] = {"classes": [0, 1]}
PREDICTED: dict[str, Any] = {"target": within(0, 10, grid=1)}
TRAINING: dict[str, Any] = {"epochs": 1, "batch_size": 16, "size": 64, "at_once": 8}

CASES: dict[str, Case] = {
    "central.count": statistic(lambda rows, given: central.count(rows, **given)),
    "central.sum": statistic(lambda rows, given: central.sum(rows["x"].within(0, 10, grid=1), **given)),
    "central.mean": statistic(lambda rows, given: central.mean(rows["x"].within(0, 10, grid=1), **given)),
    "central.variance": statistic(lambda rows, given: central.variance(rows["x"].within(0, 10, grid=1), **given)),
    "central.histogram": statistic(lambda rows, given: central.histogram(rows["city"].among(["Lyon"]), **given)),
    "central.group_by": statistic(lambda rows, given: central.group_by(rows["city"], **given)),
    "central.bounds": statistic(lambda rows, given: central.bounds(rows["x"], largest=100, grid=1, **given)),
    "central.most_common": statistic(lambda rows, given: central.most_common(rows["city"].among(["Lyon"]), **given)),
    "central.quantiles": statistic(
        lambda rows, given: central.quantiles(rows["x"].within(0, 10, grid=1), [0.5], **given)
    ),
    "central.rank_sums": statistic(
        lambda rows, given: central.rank_sums(
            rows["x"].within(0, 10, grid=1), rows["city"].among(["Paris", "Lyon"]), **given
        )
    ),
    "central.inverse_sensitivity": statistic(
        lambda rows, given: central.inverse_sensitivity(
            rows["x"].within(0, 2, grid=1), lambda counts: int(counts.sum() > 2), [0, 1], **given
        ),
        reach=2,
    ),
    "central.exponential": by_function(
        lambda rows, scores, given: central.exponential(rows, ["a", "b"], scores, **given), sensitivity=1
    ),
    "central.noisy_max": by_function(
        lambda rows, scores, given: central.noisy_max(rows, ["a", "b"], scores, **given), sensitivity=1
    ),
    "central.AboveThreshold": by_function(threshold_asked, sensitivity=1),
    "sql.ask": Case(queried, crash_by_query, what="central.question"),
    "synthetic.synthesise": statistic(
        lambda rows, given: synthetic.synthesise(rows, SYNTHESISED, mode="tree", **given)
    ),
    "learning.NaiveBayes": estimator(learning.NaiveBayes, LABELLED, size=20),
    "learning.LogisticRegression": estimator(learning.LogisticRegression, LABELLED, size=20, rounds=2),
    "learning.LinearRegression": estimator(learning.LinearRegression, PREDICTED, size=20),
    "learning.KMeans": estimator(learning.KMeans, {}, n_clusters=2, size=20, rounds=2),
    "learning.PCA": estimator(learning.PCA, {}, n_components=1, size=20),
    "learning.DecisionTree": estimator(learning.DecisionTree, LABELLED, size=20, max_depth=2, bins=4),
    "learning.Forest": estimator(learning.Forest, LABELLED, size=20, n_estimators=3, max_depth=2, bins=4),
    "learning.BoostedTrees": estimator(learning.BoostedTrees, LABELLED, size=20, n_estimators=3, max_depth=2, bins=4),
    "learning.AdditiveModel": estimator(learning.AdditiveModel, LABELLED, size=20, steps=3, bins=4),
    "learning.NearestNeighbours": estimator(learning.NearestNeighbours, LABELLED, n_neighbors=3, queries=5),
    "learning.Student": estimator(learning.Student, {**LABELLED, "public": X[:5]}, n_neighbors=3),
    "learning.select": Case(
        selected,
        lambda folder, budget: selected(folder, budget, None, {}, Crashing(X, budget.ledger)),
        {"tries": 1},
    ),
    "learning.PrivateSearch": Case(
        searched,
        lambda folder, budget: searched(folder, budget, None, {}, Crashing(X, budget.ledger)),
        {"tries": 1, "held_parts": 2},
    ),
    "learning.evaluate": Case(
        evaluated,
        lambda folder, budget: evaluated(folder, budget, None, {}, Crashing(X, budget.ledger)),
        {"bins": 3, "size": 20},
    ),
    "deep.train": Case(
        trained,
        lambda folder, budget: trained(folder, budget, None, {}, CrashingRecords(budget.ledger)),
        TRAINING,
        exact=True,
    ),
    "deep.privatise": Case(
        privatised,
        lambda folder, budget: privatised(folder, budget, None, {}, CrashingRecords(budget.ledger)),
        TRAINING,
        exact=True,
        what="deep.train",
    ),
    "deep.train_head": Case(
        headed,
        lambda folder, budget: headed(folder, budget, None, {}, on_progress=stopped),
        {"classes": 2, "size": 64, "at_once": 8},
    ),
    "deep.RecipeSearch": Case(
        recipe_searched,
        lambda folder, budget: recipe_searched(folder, budget, None, {}, network_that_crashes(budget.ledger)),
        {"classes": 2, "tries": 1, "held_parts": 2, "size": 64},
    ),
}

every = pytest.mark.parametrize("name", CASES)


def paid_callables() -> Iterator[str]:
    """Every public function and class that takes a budget, of every package that may charge one."""
    for package in pkgutil.iter_modules(bruit.__path__):
        if package.ispkg and package.name not in (*PRICING, "apps"):
            module = importlib.import_module(f"bruit.{package.name}")
            for name in module.__all__:
                if callable(getattr(module, name)) and "budget" in _parameters(getattr(module, name)):
                    yield f"{package.name}.{name}"


def _parameters(of: Any) -> set[str]:
    try:
        return set(inspect.signature(of).parameters)
    except (TypeError, ValueError):  # a class of the standard library or of torch
        return set()


ELSEWHERE = {"continual.Stream", "synthetic.compare", "synthetic.compare_cells", "synthetic.synthesise_linked"}
"""A stream is open until its last period, and only in a store; linked tables need people with several rows.

A comparison takes no budget but WITHOUT_PRIVACY. The tests of their packages hold their refusals and entries.
"""


def test_none_is_forgotten() -> None:
    assert sorted(paid_callables()) == sorted({*CASES, *ELSEWHERE})


def refused(name: str, folder: Path, budget: Any, kind: type[BruitError], **more: Any) -> str:
    """The one sentence of a refusal, without the name of who refused."""
    case = CASES[name]
    with pytest.raises(kind) as found:
        case.call(folder, budget, more.pop("source", None), case.numbers | more)
    assert type(found.value) is kind
    return str(found.value).replace(case.what or name, "it")


@every
def test_no_budget(name: str, tmp_path: Path) -> None:
    otherwise = ", or budget=bruit.WITHOUT_PRIVACY to ask for the exact algorithm by name" if CASES[name].exact else ""
    told = refused(name, tmp_path, None, BudgetMissing)
    assert told == f"it needs a budget: give budget=ledger.budget(epsilon=...){otherwise}"


@every
def test_what_is_no_budget(name: str, tmp_path: Path) -> None:
    told = refused(name, tmp_path, 1.0, InvalidArgument)
    assert told == "budget=1.0 is not a budget: it is paid with budget=ledger.budget(epsilon=...)"


@every
def test_a_local_book(name: str, tmp_path: Path) -> None:
    local = book(neighbours=LOCAL)
    told = refused(name, tmp_path, local.budget(epsilon=1), NeighboursDiffer)
    assert told.startswith(
        "it reads data behind one curator; the book 'rows' is local, kept by respondents: use a book"
    )
    assert not local.entries


@every
def test_an_epsilon_of_zero(name: str, tmp_path: Path) -> None:
    ledger = book()
    told = refused(name, tmp_path, ledger.budget(Pure(0, neighbours=ADD_OR_REMOVE_ONE)), InvalidArgument)
    assert told == "it: a price of epsilon=0 buys no answer; give an epsilon above zero"
    assert not ledger.entries


@every
def test_a_book_of_other_people(name: str, tmp_path: Path) -> None:
    ledger = book(person="id")
    told = refused(name, tmp_path, ledger.budget(epsilon=1, delta=1e-4), PrivacyError)
    assert told.startswith(
        "it: the book 'rows' protects 'id', but here each row is a person of its own; use a book for"
    )
    assert not ledger.entries


@every
@pytest.mark.parametrize("wrong", ["x", -1, 1.5, True])
def test_rule_13_what_is_no_source_of_randomness(name: str, wrong: Any, tmp_path: Path) -> None:
    ledger = book()
    told = refused(name, tmp_path, ledger.budget(epsilon=1, delta=1e-4), InvalidArgument, source=wrong)
    known = rf"(rng|random_state)={wrong!r} is no source of randomness; give None for the strong source, or a numpy "
    assert re.match(known, told)
    assert not ledger.entries


@every
def test_rule_13_numbers_that_are_not_whole(name: str, tmp_path: Path) -> None:
    ledger = book()
    for number in CASES[name].numbers:
        for wrong in ("3", 1.5, True, 0, None if number in ("sensitivity", "reach", "epochs", "batch_size") else -1):
            told = refused(name, tmp_path, ledger.budget(epsilon=1, delta=1e-4), InvalidArgument, **{number: wrong})
            assert told.startswith(
                (
                    f"{number}={wrong!r} must be a whole number, at least ",
                    f"{number}={wrong!r} must be a whole number from 1 to ",
                )
            )
    assert not ledger.entries


def states_confidence(name: str) -> bool:
    package, _, last = name.partition(".")
    return "confidence" in _parameters(getattr(importlib.import_module(f"bruit.{package}"), last))


@pytest.mark.parametrize("name", [name for name in CASES if states_confidence(name)])
def test_a_confidence_that_is_no_share(name: str, tmp_path: Path) -> None:
    ledger = book()
    told = refused(name, tmp_path, ledger.budget(epsilon=1, delta=1e-4), InvalidArgument, confidence=2)
    assert told == "confidence=2 must lie between 0 and 1, for example 0.95"
    assert not ledger.entries


@every
def test_success_finishes_the_entry_and_names_it(name: str, tmp_path: Path) -> None:
    """With NumPy's whole numbers, which are taken wherever Python's are."""
    ledger, case = book(), CASES[name]
    numbers = {key: np.int64(value) for key, value in case.numbers.items()}
    release = case.call(tmp_path, ledger.budget(epsilon=5, delta=1e-4), np.random.default_rng(3), numbers)
    (entry,) = ledger.entries
    assert (entry.what, entry.state) == (case.what or name, "finished")
    assert release.receipt == ledger.receipt(1)
    assert release.guarantee == entry.guarantee
    assert Assumption.SEEDED in release.guarantee.assumes
    (kept,) = ledger.releases
    assert kept.to_json() == release.to_json()
    assert (kept.receipt, kept.method) == (release.receipt, release.method)


@every
def test_rule_13_a_crash_while_data_is_read_leaves_the_entry_open(name: str, tmp_path: Path) -> None:
    ledger, case = book(), CASES[name]
    with pytest.raises(Crash):
        case.crash(tmp_path, ledger.budget(epsilon=5, delta=1e-4))
    assert [entry.state for entry in ledger.entries] == ["open"]
    assert not ledger.releases


def test_a_candidate_with_a_wrong_seed_is_refused_before_the_charge() -> None:
    ledger = book()
    candidates = [learning.NaiveBayes(domain=DOMAIN, classes=[0, 1], random_state="x")]
    with pytest.raises(InvalidArgument, match="random_state='x' is no source of randomness"):
        learning.select(candidates, X, Y, budget=ledger.budget(epsilon=1))
    assert not ledger.entries


def test_a_strong_source_is_no_seed_and_a_seed_is_marked_once(tmp_path: Path) -> None:
    ledger = book()
    budget = ledger.budget(epsilon=1)
    for source, assumed in ((None, ()), (bruit.randomness.generator(), ()), (np.random.default_rng(1), ("seeded",))):
        assert CASES["central.count"].call(tmp_path, budget, source, {}).guarantee.assumes == assumed
        assert CASES["learning.NaiveBayes"].call(tmp_path, budget, source, {}).guarantee.assumes == assumed


def test_a_fit_is_a_release_that_pickles_without_a_cycle() -> None:
    ledger = book()
    model = learning.NaiveBayes(domain=DOMAIN, classes=[0, 1], budget=ledger.budget(epsilon=1)).fit(X, Y)
    assert model.release_.value is model
    assert (model.release_.guarantee, model.release_.method) == (model.guarantee_, "NaiveBayes")
    (kept,) = ledger.releases
    assert (kept.value, kept.details) == ("NaiveBayes", {"features": 2, "size": None, "rows_per_person": 1})
    again = pickle.loads(pickle.dumps(model.set_params(budget=None)))
    assert again.release_.value is again
    assert again.release_.receipt == ledger.receipt(1)
    with pytest.raises(AttributeError, match="not fitted, or without privacy"):
        _ = clone(model).release_
    with pytest.raises(AttributeError, match="without privacy"):
        _ = model.set_params(budget=bruit.WITHOUT_PRIVACY).fit(X, Y).release_


def test_a_selected_model_tells_the_selection_and_nothing_of_its_run() -> None:
    ledger = book()
    chosen = selected(Path(), ledger.budget(epsilon=5), np.random.default_rng(1), {})
    assert isinstance(chosen, learning.Selection)
    assert issubclass(learning.Selection, Release)
    assert (chosen.value, chosen.details) == (chosen.estimator, {"candidate": chosen.candidate, "score": chosen.score})
    assert chosen.estimator.release_.receipt == chosen.receipt == ledger.receipt(1)
    assert "try" not in str(vars(chosen.estimator)), "the number of a run tells how many others were worse"


def test_a_quote_writes_nothing_and_is_what_is_charged() -> None:
    ledger = book()
    purchase = bruit.ledger.ask(ledger.budget(epsilon=1), what="count", person=EACH_ROW)
    loss = Pure("1/2", neighbours=ADD_OR_REMOVE_ONE)
    quote = purchase.quote(loss)
    assert not ledger.entries
    charge = purchase.pay(loss)
    assert (quote.guarantee, quote.total) == (charge.guarantee, ledger.spent.total)


def test_rule_13_a_planted_late_check_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A till that looks at the seed only when noise is drawn: the refusal comes after the charge, in other words."""
    monkeypatch.setattr("bruit.ledger.till.seed_of_rng", Seed)
    with pytest.raises(ValueError, match="invalid literal"):
        test_rule_13_what_is_no_source_of_randomness("central.count", "x", tmp_path)


def test_a_planted_missing_finish_is_caught(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("bruit.ledger.charges.Charge._keep", lambda *_: None)
    for name in ("central.count", "learning.NaiveBayes"):
        with pytest.raises(AssertionError):
            test_success_finishes_the_entry_and_names_it(name, tmp_path)
