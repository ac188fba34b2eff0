"""Audits of private estimators: one row that moves every released sum as far as possible."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.apps.audits.case import FITS, Case, fresh_budget, loop_over
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE, Neighbours
from bruit.ledger import Budget
from bruit.tables import among, within

if TYPE_CHECKING:
    from bruit.learning import NaiveBayes

FITTED = 1.5
"""The ε that fits claim: a model is slow to fit, and the few fits of the gate can still refute this much."""

SEARCHES = 3_000
"""How many searches a full audit draws on either half of the pair: each of them fits several times."""

DELTA = 0.01
COUNTED = {ADD_OR_REMOVE_ONE: (2.0, 1_000), REPLACE_ONE: (3.0, 1_500)}
"""For each relation, the ε that counts of categories claim, and how many draws of the gate could refute it."""

ROWS, KEPT = 900, 30
"""How many rows a person has, and how many of them count.

Few of many, and still many: few fits show a model that counts every row, and one whose noise is for a single row.
"""

Floats = NDArray[np.float64]
Row = tuple[int, float]
Rows = list[Row]
"""Rows of a number and what is predicted of it, both between -1 and 1."""

FAR, FLIPPED, OPPOSITE, DROPPED = (1, 1), (1, -1), (-1, -1), (1, np.nan)
OTHERS: Rows = [FLIPPED, (-1, 1), OPPOSITE]


def cases(neighbours: Neighbours, *, epsilon: float = FITTED) -> Iterator[Case]:
    """Each estimator on four rows, with and without an extreme row, or with the opposite row in its place."""
    sizes: dict[str, Any] = {"claimed": epsilon, "small": 320, "full": FITS}
    for name, (answer, instead) in ANSWERS.items():
        pair = _pair(neighbours, OTHERS, instead)
        once = partial(_once, answer=answer, budget=partial(fresh_budget, neighbours, epsilon))
        yield Case(f"learning.{name}", neighbours, pair, loop_over(once), once, **sizes)
    once = partial(_once, answer=_linear, budget=partial(fresh_budget, neighbours, epsilon, delta=DELTA))
    pair = _pair(neighbours, OTHERS, FLIPPED)
    yield Case(
        "learning.LinearRegression", neighbours, pair, loop_over(once), once, delta=DELTA, variant="delta", **sizes
    )
    yield _of_categories(neighbours)
    yield from _of_indicators(neighbours, epsilon)
    yield from _of_people(neighbours)
    searched = {**sizes, "full": SEARCHES}
    once = partial(_once, answer=_select_score, budget=partial(fresh_budget, neighbours, epsilon))
    yield Case("learning.select", neighbours, _pair(neighbours, [], DROPPED), loop_over(once), once, **searched)
    once = partial(_once, answer=_search_score, budget=partial(fresh_budget, neighbours, epsilon, delta=DELTA))
    pair = _pair(neighbours, [], DROPPED)
    yield Case("learning.PrivateSearch", neighbours, pair, loop_over(once), once, delta=DELTA, **searched)
    once = partial(_once, answer=_right_rows, budget=partial(fresh_budget, neighbours, epsilon))
    yield Case("learning.evaluate", neighbours, _pair(neighbours, [], OPPOSITE), loop_over(once), once, **sizes)


def _of_categories(neighbours: Neighbours) -> Case:
    """Naive Bayes on categories; the extreme row is the only one of its class and of its category."""
    claimed, small = COUNTED[neighbours]
    once = partial(_once, answer=_share, budget=partial(fresh_budget, neighbours, claimed))
    sizes: dict[str, Any] = {"claimed": claimed, "small": small, "full": 5_000}
    pair = _pair(neighbours, [OPPOSITE], (-1, 1))
    return Case("learning.NaiveBayes", neighbours, pair, loop_over(once), once, variant="categories", **sizes)


def _of_indicators(neighbours: Neighbours, epsilon: float) -> Iterator[Case]:
    """Linear models with many categories, whose noise is priced for the few sums that one row changes."""
    sizes: dict[str, Any] = {"claimed": epsilon, "small": 320, "full": FITS, "variant": "indicators"}
    budget = partial(fresh_budget, neighbours, epsilon)
    for name, answer in (("LinearRegression", _linear_of_many), ("LogisticRegression", _logistic_of_many)):
        once = partial(_once, answer=answer, budget=budget)
        yield Case(f"learning.{name}", neighbours, _pair(neighbours, OTHERS, FLIPPED), loop_over(once), once, **sizes)


def _of_people(neighbours: Neighbours) -> Iterator[Case]:
    """Tables in which one person has many extreme rows, beside an empty table or one with as many opposite rows."""
    sizes: dict[str, Any] = {"claimed": FITTED, "small": 400, "full": FITS}
    budget = partial(fresh_budget, neighbours, FITTED, person="id")
    for name, size in STATED.items():
        answer, instead = ANSWERS[name]
        pair = [FAR] * ROWS, [] if neighbours is ADD_OR_REMOVE_ONE else [instead] * ROWS
        once = partial(_once, answer=partial(_of_one_person, answer=answer, size=size), budget=budget)
        yield Case(f"learning.{name}", neighbours, pair, loop_over(once), once, variant="people", **sizes)


def _of_one_person(x: Any, y: Any, *, answer: Callable[..., float], **stated: Any) -> float:
    """One answer of a model that is told whose the rows are."""
    return answer(x, y, groups=np.zeros(len(x), int), rows_per_person=KEPT, **stated)


def _pair(neighbours: Neighbours, others: Rows, instead: Row) -> tuple[Rows, Rows]:
    return [*others, FAR], others if neighbours is ADD_OR_REMOVE_ONE else [*others, instead]


def _once(rows: Rows, rng: np.random.Generator, *, answer: Callable[..., float], budget: Callable[[], Budget]) -> float:
    """One answer, rounded to tenths, so that the audit can count equal answers."""
    x, y = np.array([x for x, _ in rows], float).reshape(-1, 1), np.array([y for _, y in rows], float)
    return round(float(answer(x, y, budget=budget(), random_state=rng)), 1)


BOUNDS = within(-1, 1, grid=1)


def _linear(x: Any, y: Any, *, groups: Any = None, size: int = 4, **paid: Any) -> float:
    """The prediction of a linear regression at the upper bound."""
    from bruit.learning import LinearRegression

    model = LinearRegression(domain=BOUNDS, target=BOUNDS, size=size, **paid).fit(x, y, groups=groups)
    return float(model.predict([[1]])[0])


def _logistic(x: Any, y: Any, **paid: Any) -> float:
    """A logistic regression's log-odds at the upper bound."""
    from bruit.learning import LogisticRegression

    model = LogisticRegression(domain=BOUNDS, classes=[-1, 1], size=4, rounds=1, **paid).fit(x, y)
    return float(model.decision_function([[1]])[0])


