"""Every rule of docs/rules.md has tests that carry its number; here are those of rules 7 and 10, and the count."""

import re
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from sklearn.model_selection import cross_val_score

import bruit
from bruit import central
from bruit.core.losses import Gaussian, Laplace, Loss
from bruit.learning import NaiveBayes, select
from bruit.ledger import Budget, Ledger
from bruit.mechanisms import Mechanism
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, Assumption, basic, plan
from bruit.tables import read, within

ROOT = Path(__file__).parents[1]
MECHANISMS: dict[str, Callable[..., Mechanism[Any, Any]]] = {
    "bounds": lambda t, x, g, paid: central.bounds_mechanism(t["x"], paid, largest=64, grid="0.25"),
    "count": lambda t, x, g, paid: central.count_mechanism(x, paid),
    "exponential": lambda t, x, g, paid: central.exponential_mechanism(
        t, ["p", "q"], lambda _: [0.7, -1.2], paid, sensitivity=1
    ),
    "found_groups": lambda t, x, g, paid: central.found_groups_mechanism(t["g"], paid),
    "group_sums": lambda t, x, g, paid: central.group_sums_mechanism(g, x, paid),
    "histogram": lambda t, x, g, paid: central.histogram_mechanism(g, x, price=paid),
    "inverse_sensitivity": lambda t, x, g, paid: central.inverse_sensitivity_mechanism(
        g, lambda counts: int(counts.argmax()), [0, 1], paid, reach=2
    ),
    "mean": lambda t, x, g, paid: central.mean_mechanism(x, paid),
    "most_common": lambda t, x, g, paid: central.most_common_mechanism(g, paid),
    "noisy_max": lambda t, x, g, paid: central.noisy_max_mechanism(
        t, ["p", "q"], lambda _: [0.7, -1.2], paid, sensitivity=1
    ),
    "quantiles": lambda t, x, g, paid: central.quantiles_mechanism(x, [0.5], paid),
    "rank_sums": lambda t, x, g, paid: central.rank_sums_mechanism(x, g, paid),
    "sum": lambda t, x, g, paid: central.sum_mechanism(x, paid),
    "variance": lambda t, x, g, paid: central.variance_mechanism(x, paid),
}


def whole(found: object) -> bool:
    """Whether every number in a reading is an integer; texts are labels."""
    if is_dataclass(found):
        return all(whole(getattr(found, field.name)) for field in fields(found))
    if isinstance(found, tuple | list | dict):
        return all(map(whole, found.values() if isinstance(found, dict) else found))
    array = np.asarray(found)
    kinds = {type(value) for value in array.reshape(-1)} if array.dtype == object else set()
    return array.dtype.kind in "iubUT" or (bool(kinds) and kinds <= {int, str})


def mechanism_of(name: str) -> Mechanism[Any, Any]:
    frame = pl.DataFrame({"id": [1, 2, 2, 3], "x": [0.1, 2.7, 9.99, -3.3], "g": ["a", "b", "a", "b"]})
    table = read(frame, person="id").limit(rows=1)
    book = Ledger("people", epsilon=100, delta=0.1, neighbours=ADD_OR_REMOVE_ONE, person="id")
    price = book.budget(epsilon=1, delta=0.01) if name == "found_groups" else book.budget(epsilon=1)
    return MECHANISMS[name](table, table["x"].within(-1, 10, grid="0.25"), table["g"].among(["a", "b"]), price)


def is_continuous(loss: Loss) -> bool:
    return any(isinstance(part, Laplace | Gaussian) for part, _ in loss.parts())


@pytest.mark.parametrize("name", MECHANISMS)
def test_rule_7_what_is_read_are_integers_and_what_is_paid_for_is_discrete(name: str) -> None:
    mechanism = mechanism_of(name)
    found = mechanism.read(np.random.default_rng(1))
    assert whole(found), found
    assert not is_continuous(mechanism.loss)


def test_rule_7_every_maker_is_tried_and_a_planted_float_is_seen() -> None:
    assert {f"{name}_mechanism" for name in MECHANISMS} == {
        name for name in central.__all__ if name.endswith("_mechanism")
    }
    assert not whole((np.array([1, 2]), 0.5))
    assert is_continuous(Laplace(1, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE))


def test_rule_7_training_says_that_its_arithmetic_is_idealised() -> None:
    run = plan(size=1000, batch_size=50, epochs=1, delta=1e-5, noise_multiplier=1.0, neighbours=ADD_OR_REMOVE_ONE)
    assert Assumption.IDEALISED_ARITHMETIC in run.guarantee(EACH_ROW).assumes


def model(budget: Budget | None = None) -> NaiveBayes:
    return NaiveBayes(domain=within(0, 1, grid="0.01"), classes=[0, 1], budget=budget)


def test_rule_10_scores_on_folds_are_paid_fold_by_fold_and_a_selection_costs_three_runs() -> None:
    rng = np.random.default_rng(1)
    X, y = rng.random((60, 2)), rng.integers(0, 2, 60)
    book = Ledger("people", epsilon=100, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    scores = cross_val_score(model(book.budget(epsilon=1)), X, y, cv=3)
    assert [basic(entry.loss) for entry in book.entries] == [(1, 0)] * 3, "each fold's fit is an entry of its own"
    assert not isinstance(scores, bruit.Release)
    found = select([model(), model()], X, y, budget=book.budget(epsilon=9), tries=2, rng=rng)
    assert found.guarantee.epsilon == 9
    assert book.entries[-1].what == "learning.select"
    assert book.spent.epsilon == 12


def test_every_rule_has_tests_that_carry_its_number_and_no_other_number_is_carried() -> None:
    rules = set(re.findall(r"^(\d+)\. \*\*", (ROOT / "docs/rules.md").read_text(), re.M))
    sources = [path.read_text() for path in (ROOT / "tests").rglob("test_*.py")]
    carried = {number for text in sources for number in re.findall(r"^def test_rule_(\d+)_", text, re.M)}
    assert rules == carried
