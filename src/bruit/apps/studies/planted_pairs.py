"""Faults before the noise: what two tables that differ in one person show without drawing anything."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit import tables
from bruit.apps.studies.planted_fault import Done, Fault
from bruit.errors import OutOfDomain
from bruit.privacy import EACH_ROW

Statistic = Callable[[Any], Any]
PEOPLE = 8
CLIP = 1.0
MOST = 10
"""The declared upper bound of a value."""


def faults() -> Iterator[Fault]:
    """Each fault beside the statistic done right."""
    story = "The mean of the gradients is clipped, not each gradient."
    yield moved("clip after averaging", story, _clipped_mean, _mean_of_clipped, gradients, 2 * CLIP / PEOPLE)
    story = "Values are scaled by the least and the greatest of the table."
    yield moved("bounds from data", story, _scaled_by_data, _scaled_by_bounds, _values, MOST / PEOPLE)
    story = "A person with many rows counts with all of them."
    yield moved("missing per-person bounding", story, _rows, _people, _visits, 1)
    story = "A value above the bound raises an error."
    yield Fault("error that depends on a record", story, "row-level pair", _outcomes, 1, 64)
    story = "Bins are the categories that occur."
    yield Fault("categories from data", story, "row-level pair", _shapes, 1, 64)


def moved(
    name: str,
    story: str,
    wrong: Statistic,
    right: Statistic,
    neighbours: Callable[[np.random.Generator], tuple[Any, Any]],
    claimed: float,
) -> Fault:
    """A statistic that one person moves by more than is claimed, on some pair of neighbours."""

    def looks_wrong(done: Done, samples: int, _alarm: float, rng: np.random.Generator) -> bool:
        statistic = wrong if done == "wrong" else right
        pairs = [neighbours(rng) for _ in range(samples)]
        distances = [np.linalg.norm(np.atleast_1d(statistic(one)) - statistic(other)) for one, other in pairs]
        return bool(max(distances) > claimed + 1e-9)

    return Fault(name, story, "row-level pair", looks_wrong, 8, 256)


def gradients(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gradients of all people, and the same with that of one person exchanged for a large one."""
    one = rng.normal(size=(PEOPLE, 3))
    other = one.copy()
    other[0] = 100 * rng.normal(size=3)
    return one, other


def _clipped_mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(clip(rows.mean(axis=0, keepdims=True))[0], np.float64)


def _mean_of_clipped(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(clip(rows).mean(axis=0), np.float64)


def clip(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows scaled down to the bound on their length."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows * np.minimum(1, CLIP / lengths), np.float64)


def _values(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    one = rng.uniform(0, 2, PEOPLE)
    other = one.copy()
    other[0] = MOST
    return one, other


def _scaled_by_data(values: NDArray[np.float64]) -> float:
    return float(MOST * ((values - values.min()) / (values.max() - values.min())).mean())


def _scaled_by_bounds(values: NDArray[np.float64]) -> float:
    return float(np.clip(values, 0, MOST).mean())


def _visits(rng: np.random.Generator) -> tuple[polars.DataFrame, polars.DataFrame]:
    one = polars.DataFrame({"who": rng.integers(0, 4, PEOPLE)})
    return one, polars.concat([one, polars.DataFrame({"who": [9] * 5})])


def _rows(frame: polars.DataFrame) -> int:
    return tables.exact.count(tables.read(frame, person=EACH_ROW))


def _people(frame: polars.DataFrame) -> int:
    return tables.exact.count(tables.read(frame, person="who").limit(rows=1))


def _outcomes(done: Done, samples: int, _alarm: float, rng: np.random.Generator) -> bool:
    """Whether some pair of neighbours ends in an error on one side only."""
    total = _refusing_total if done == "wrong" else _clamping_total
    for _ in range(samples):
        one = rng.uniform(0, MOST, PEOPLE)
        other = np.append(one[1:], 2 * MOST)
        if _fails(total, one) != _fails(total, other):
            return True
    return False


def _fails(total: Statistic, values: NDArray[np.float64]) -> bool:
    try:
        total(values)
    except OutOfDomain:
        return True
    return False


def _refusing_total(values: NDArray[np.float64]) -> float:
    if values.max() > MOST:
        raise OutOfDomain("a value lies above the bound")
    return float(values.sum())


def _clamping_total(values: NDArray[np.float64]) -> int:
    column = tables.read(polars.DataFrame({"x": values}), person=EACH_ROW)["x"].within(0, MOST, grid=1)
    return tables.exact.total(column)


def _shapes(done: Done, samples: int, _alarm: float, rng: np.random.Generator) -> bool:
    """Whether one person changes how many numbers come out."""
    bins = _found_bins if done == "wrong" else _declared_bins
    for _ in range(samples):
        one = rng.choice(["a", "b"], PEOPLE).tolist()
        if len(bins(one)) != len(bins([*one, "c"])):
            return True
    return False


def _found_bins(words: list[str]) -> NDArray[np.int64]:
    return np.unique(words, return_counts=True)[1]


def _declared_bins(words: list[str]) -> NDArray[np.int64]:
    column = tables.read(polars.DataFrame({"x": words}), person=EACH_ROW)["x"].among(["a", "b"])
    return np.asarray(tables.exact.histogram([column], key=tables.draw_key(np.random.default_rng(1))), np.int64)