MANY = among([-1, 1, *range(2, 8)])
"""A domain of eight categories, of which the rows use two; the indicators of the other six stay zero."""


def _linear_of_many(x: Floats, y: Floats, **paid: Any) -> float:
    """A linear regression's prediction for the category of the row in which the two data sets differ."""
    from bruit.learning import LinearRegression

    model = LinearRegression(domain=MANY, target=BOUNDS, size=4, **paid).fit(x.astype(int), y)
    return float(model.predict([[1]])[0])


def _logistic_of_many(x: Floats, y: Floats, **paid: Any) -> float:
    """A logistic regression's log-odds for the category of the row in which the two data sets differ."""
    from bruit.learning import LogisticRegression

    model = LogisticRegression(domain=MANY, classes=[-1, 1], size=4, **paid).fit(x.astype(int), y)
    return float(model.decision_function([[1]])[0])


def _bayes(x: Any, y: Any, *, groups: Any = None, **paid: Any) -> float:
    """A naive Bayes model's log-odds at the upper bound."""
    from bruit.learning import NaiveBayes

    return _odds(NaiveBayes(domain=BOUNDS, classes=[-1, 1], **paid).fit(x, y, groups=groups))


def _share(x: Any, y: Any, **paid: Any) -> float:
    """Naive Bayes: the estimated share, in tenths, of the category of the row in which the two data sets differ."""
    from bruit.learning import NaiveBayes

    model = NaiveBayes(domain=among([-1, 1]), classes=[-1, 1], **paid).fit(x.astype(int), y)
    return float(10 * model._shares[0][1, 1])


