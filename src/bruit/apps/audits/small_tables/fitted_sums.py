"""Checks the sensitivity of every estimator's sums by brute force over small tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np

from bruit import learning
from bruit.apps.audits.case import fresh_budget
from bruit.apps.audits.small_tables.sums import Row, Walk, charged, small_people
from bruit.audit import SensitivityCheck, check_sensitivity
from bruit.core.losses import Loss
from bruit.core.neighbours import Neighbours
from bruit.learning import evaluation
from bruit.learning.estimator import contract
from bruit.learning.estimator.records import choose_rows
from bruit.ledger import WITHOUT_PRIVACY
from bruit.tables import among, within

UNIT = within(-1, 1, grid="0.5")
DELTA = 1e-6

OTHERS: tuple[Row, ...] = tuple(
    (100 + i, x, z, y) for i, (x, z, y) in enumerate([(0.5, "a", 1), (-0.5, "b", 0), (1, "a", 0)])
)
"""A person, a number, a category, a class of those who stay."""

ROWS: tuple[Row, ...] = (
    (7, 1, "a", 1),
    (7, -1, "b", 0),
    (7, -1, "a", 1),
    (7, None, "c", 0),
    (7, 0, "b", 1),
    (7, 1, "b", 5),
)
"""A person's rows at the ends of their columns, with missing cells, unknown categories and classes."""

LABELLED: dict[str, Any] = {"classes": [0, 1]}
PREDICTED: dict[str, Any] = {"target": within(0, 1, grid="0.5")}
ESTIMATORS: dict[str, tuple[type[Any], dict[str, Any]]] = {
    "LinearRegression": (learning.LinearRegression, PREDICTED),
    "LogisticRegression": (learning.LogisticRegression, LABELLED | {"rounds": 2}),
    "LogisticRegression, one look": (learning.LogisticRegression, LABELLED | {"size": 4}),
    "NaiveBayes": (learning.NaiveBayes, LABELLED),
    "KMeans": (learning.KMeans, {"n_clusters": 2, "rounds": 2}),
    "PCA": (learning.PCA, {"n_components": 1}),
    "DecisionTree": (learning.DecisionTree, LABELLED | {"max_depth": 2}),
    "Forest": (learning.Forest, LABELLED | {"n_estimators": 2, "max_depth": 2}),
    "BoostedTrees": (learning.BoostedTrees, LABELLED | {"n_estimators": 2, "max_depth": 2}),
    "AdditiveModel": (learning.AdditiveModel, LABELLED | {"steps": 2}),
}


def estimator_walks() -> Iterator[Walk]:
    """The checks of each estimator, with one row per person, and with two rows per person that count."""
    for name, (kind, settings) in ESTIMATORS.items():
        for rows in (0, 2):
            limit = "each row" if rows == 0 else f"rows={rows}"
            variant = f"{name.partition(', ')[2]} {limit}".strip()
            yield Walk(f"learning.{name.partition(',')[0]}", variant, partial(_fits, kind, settings, rows))
    yield Walk("learning.evaluate", "rows=2", _points)
    yield Walk("learning.NearestNeighbours", "permute-and-flip", partial(_votes, "permute-and-flip"))
    yield Walk("learning.NearestNeighbours", "laplace", partial(_votes, "laplace"))


def _fits(kind: type[Any], settings: dict[str, Any], limit: int, most: int) -> list[SensitivityCheck]:
    @patch.object(contract, "choose_rows", _choose_alike)
    def release(rows: Sequence[Row], neighbours: Neighbours) -> Loss:
        person = "id" if limit else "each row"
        budget = fresh_budget(neighbours, 1.0, DELTA, person=person)
        more = {"rows_per_person": limit} if limit else {}
        model = kind(domain=(UNIT, among(["a", "b"])), budget=budget, random_state=1, **settings, **more)
        X, y, who = _columns(rows)
        model.fit(X, *([y] if settings.keys() & {"classes", "target"} else []), **({"groups": who} if limit else {}))
        return charged(budget)

    rows = ROWS if "classes" in settings else ROWS[:5]
    people = small_people(rows, most) if limit else one_row_each(rows, most)
    return check_sensitivity(f"learning.{kind.__name__}", release, people, others=OTHERS)


def one_row_each(rows: Sequence[Row], most: int) -> list[tuple[Row, ...]]:
    """The persons to try, as tuples of rows: nobody, and persons with one row."""
    return [(), *((row,) for row in rows[:most])]


def _choose_alike(groups: Any, most: int, *, rng: np.random.Generator) -> Any:
    """Chooses rows with a fixed seed of its own, so that later draws are the same for both neighbouring tables."""
    del rng
    return choose_rows(groups, most, rng=np.random.default_rng(3))


def _points(most: int) -> list[SensitivityCheck]:
    """Checks `learning.evaluate` with a model that was fitted to other people's rows."""
    settings: dict[str, Any] = {"domain": (UNIT, among(["a", "b"])), **LABELLED}
    model = learning.NaiveBayes(budget=WITHOUT_PRIVACY, **settings).fit(*_columns(OTHERS)[:2])

    @patch.object(evaluation, "choose_rows", _choose_alike)
    def release(rows: Sequence[Row], neighbours: Neighbours) -> Loss:
        budget = fresh_budget(neighbours, 1.0, person="id")
        X, y, who = _columns(rows)
        asked: dict[str, Any] = {"groups": who, "rows_per_person": 2, "rng": np.random.default_rng(1)}
        learning.evaluate(model, X, y, budget=budget, **asked)
        return charged(budget)

    return check_sensitivity("learning.evaluate", release, small_people(ROWS, most), others=OTHERS)


def _votes(method: str, most: int) -> list[SensitivityCheck]:
    def release(rows: Sequence[Row], neighbours: Neighbours) -> Loss:
        budget = fresh_budget(neighbours, 1.0)
        asked: dict[str, Any] = {"method": method, "queries": 1, "domain": UNIT, "random_state": 1, **LABELLED}
        model = learning.NearestNeighbours(1, budget=budget, **asked)
        X, y, _ = _columns(rows)
        model.fit(X[:, :1], y).predict([[-1.0]])
        return charged(budget)

    return check_sensitivity("learning.NearestNeighbours", release, one_row_each(ROWS[2:], most), others=OTHERS[:2])


def _columns(rows: Sequence[Row]) -> tuple[Any, Any, Any]:
    cells = np.array([(np.nan if row[1] is None else row[1], row[2]) for row in rows], object)
    return cells, np.array([row[3] for row in rows], float), np.array([row[0] for row in rows])
