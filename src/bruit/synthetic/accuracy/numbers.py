"""Means and quantiles of a numeric synthetic column, with intervals for the true value."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bruit.synthetic.accuracy.estimates import Weights
from bruit.synthetic.accuracy.rehearsals import count_rows
from bruit.tables import Within

if TYPE_CHECKING:
    from bruit.synthetic.synthetic_table import SyntheticTable


@dataclass(frozen=True)
class Answer:
    """An estimate with the lower and upper bound of its interval."""

    value: float
    low: float
    high: float


def mean_of(table: SyntheticTable, place: int, domain: Within, where: Weights, confidence: float) -> Answer:
    """The mean of a column; the interval also covers where in a wide cell the values may lie.

    The sum of (x - m) over the rows is linear in the counts, so its noise is known where they were measured together;
    elsewhere the errors of the cells, as rehearsed, are added as if they were independent.
    """
    ends = _cell_values(table, place, domain)
    shares = _cell_counts(table, place, where)
    people = max(shares.sum(), 1.0)
    middle = float(shares @ ends.mean(0)) / people
    weights = np.zeros(table.columns[place].size)
    weights[: len(shares)] = ends.mean(0) - middle
    found = table.measurements.linear({**where, place: weights})
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if found is not None:
        centre, half = middle + found.value / people, z * sqrt(found.variance) / people
    else:
        order = len(where) + 1
        widths = [table.spread.half_width(order, c, table.fit.people, confidence) for c in shares]
        centre, half = middle, sqrt(float(np.array(widths) ** 2 @ weights[: len(shares)] ** 2)) / people
    open_ = float(shares @ (ends[1] - ends[0])) / people / 2
    low, high = float(domain.low), float(domain.high)
    return Answer(middle, max(low, min(centre - half - open_, middle)), min(high, max(centre + half + open_, middle)))


def quantile_of(table: SyntheticTable, place: int, domain: Within, probability: float, confidence: float) -> Answer:
    """A quantile of a column; its interval holds all cells that may contain it, given the intervals of counts."""
    ends, shares = _cell_values(table, place, domain), _cell_counts(table, place, {})
    below = np.cumsum(shares)
    target = probability * below[-1]
    cell = min(int(np.searchsorted(below, target)), len(shares) - 1)
    into = (target - (below[cell] - shares[cell])) / max(shares[cell], 1e-9)
    value = float(ends[0, cell] + min(max(into, 0.0), 1.0) * (ends[1, cell] - ends[0, cell]))
    lows, highs = np.array([table.bounds(_up_to(table, place, j), confidence) for j in range(len(shares))]).T
    first = min(int(np.argmax(highs >= target)), cell) if (highs >= target).any() else cell
    last = max(int(np.argmax(lows >= target)), cell) if (lows >= target).any() else len(shares) - 1
    return Answer(value, float(ends[0, first]), float(ends[1, last]))


def _cell_values(table: SyntheticTable, place: int, domain: Within) -> NDArray[np.float64]:
    """The least and the greatest value of each cell, that of missing values left out."""
    column = table.columns[place]
    return np.stack([domain.decode(np.array(column.firsts)), domain.decode(np.array(column.ends))])


def _cell_counts(table: SyntheticTable, place: int, where: Weights) -> NDArray[np.float64]:
    cells = len(table.columns[place].firsts)
    weight = table.fit.people / max(len(table.rows), 1)
    places = np.arange(table.columns[place].size)
    counts = [count_rows(table.rows, {**where, place: (places == cell).astype(float)}) for cell in range(cells)]
    return weight * np.array(counts)


def _up_to(table: SyntheticTable, place: int, cell: int) -> Weights:
    return {place: (np.arange(table.columns[place].size) <= cell).astype(float)}
