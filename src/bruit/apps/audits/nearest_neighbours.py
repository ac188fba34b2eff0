"""Audits of nearest neighbours: one record displaces another voter and so moves the votes of two classes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.apps.audits.case import Case, fresh_budget
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours
from bruit.tables import within

CHOICE = 3.0
"""What a choice between two classes claims: a large epsilon shows in few of them."""

DELTA = 0.05
VARIANTS = {
    "permute-and-flip": {"queries": 1},
    "laplace": {"queries": 1},
    "gaussian": {"queries": 1},
    "document": {"per_query": CHOICE / 2},
}
"""The settings by which each method gives one answer at CHOICE; the slides' method states half of its true ε."""

Rows = list[tuple[int, str]]
FAR, NEAR, OTHERWISE = (5, "no"), (0, "yes"), (0, "no")


def cases(neighbours: Neighbours) -> Iterator[Case]:
    """One query with one voter: the nearest record votes yes, or it is absent and the next one votes no."""
    without = [FAR] if neighbours is ADD_OR_REMOVE_ONE else [FAR, OTHERWISE]
    pair = (without, [FAR, NEAR])
    sizes: dict[str, Any] = {"claimed": CHOICE, "small": 4_000, "full": 50_000}
    for method in VARIANTS:
        delta = DELTA if method == "gaussian" else 0.0
        once = partial(_answer, neighbours=neighbours, method=method)
        many = partial(_answers, neighbours=neighbours, method=method)
        yield Case("learning.NearestNeighbours", neighbours, pair, many, once, delta=delta, variant=method, **sizes)
    label, labels = partial(_label, neighbours=neighbours), partial(_labels, neighbours=neighbours)
    yield Case("learning.Student", neighbours, pair, labels, label, delta=DELTA, **sizes)


def _answer(rows: Rows, rng: np.random.Generator, *, neighbours: Neighbours, method: str) -> int:
    """The predicted class of the query: 1 for yes, 0 for no."""
    told = _fit_voters(rows, rng, neighbours, method).predict([[0]])
    return int(told[0] == "yes")


def _answers(
    rows: Rows, samples: int, rng: np.random.Generator, *, neighbours: Neighbours, method: str
) -> NDArray[np.int64]:
    """Many answers to the same votes, from the stream of the fit."""
    model = _fit_voters(rows, rng, neighbours, method)
    votes = np.repeat(model._voters.votes(np.array([[0]]), 1), samples, axis=0)
    with model._allowance.spend(1) as stream:
        answers: NDArray[np.int64] = model._plan.answers(votes, rng=stream)
    return answers


def _fit_voters(rows: Rows, rng: np.random.Generator, neighbours: Neighbours, method: str) -> Any:
    from bruit.learning import NearestNeighbours as Voting

    delta = DELTA if method == "gaussian" else 0.0
    model = Voting(1, method=method, random_state=rng, **_settings(neighbours, delta), **VARIANTS[method])  # type: ignore[arg-type]
    return model.fit(*_columns(rows))


def _label(rows: Rows, rng: np.random.Generator, *, neighbours: Neighbours) -> int:
    """The label of one public record."""
    from bruit.learning import Student

    model = Student(1, public=[[0]], random_state=rng, **_settings(neighbours, DELTA)).fit(*_columns(rows))
    return int(model.labels_[0] == "yes")


def _labels(rows: Rows, samples: int, rng: np.random.Generator, *, neighbours: Neighbours) -> NDArray[np.int64]:
    """A student asks each public record once: the same votes and noise as one Gaussian question."""
    return _answers(rows, samples, rng, neighbours=neighbours, method="gaussian")


def _settings(neighbours: Neighbours, delta: float) -> dict[str, Any]:
    return {"domain": within(0, 5, grid=1), "classes": ["no", "yes"], "budget": fresh_budget(neighbours, CHOICE, delta)}


def _columns(rows: Rows) -> tuple[list[list[int]], list[str]]:
    return [[place] for place, _ in rows], [label for _, label in rows]
