"""Segments of the grid at and between the records, and the exponential mechanism over their cells."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log

import numpy as np
from numpy.typing import NDArray

from bruit.central.ranks.mechanisms.pruning import FLOOR, Pruning, pruning
from bruit.central.ranks.mechanisms.weighted_draws import WeightedDraws
from bruit.errors import InvalidArgument

ROUNDINGS = 64.0 * 1024
"""kappa * loss <= 700 is off by at most 700 units, exp by four, the product by one: 705, sixteen times over, four times
(two weights and two normalisers), rounded up."""


@dataclass(frozen=True)
class Segments:
    """The grid as single cells that hold records, and the empty runs between them.

    `below` and `upto` count the records before the cells of a segment, and those before or in them.
    """

    start: NDArray[np.int64]
    length: NDArray[np.int64]
    below: NDArray[np.int64]
    upto: NDArray[np.int64]


def segments(cells: NDArray[np.int64], first: int, last: int) -> Segments:
    """The segments of the cells first .. last, from the sorted cells of the records in them."""
    edges = np.flatnonzero(np.diff(cells, prepend=first - 1))
    values = cells[edges]
    upto = np.append(edges[1:], len(cells)) if len(edges) else edges
    starts = np.empty(2 * len(values) + 1, np.int64)
    starts[1::2], starts[0] = values, first
    starts[2::2] = values + 1
    length = np.diff(starts, append=last + 1)
    below, after = np.zeros(len(starts), np.int64), np.zeros(len(starts), np.int64)
    below[1::2], after[1::2] = edges, upto
    below[2::2], after[2::2] = upto, upto
    return Segments(starts, length, below, after)


def single_pruning(epsilon: Fraction, sensitivity: int, cells: int, *, unit: int | None = None) -> Pruning:
    """The pruning of a draw of one cell; refused before any charge where no window keeps the guarantee."""
    plan = pruning(epsilon, sensitivity, log_outputs=log(cells), unit=unit, roundings=lambda _: ROUNDINGS)
    if plan is None:
        raise InvalidArgument(
            f"epsilon={float(epsilon):g} is too small for weights in double precision; raise the price, "
            "ask for fewer quantiles, or let each person count with fewer rows"
        )
    return plan


def near(where: Segments, low: Fraction, high: Fraction) -> Segments:
    """The segments whose ranks meet [low, high]."""
    first = int(np.searchsorted(where.upto, ceil(low)))
    after = int(np.searchsorted(where.below, floor(high), side="right"))
    part = slice(first, after)
    return Segments(where.start[part], where.length[part], where.below[part], where.upto[part])


def draw_cell(
    where: Segments, losses: NDArray[np.int64], plan: Pruning, dice: WeightedDraws, *, first: int, last: int
) -> int:
    """Draws a cell of first .. last with probability proportional to exp(-kappa loss), or uniformly by the floor.

    Cells of a loss above the window are left to the floor, so their segments need not be given.
    """
    inside = np.flatnonzero((losses <= plan.window) & (where.length > 0))
    weights = np.append(where.length[inside] * np.exp(-plan.kappa * losses[inside]), FLOOR)
    choice = dice.index(weights)
    if choice == len(inside):
        return first + dice.below(last - first + 1)
    return int(where.start[inside[choice]]) + dice.below(int(where.length[inside[choice]]))
