"""Audits of trees, forests, boosted trees and additive models: one row that moves a leaf as far as any can."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.apps.audits.case import SHARP, Case, fresh_budget
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours
from bruit.tables import among, within

Rows = list[tuple[str, float]]
DELTA = 0.05
AT_EVEN_ODDS = 2
"""How much more is claimed of a step for several classes, so that a row shows in as many draws.

The noise is for a row whose model is certain of a wrong class: the squares of its residuals sum to two. In a first step
all classes are equally likely, and the squares sum to 1 - 1/classes.
"""

OTHERS = [("a", 0.0)] * 3
CANARY, OPPOSITE = ("b", 1.0), ("b", -1.0)
"""A row in a category of its own, whose error is as large as the bounds allow; and its worst replacement."""


def cases(neighbours: Neighbours, *, epsilon: float = SHARP) -> Iterator[Case]:
    """One case for each estimator, of one fit."""
    without = OTHERS if neighbours is ADD_OR_REMOVE_ONE else [*OTHERS, OPPOSITE]
    pair = (without, [*OTHERS, CANARY])
    for (name, variant), (settings, seen) in SEEN.items():
        claimed = epsilon * (AT_EVEN_ODDS if variant == "classes" else 1)
        fitted = partial(_model, name=name, settings=settings, neighbours=neighbours, epsilon=claimed)
        yield Case(
            f"learning.{name}",
            neighbours,
            pair,
            partial(_many, fitted=fitted, seen=seen),
            partial(_once, fitted=fitted, seen=seen),
            claimed=claimed,
            delta=DELTA,
            small=8_000,
            full=50_000,
            variant=variant,
        )


def _once(rows: Rows, rng: np.random.Generator, *, fitted: Callable[..., Any], seen: Callable[[Any], float]) -> float:
    """The audited number of one fit."""
    return seen(fitted(rng).fit(*_table(rows)))


def _many(
    rows: Rows, samples: int, rng: np.random.Generator, *, fitted: Callable[..., Any], seen: Callable[[Any], float]
) -> NDArray[np.float64]:
    """The audited numbers of many fits under one charge, each with fresh noise."""
    from bruit.learning.trees.binning import public_bins

    model = fitted(rng)
    question = model._make_question(*_table(rows), None)
    plan = model._make_plan(question, public_bins(question.domains, 2))
    records = model._pay(question, plan)
    found = np.empty(samples)
    for sample in range(samples):
        model._fit_noisily(question, records, plan)
        found[sample] = seen(model)
    return found


def _model(rng: np.random.Generator, *, name: str, settings: dict[str, Any], **book: Any) -> Any:
    from bruit import learning

    return getattr(learning, name)(**_settings(rng, **book) | settings)


def _curve(model: Any) -> float:
    """The weight of the canary's category after one step of the descent."""
    return float(model.curves_[0][1, 0])


def _class_curves(model: Any) -> float:
    """How much more the canary's category weighs for its class than for the opposite, after one step of the descent."""
    weights = model.curves_[0][1]
    return float(weights[2] - weights[0])


def _leaf(model: Any) -> float:
    """The value of the canary's leaf in the only tree."""
    *_, tree, values = model.estimators_[0]
    return float(values[int(tree.leaf_of(CODE)[0]), 0])


def _counts(model: Any) -> float:
    """How much more of the canary's class than of its opposite stands in its leaf."""
    sums = model.tree_.sums[int(model.tree_.leaves(CODE)[0])]
    return float(sums[2] - sums[0])


CODE = np.array([[1]], np.uint8)
ONE_TREE = {"n_estimators": 1, "max_depth": 1}
CLASSES = (-1.0, 0.0, 1.0)
SEEN: dict[tuple[str, str], tuple[dict[str, Any], Callable[[Any], float]]] = {
    ("AdditiveModel", ""): ({"loss": "squared_error", "steps": 1}, _curve),
    ("AdditiveModel", "classes"): ({"classes": CLASSES, "steps": 1}, _class_curves),
    ("BoostedTrees", ""): ({"loss": "squared_error", **ONE_TREE}, _leaf),
    ("Forest", ""): ({"criterion": "squared_error", **ONE_TREE}, _leaf),
    ("DecisionTree", ""): ({"classes": CLASSES, "max_depth": 1}, _counts),
}
"""The settings of each estimator in each of its variants, and where its canary shows."""


def _settings(rng: np.random.Generator, neighbours: Neighbours, epsilon: float) -> dict[str, Any]:
    return {
        "domain": among(["a", "b"], drop_others=True),
        "target": within(-1, 1, grid=1),
        "size": 4,
        "budget": fresh_budget(neighbours, epsilon, DELTA),
        "random_state": rng,
    }


def _table(rows: Rows) -> tuple[Any, Any]:
    return np.array([[category] for category, _ in rows], object), np.array([number for _, number in rows])
