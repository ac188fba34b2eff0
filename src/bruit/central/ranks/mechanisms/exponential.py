"""One quantile by the exponential mechanism, on the cells of the grid.

loss(z) = distance of p n from [records below z, records up to z],  scaled by the denominator of p
Pr[z] ~ exp(-epsilon loss(z) / (2 D)),   D = rows max(p, 1 - p) or, when a person is exchanged, rows
                                                           [Smith 2011; McSherry & Talwar 2007, Thm 6]
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bruit.central.ranks.mechanisms.pruning import Pruning
from bruit.central.ranks.mechanisms.segments import Segments, draw_cell, near, single_pruning
from bruit.central.ranks.mechanisms.weighted_draws import WeightedDraws
from bruit.central.ranks.records import Person


def rank_sensitivity(probability: Fraction, person: Person) -> int:
    """The sensitivity of the scaled rank loss to one person.

    A record that comes or goes moves den * (records below) - num * n by den - num or by num; one that is exchanged,
    with or without a change of size, by at most den.
    """
    num, den = probability.numerator, probability.denominator
    return person.rows * (den if person.exchanged else max(num, den - num))


def rank_losses(where: Segments, probability: Fraction, size: int) -> NDArray[np.int64]:
    """The scaled rank loss of each segment: the distance of p n from the ranks it covers."""
    num, den = probability.numerator, probability.denominator
    target = num * size
    return np.maximum(np.maximum(target - den * where.upto, den * where.below - target), 0)


def single_plan(probability: Fraction, cells: int, epsilon: Fraction, person: Person) -> Pruning:
    """The pruning of one quantile's exponential mechanism, from public parameters."""
    return single_pruning(epsilon, rank_sensitivity(probability, person), cells)


def draw_quantile(
    where: Segments, size: int, probability: Fraction, plan: Pruning, dice: WeightedDraws, *, first: int, last: int
) -> int:
    """Draws one quantile as a cell in first .. last, from the segments of `size` records."""
    reach = Fraction(plan.window, probability.denominator)
    close = near(where, probability * size - reach, probability * size + reach)
    return draw_cell(close, rank_losses(close, probability, size), plan, dice, first=first, last=last)
