"""Many quantiles by recursive halving: the middle one first, then those below and above it.

A level of the tree costs epsilon / levels. A record that comes or goes touches one sub-table of each level; an
exchanged one may leave one sub-table and enter another, so that below the root it is charged as two.
                                                                               [Kaplan, Schnapp & Stemmer 2022]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bruit.central.ranks.mechanisms.exponential import draw_quantile, rank_sensitivity
from bruit.central.ranks.mechanisms.pruning import Pruning
from bruit.central.ranks.mechanisms.segments import segments, single_pruning
from bruit.central.ranks.mechanisms.weighted_draws import WeightedDraws
from bruit.central.ranks.records import Person

FINEST = 10**6
"""The largest denominator of a quantile of a sub-table; the nearest such fraction is aimed at."""


@dataclass(frozen=True)
class RecursivePlan:
    """The public parameters of recursive halving: for each quantile, its relative rank between its neighbours."""

    probabilities: tuple[Fraction, ...]
    cells: int
    steps: dict[int, tuple[Fraction, Pruning]]


def levels(number: int) -> int:
    """How often the list of quantiles is halved: ceil(log2(number + 1))."""
    return number.bit_length()


def recursive_plan(probabilities: Sequence[Fraction], cells: int, epsilon: Fraction, person: Person) -> RecursivePlan:
    """A `RecursivePlan`; its windows are computed for the whole grid and hold for every part."""
    steps: dict[int, tuple[Fraction, Pruning]] = {}
    each = epsilon / levels(len(probabilities))

    def plan(low: int, high: int, below: Fraction, above: Fraction) -> None:
        if low >= high:
            return
        middle = (low + high) // 2
        aim = ((probabilities[middle] - below) / (above - below)).limit_denominator(FINEST)
        root = high - low == len(probabilities)
        unit = max(aim.numerator, aim.denominator - aim.numerator)
        steps[middle] = aim, single_pruning(each, _sensitivity(aim, person, root=root), cells, unit=unit)
        plan(low, middle, below, probabilities[middle])
        plan(middle + 1, high, probabilities[middle], above)

    plan(0, len(probabilities), Fraction(0), Fraction(1))
    return RecursivePlan(tuple(probabilities), cells, steps)


def _sensitivity(aim: Fraction, person: Person, *, root: bool) -> int:
    """The sensitivity of a rank loss; below the root a replaced record counts as one removed and one added."""
    if root or not person.exchanged:
        return rank_sensitivity(aim, person)
    return 2 * rank_sensitivity(aim, Person(person.rows, exchanged=False, fixed_size=False))


def draw_recursively(cells: NDArray[np.int64], plan: RecursivePlan, dice: WeightedDraws) -> NDArray[np.int64]:
    """One draw of all quantiles as cells, from the records' sorted cells."""
    cuts = np.empty(len(plan.probabilities), np.int64)

    def draw(low: int, high: int, records: NDArray[np.int64], first: int, last: int) -> None:
        if low >= high:
            return
        middle = (low + high) // 2
        aim, pruned = plan.steps[middle]
        where = segments(records, first, last)
        cut = cuts[middle] = draw_quantile(where, len(records), aim, pruned, dice, first=first, last=last)
        split = int(np.searchsorted(records, cut))
        draw(low, middle, records[:split], first, int(cut))
        draw(middle + 1, high, records[split:], int(cut), last)

    draw(0, len(cuts), cells, 0, plan.cells - 1)
    return cuts
