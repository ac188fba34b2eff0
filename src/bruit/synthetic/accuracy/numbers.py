"""Means and quantiles of a numeric synthetic column, with intervals for the true value."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument
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
    cells = ends.shape[1]
    own = where.get(place, np.ones(table.columns[place].size))[:cells]
    if not own.any():
        raise InvalidArgument(f"no value of {table.columns[place].name} meets its condition: there is no mean")
    low, high = float(ends[0, own > 0].min()), float(ends[1, own > 0].max())
    shares = own * _cell_counts(table, place, where)
    if not shares.any():
        return Answer((low + high) / 2, low, high)
    people = max(shares.sum(), 1.0)
    middle = float(shares @ ends.mean(0) / shares.sum())
    weights = np.zeros(table.columns[place].size)
    weights[:cells] = own * (ends.mean(0) - middle)
    asked = {**where, place: weights}
    found = table.measurements.linear(asked)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    if found is not None:
        centre, half = middle + found.value / people, z * sqrt(found.variance) / people
    else:
        widths = [table.spread.half_width(len(asked), c, table.fit.people, confidence) for c in shares]
        centre, half = middle, sqrt(float(np.array(widths) ** 2 @ weights[:cells] ** 2)) / people
    open_ = float(shares @ (ends[1] - ends[0])) / people / 2
    return Answer(middle, max(low, min(centre - half - open_, middle)), min(high, max(centre + half + open_, middle)))


def quantile_of(table: SyntheticTable, place: int, domain: Within, probability: float, confidence: float) -> Answer:
    """A quantile of a column; its interval holds all cells that may contain it.

    It is in the first cell up to whose end there are at least `probability` of all values that are not missing. How
    many more there are is linear in the counts, so its noise is known where they were measured.
    """
    ends, shares = _cell_values(table, place, domain), _cell_counts(table, place, {})
    below = np.cumsum(shares)
    target = probability * below[-1]
    cell = min(int(np.searchsorted(below, target)), len(shares) - 1)
    into = (target - (below[cell] - shares[cell])) / max(shares[cell], 1e-9)
    value = float(ends[0, cell] + min(max(into, 0.0), 1.0) * (ends[1, cell] - ends[0, cell]))
    more = [_surplus(table, place, shares, probability, up_to, confidence) for up_to in range(len(shares))]
    first = next((i for i, (_, most) in enumerate(more) if most >= 0), cell)
    too_few = max((i for i, (least, _) in enumerate(more) if least < 0), default=-1)
    last = max(cell, min(too_few + 1, len(shares) - 1))
    return Answer(value, float(ends[0, min(first, cell)]), float(ends[1, last]))


def _surplus(
    table: SyntheticTable, place: int, shares: NDArray[np.float64], probability: float, up_to: int, confidence: float
) -> tuple[float, float]:
    """An interval for how many values lie in the cells up to one, less `probability` of all that are not missing."""
    weights = np.zeros(table.columns[place].size)
    weights[: len(shares)] = (np.arange(len(shares)) <= up_to) - probability
    found = table.measurements.linear({place: weights})
    if found is None:
        value = float(shares @ weights[: len(shares)])
        half = table.spread.half_width(1, float(shares[: up_to + 1].sum()), table.fit.people, confidence)
    else:
        value, half = found.value, NormalDist().inv_cdf((1 + confidence) / 2) * sqrt(found.variance) + 0.5
    return value - half, value + half


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
