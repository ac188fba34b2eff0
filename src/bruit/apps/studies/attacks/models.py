"""Attacks on models: a linear one stolen from its answers, and an attribute read out of one, on UCI Adult.

[Tramèr et al. 2016; Fredrikson et al. 2014]
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.apps import data
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.ledger import WITHOUT_PRIVACY, Ledger
from bruit.tables import Domain, within

if TYPE_CHECKING:
    from bruit.learning import LogisticRegression

COLUMNS: dict[str, tuple[int, int]] = {
    "age": (17, 90),
    "education-num": (1, 16),
    "hours-per-week": (1, 99),
    "male": (0, 1),
    "married": (0, 1),
}
SENSITIVE = list(COLUMNS).index("married")
DELTA = 1e-5
Floats = NDArray[np.float64]


@cache
def people(part: Literal["training", "test"], rows: int | None) -> tuple[Floats, NDArray[np.int64]]:
    """Five columns of UCI Adult, and who earns more than 50 000."""
    table = data.adult(part)
    table = table if rows is None else table.head(rows)
    male, married = polars.col("sex") == "Male", polars.col("marital-status").str.starts_with("Married-civ")
    told = table.with_columns(male=male.cast(int), married=married.cast(int)).select(list(COLUMNS))
    return told.to_numpy().astype(float), (table["income"] == ">50K").to_numpy().astype(int)


def fitted(X: Floats, y: NDArray[np.int64], epsilon: float | None, rng: np.random.Generator) -> LogisticRegression:
    """Logistic regression, exact or at a price."""
    from bruit.learning import LogisticRegression

    domain: list[Domain] = [within(*bounds, grid=1) for bounds in COLUMNS.values()]
    budget: Any = WITHOUT_PRIVACY
    if epsilon is not None:
        book = Ledger("census", epsilon=epsilon, delta=DELTA, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
        budget = book.budget(epsilon=epsilon, delta=DELTA)
    model = LogisticRegression(domain=domain, classes=[0, 1], size=len(y), budget=budget, random_state=rng)
    return model.fit(X, y)


def steal_once(
    *, rng: np.random.Generator, digits: int, queries: int, epsilon: float, rows: int | None
) -> Mapping[str, float]:
    """How often a copy of the model, solved from a few of its answers, agrees with it on the test file.

    Answers are chances with so many digits; ε = 0 stands for a model without privacy. Logarithms of the odds are linear
    in what was asked, so as many answers as there are weights give them all.
    """
    model = fitted(*people("training", rows), epsilon or None, rng)
    asked = np.column_stack([rng.uniform(low, high, queries) for low, high in COLUMNS.values()]).round()
    chance = np.clip(model.predict_proba(asked)[:, 1].round(digits), 10.0**-digits / 2, 1 - 10.0**-digits / 2)
    odds = np.log(chance / (1 - chance))
    weights = np.linalg.lstsq(np.column_stack([asked, np.ones(queries)]), odds, rcond=None)[0]
    test = people("test", rows)[0]
    said = model.predict_proba(test)[:, 1] > 0.5
    return {"agrees": float((said == (test @ weights[:-1] + weights[-1] > 0)).mean())}


def invert_once(*, rng: np.random.Generator, epsilon: float, rows: int | None) -> Mapping[str, float]:
    """How often an attacker infers who is married from the model, the other columns and the income.

    The value under which the model finds the true income likeliest, weighed by how frequent it is, is believed. People
    whom the model never saw are told as well as those it did: what leaks is a law of all, not a record.
    """
    training, test = people("training", rows), people("test", rows)
    model = fitted(*training, epsilon or None, rng)
    frequent = float(training[0][:, SENSITIVE].mean())
    found = {"guessing": max(frequent, 1 - frequent)}
    for name, (X, y) in (("seen", training), ("never seen", test)):
        found[name] = float((invert(model, X, y, frequent) == X[:, SENSITIVE]).mean())
    return found


def invert(model: LogisticRegression, X: Floats, y: NDArray[np.int64], frequent: float) -> NDArray[np.int64]:
    """The likelier value of the sensitive column for each person."""
    weights = []
    for value, share in ((0, 1 - frequent), (1, frequent)):
        supposed = X.copy()
        supposed[:, SENSITIVE] = value
        weights.append(share * model.predict_proba(supposed)[np.arange(len(y)), y])
    return np.asarray(np.argmax(weights, axis=0))