def _clusters(x: Any, y: Any, **paid: Any) -> float:
    """The sum of the coordinates of the only centre of a k-means fit."""
    from bruit.learning import KMeans

    centres = KMeans(1, domain=BOUNDS, rounds=1, **paid).fit(np.column_stack([x, y])).cluster_centers_
    return float(centres.sum())


def _components(x: Any, y: Any, *, groups: Any = None, **paid: Any) -> float:
    """The sum of the coordinates of the noisy mean of a PCA fit."""
    from bruit.learning import PCA

    return float(PCA(1, domain=BOUNDS, **paid).fit(np.column_stack([x, y]), groups=groups).mean_.sum())


def _select_score(x: Any, y: Any, **paid: Any) -> float:
    """Whether `select` reports a high score; half of the time the extreme row is among the rows that are scored."""
    from bruit.learning import LinearRegression, select

    rng = paid["random_state"]
    candidates = [LinearRegression(domain=BOUNDS, target=BOUNDS, size=1000, random_state=rng)]
    found = select(candidates, x, y, budget=paid["budget"], tries=1, rng=rng)
    return float(found.score > 0.6)  # noise this large makes predictions small: the row counts three quarters


def _search_score(x: Floats, y: Floats, **paid: Any) -> float:
    """Whether `PrivateSearch` reports a high score; half of the time the extreme row is among those scored."""
    from bruit.learning import LinearRegression, PrivateSearch

    model = LinearRegression(domain=BOUNDS, target=BOUNDS, size=1000, random_state=paid["random_state"])
    found = PrivateSearch(model, {"confidence": [0.95]}, held_parts=2, tries=1, **paid).fit(x, y)
    return float(found.best_score_ > 0.6)


@cache
def _any_classifier() -> NaiveBayes:
    """A classifier fitted on other rows, so that its predictions reveal nothing about those that are audited."""
    from bruit.learning import NaiveBayes

    budget = fresh_budget(ADD_OR_REMOVE_ONE, 100.0)
    return NaiveBayes(domain=BOUNDS, classes=[-1, 1], budget=budget).fit([[-1], [1]] * 20, [-1, 1] * 20)


def _right_rows(x: Floats, y: Floats, **paid: Any) -> float:
    """The noisy count of `evaluate`'s confusion matrix in the cell of the row in which the data sets differ."""
    from bruit.learning import evaluate

    found = evaluate(_any_classifier(), x, y, budget=paid["budget"], bins=1, rng=paid["random_state"])
    return float(found.confusion["rows"][3])


def _odds(model: Any) -> float:
    share = model.predict_proba([[1]])[0, 1]
    return float(np.log((share + 1e-9) / (1 - share + 1e-9)))


ANSWERS: dict[str, tuple[Callable[..., float], Row]] = {
    "LinearRegression": (_linear, FLIPPED),
    "LogisticRegression": (_logistic, FLIPPED),
    "NaiveBayes": (_bayes, FLIPPED),
    "KMeans": (_clusters, OPPOSITE),
    "PCA": (_components, OPPOSITE),
}
"""For each model, one number computed from a fit, and the row that, in place of the extreme one, moves it most."""

STATED = {"LinearRegression": ROWS // 3, "NaiveBayes": None, "PCA": ROWS // 3}
"""The models audited with many rows a person, and the public size that each is given (None: none)."""
