"""Two uncertainties of a release, apart: what noise does to this table, and what drawing other people would do."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bruit.apps.steward import Question
from bruit.privacy import Release

MOST_SHOWN = 60
"""Labels that a figure has room for."""


@dataclass(frozen=True)
class Uncertainty:
    """For each label its value, the half-width of noise and that of sampling, where one can be told.

    Sampling is computed from the release alone, which costs nothing, at its worst where more would have to be known.
    """

    labels: tuple[str, ...]
    values: tuple[float, ...]
    noise: tuple[float, ...]
    sampling: tuple[float, ...] | None
    unit: str
    sentence: str

    def to_json(self) -> dict[str, Any]:
        """What the figure draws, in JSON types."""
        return {
            "title": "Noise and sampling, apart",
            "x": {"label": self.unit, "log": False},
            "labels": list(self.labels[:MOST_SHOWN]),
            "values": list(self.values[:MOST_SHOWN]),
            "noise": list(self.noise[:MOST_SHOWN]),
            "sampling": None if self.sampling is None else list(self.sampling[:MOST_SHOWN]),
        }


def uncertainty(release: Release[Any], question: Question | None, *, rows: int) -> Uncertainty | None:
    """Both uncertainties of a release; without its question only that of noise; None where it holds no numbers."""
    if not np.issubdtype(np.asarray(release.value).dtype, np.number):
        return None
    values = np.atleast_1d(np.asarray(release.value, float)).reshape(-1)
    labels = release.labels or tuple(map(str, range(len(values))))
    if "expected_rank_error" in release.details:
        return _ranks(release, labels)
    noise = np.broadcast_to(np.asarray(0.0 if release.noise is None else release.noise, float), values.shape)
    found = None if question is None else sampling(question, values, release.details.get("size"), rows=rows)
    told = f"Noise alone moves each answer by at most the first bar, at {_percent(release)} confidence. " + (
        "What other people would have changed cannot be told from this release alone." if found is None else _SAMPLED
    )
    apart = None if found is None else tuple(found.tolist())
    return Uncertainty(labels, tuple(values.tolist()), tuple(noise.tolist()), apart, _unit(question), told)


_SAMPLED = (
    "The second bar is what drawing other people from the same population would change, at its worst; it is there "
    "without any privacy too."
)


def sampling(
    question: Question, values: NDArray[np.float64], size: float | None, *, rows: int
) -> NDArray[np.float64] | None:
    """The half-width of sampling from what was released, each person with at most `rows` rows; None where unknown.

    Rows that come as they come have a count of variance `rows` N at most, and a sum of numbers from 0 to h one of
    `rows` h S. A mean m of numbers in [a, b] has variance at most `rows` (b - m)(m - a) / n      [Bhatia & Davis 2000];
    the variance v of numbers in a range R, `rows` v (R^2 - v) / n by the same bound.
    """
    z = float(ndtri((1 + question.confidence) / 2))
    found = _variance(question, values, max(float(size or 1), 1.0))
    return None if found is None else np.asarray(z * np.sqrt(rows * np.maximum(found, 0)), np.float64)


def _variance(question: Question, values: NDArray[np.float64], size: float) -> NDArray[np.float64] | None:
    """The largest variance of sampling where each person has one row."""
    if question.statistic in ("count", "histogram") or (question.statistic == "group-by" and question.column is None):
        return values
    assert question.within is not None
    low, high = map(_number, question.within)
    if question.statistic in ("sum", "group-by"):
        return high * values if low >= 0 else None
    if question.statistic == "mean":
        return (high - values) * (values - low) / size
    return values * ((high - low) ** 2 - values) / size


def expected_sampling(question: Question, size: int, *, rows: int) -> float | None:
    """The half-width of sampling at its worst in a table of so many rows, before anything is asked."""
    if question.statistic == "quantiles":
        return rank_sampling(size)
    low, high = (0.0, 0.0) if question.within is None else map(_number, question.within)
    worst = {"mean": (low + high) / 2, "variance": ((high - low) / 2) ** 2, "sum": size * high}
    summed = question.statistic == "group-by" and question.column is not None
    value = worst.get("sum" if summed else question.statistic, float(size))
    found = sampling(question, np.array([value]), size, rows=rows)
    return None if found is None else float(found[0])


def rank_sampling(people: int) -> float:
    """The mean distance in ranks by which drawing other people moves a median: sqrt(2 / pi) sqrt(n) / 2."""
    return sqrt(2 / pi) * sqrt(people) / 2


def _ranks(release: Release[Any], labels: tuple[str, ...]) -> Uncertainty:
    errors = tuple(float(error) for error in np.broadcast_to(release.details["expected_rank_error"], len(labels)))
    told = (
        f"Noise moves the rank of each quantile by {max(errors):.3g} rows on average, whatever its value; drawing "
        f"other people would move that of a median by {rank_sampling(1000):.3g} among a thousand rows, and by "
        f"{rank_sampling(1_000_000):.3g} among a million."
    )
    return Uncertainty(labels, (0.0,) * len(labels), errors, None, "distance from the true rank, in rows", told)


def _unit(question: Question | None) -> str:
    if question is None:
        return "value"
    counted = question.statistic in ("count", "histogram") or (
        question.statistic == "group-by" and question.column is None
    )
    return "rows" if counted else f"{question.statistic.replace('group-by', 'sum')} of {question.column}"


def _percent(release: Release[Any]) -> str:
    return "the stated" if release.interval is None else f"{100 * release.interval.confidence:g} %"


def _number(text: str) -> float:
    from bruit.privacy import exactly

    return float(exactly(text, "bound"))
