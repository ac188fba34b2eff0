"""Faults in the sensitivity, which two neighbouring tables show without drawing any noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit import tables
from bruit.apps.faults.fault import Done, Fault
from bruit.central.column_questions import question_about
from bruit.central.questions import Question, RowRange, measures, sensitivity
from bruit.central.ranks.rank_sums import distance
from bruit.core.neighbours import EACH_ROW, REPLACE_ONE
from bruit.errors import OutOfDomain

Statistic = Callable[[Any], Any]
PEOPLE = 8
CLIP = 1.0
MOST = 10
"""The declared upper bound of a value."""

RANK_CLIP = 1


def faults() -> Iterator[Fault]:
    """The planted faults, each beside the statistic done right."""
    story = "The mean of the gradients is clipped, not each gradient."
    yield sensitivity_fault(
        "clip after averaging", story, _clipped_mean, _mean_of_clipped, gradients, 2 * CLIP / PEOPLE
    )
    story = "Values are scaled by the least and the greatest of the table."
    yield sensitivity_fault("bounds from data", story, _scaled_by_data, _scaled_by_bounds, _values, MOST / PEOPLE)
    story = "A person with many rows counts with all of them."
    yield sensitivity_fault("missing per-person bounding", story, _rows, _people, _visits, 1)
    story = "Rows are chosen by the limit of one column, the noise is for that of another."
    yield sensitivity_fault(
        "two limits in one question", story, _sums_of_many_rows, _sums_of_one_row, _visits_of_ten, MOST
    )
    story = "An exchange inside one group is noised as if it moved two groups."
    yield sensitivity_fault("squares of an exchange counted apart", story, _sums_for_two, _sums_for_one, _opposites, 1)
    story = "Counts are added up in 32 bits."
    yield sensitivity_fault("a total that wraps around", story, _narrow_total, _wide_total, _counts_of_people, 1)
    story = "Equal values get their middle rank, which is clipped afterwards: one row moves all of them."
    yield sensitivity_fault("middle ranks clipped", story, _middle_ranks, _mean_scores, _equal_values, 2 * RANK_CLIP)
    story = "A value above the bound raises an error."
    yield Fault("error that depends on a record", story, "row-level pair", _outcomes, 1, 64)
    story = "Bins are the categories that occur."
    yield Fault("categories from data", story, "row-level pair", _shapes, 1, 64)


def sensitivity_fault(
    name: str,
    story: str,
    wrong: Statistic,
    right: Statistic,
    neighbours: Callable[[np.random.Generator], tuple[Any, Any]],
    claimed: float,
) -> Fault:
    """A fault of a statistic that one person moves by more than claimed on some pair of neighbours."""

    def looks_wrong(done: Done, samples: int, _alarm: float, rng: np.random.Generator) -> bool:
        statistic = wrong if done == "wrong" else right
        pairs = [neighbours(rng) for _ in range(samples)]
        distances = [np.linalg.norm(np.atleast_1d(statistic(one)) - statistic(other)) for one, other in pairs]
        return bool(max(distances) > claimed + 1e-9)

    return Fault(name, story, "row-level pair", looks_wrong, 8, 256)


def _equal_values(_rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows by group and value: all have one value, and the same with one row above them."""
    one = np.full((2, 2), 0)
    one[:, 0] = PEOPLE // 2
    other = one.copy()
    other[0, 1] = 1
    return one, other


def _middle_ranks(counts: NDArray[np.int64]) -> float:
    tied = counts.sum(0)
    above = tied[::-1].cumsum()[::-1] - tied
    scores = np.clip(tied.cumsum() - tied - above, -RANK_CLIP, RANK_CLIP)
    return float(np.abs(counts @ scores).sum())


def _mean_scores(counts: NDArray[np.int64]) -> float:
    return float(distance(counts, RANK_CLIP))


def gradients(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The gradients of all people, and the same with one person's replaced by a large one."""
    one = rng.normal(size=(PEOPLE, 3))
    other = one.copy()
    other[0] = 100 * rng.normal(size=3)
    return one, other


def _clipped_mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(clip(rows.mean(axis=0, keepdims=True))[0], np.float64)


def _mean_of_clipped(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(clip(rows).mean(axis=0), np.float64)


def clip(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Rows scaled down to the clipping bound."""
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


def exact(question: Question) -> NDArray[np.int64]:
    """The exact integers of a question's only measure, one per group."""
    return question.reader.read(np.random.default_rng(1)).parts[0]


def _rows(frame: polars.DataFrame) -> int:
    return int(exact(question_about(tables.read(frame, person=EACH_ROW), measures.count))[0])


def _people(frame: polars.DataFrame) -> int:
    return int(exact(question_about(tables.read(frame, person="who").limit(rows=1), measures.count))[0])


def _visits_of_ten(rng: np.random.Generator) -> tuple[polars.DataFrame, polars.DataFrame]:
    """Visits with a number each, and the same with five visits of one more person."""
    one, other = (frame.with_columns(g=polars.lit("a"), x=polars.lit(MOST)) for frame in _visits(rng))
    return one, other


def _sums_of_many_rows(frame: polars.DataFrame) -> NDArray[np.int64]:
    return _group_sums(frame, rows=5)


def _sums_of_one_row(frame: polars.DataFrame) -> NDArray[np.int64]:
    return _group_sums(frame, rows=1)


def _group_sums(frame: polars.DataFrame, *, rows: int) -> NDArray[np.int64]:
    """Sums by group of at most so many rows of each person, whatever the noise is for."""
    table = tables.read(frame, person="who").limit(rows=rows)
    by, values = table["g"].among(["a"]), table["x"].within(-MOST, MOST, grid=1)
    return exact(question_about(table, measures.total, values, by=(by,)))


def _opposites(rng: np.random.Generator) -> tuple[polars.DataFrame, polars.DataFrame]:
    """Two tables of a number per person, which differ in one person's sign within the same group."""
    values = rng.integers(-MOST, MOST + 1, PEOPLE)
    values[0] = MOST
    one = polars.DataFrame({"who": range(PEOPLE), "g": ["a"] * PEOPLE, "x": values})
    return one, one.with_columns(x=polars.when(polars.col("who") == 0).then(-MOST).otherwise("x"))


def _sums_for_two(frame: polars.DataFrame) -> NDArray[np.float64]:
    """Sums in units of the l2 sensitivity of two groups moved by MOST each."""
    return np.asarray(_group_sums(frame, rows=1) / np.sqrt(2 * MOST**2))


def _sums_for_one(frame: polars.DataFrame) -> NDArray[np.float64]:
    """Sums in units of the l2 sensitivity that a release states."""
    stated = sensitivity(RowRange(-MOST, MOST), tables.Limit(rows=1), groups=2, neighbours=REPLACE_ONE)
    return np.asarray(_group_sums(frame, rows=1) / np.sqrt(stated.l2_squared))


def _counts_of_people(rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of many people up to the end of 32 bits, and the same with one more person of one row."""
    one = rng.integers(1, 2**28, PEOPLE)
    one[0] = 2**32 - 1 - one[1:].sum()
    return one, np.append(one, 1)


def _narrow_total(rows: NDArray[np.int64]) -> float:
    return float(rows.astype(np.uint32).sum(dtype=np.uint32))


def _wide_total(rows: NDArray[np.int64]) -> float:
    return float(rows.sum())


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
    return int(exact(question_about(column.table, measures.total, column))[0])


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
    return exact(question_about(column.table, measures.count, by=(column,)))
