"""Private quantiles of each group's rows, with confidence intervals where these are paid for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, log
from typing import TYPE_CHECKING

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.central.questions.levels import Level
from bruit.central.questions.measures import Measure
from bruit.central.questions.sensitivities import RowRange, moved_rows, sensitivity
from bruit.central.ranks.mechanisms.pruning import LARGEST_EPSILON
from bruit.central.ranks.quantile_methods import QuantileMethod, RankQuestion
from bruit.central.ranks.records import Person
from bruit.channels import IntegerNoise
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours
from bruit.tables import Within

if TYPE_CHECKING:
    from bruit.central.questions.asking import Question

Cells = NDArray[np.int64]

STEPS = 1000
"""The shares at which the ends of an interval of values are drawn are multiples of 1 / STEPS."""

COUNTED = Fraction(1, 8)
"""The part of the price of an interval of values that counts the rows."""


@dataclass(frozen=True)
class QuantileDraws:
    """The drawing of one measure's quantiles in each group of a level, checked before any charge."""

    domain: Within
    middle: QuantileMethod
    probabilities: tuple[Fraction, ...]
    person: Person
    ends: Fraction | None
    """The epsilon of each end of an interval of values; None where none is asked for."""

    counted: IntegerNoise | None
    confidence: float

    def draw(self, tally: polars.DataFrame | None, rng: np.random.Generator) -> NDArray[np.float64]:
        """The quantiles of one group's tally, followed by the low and high interval ends if asked for."""
        cells = self._cells(tally)
        drawn = [self.middle.draw_once(cells, rng)]
        if self.counted is not None:
            reach = self._reach(int(self.counted.send(len(cells), rng)))
            drawn.append(np.array([self._end(cells, floor((p - reach) * STEPS), rng) for p in self.probabilities]))
            drawn.append(np.array([self._end(cells, ceil((p + reach) * STEPS), rng) for p in self.probabilities]))
        return np.asarray(self.domain.decode(np.concatenate(drawn) + self.domain.lowest), np.float64)

    def _cells(self, tally: polars.DataFrame | None) -> Cells:
        """The cell of every row, from zero at the low bound; a group without rows has none."""
        if tally is None:
            return np.zeros(0, np.int64)
        value = next(name for name in tally.columns if name.startswith("value"))
        counted = tally.sort(value)
        cells = np.repeat(counted[value].to_numpy() - self.domain.lowest, counted["rows"].to_numpy())
        return cells.astype(np.int64)

    def _reach(self, noisy_rows: int) -> Fraction:
        """The largest rank error as a share of the group's noisy number of rows.

        A rank is wrong by more than 2 rows ln(cells / b) / epsilon with chance b at most [McSherry & Talwar 2007];
        the count is too high by more than its half-width with a third of the failure, and so is either end.
        """
        assert self.ends is not None
        assert self.counted is not None
        fails = (1 - self.confidence) / 3
        wrong = 2 * self.person.rows * log(self.domain.size / fails) / float(self.ends)
        rows = noisy_rows - self.counted.half_width(1 - fails)
        return Fraction(1) if rows <= wrong else Fraction(wrong / rows)

    def _end(self, cells: Cells, step: int, rng: np.random.Generator) -> int:
        if not 0 < step < STEPS:
            return 0 if step <= 0 else self.domain.size - 1
        assert self.ends is not None
        return int(self._asked((Fraction(step, STEPS),), self.ends).exponential().draw_once(cells, rng)[0])

    def _asked(self, probabilities: tuple[Fraction, ...], epsilon: Fraction) -> RankQuestion:
        return rank_question(self.domain, probabilities, epsilon, self.person)


def quantile_draws(
    question: Question, level: Level, measure: Measure, epsilon: Fraction, neighbours: Neighbours
) -> QuantileDraws:
    """The `QuantileDraws` of a measure, for the most rows that one person can change."""
    domain, person = _domain(measure), moving_person(question, level, neighbours)
    if not measure.intervals:
        middle = rank_question(domain, measure.probabilities, epsilon, person).method_named(None)
        return QuantileDraws(domain, middle, measure.probabilities, person, None, None, question.confidence)
    count, third = epsilon * COUNTED, epsilon * (1 - COUNTED) / 3
    each = min(third / len(measure.probabilities), LARGEST_EPSILON)
    moved = sensitivity(
        RowRange(0, 1), question.limit, groups=level.groups, neighbours=neighbours, coarser=level.coarser
    )
    rank_question(domain, (Fraction(1, STEPS),), each, person).exponential()  # refused here, not after a charge
    return QuantileDraws(
        domain,
        rank_question(domain, measure.probabilities, third, person).method_named(None),
        measure.probabilities,
        person,
        each,
        IntegerNoise.laplace(count, sensitivity=moved.l1, neighbours=neighbours),
        question.confidence,
    )


def moving_person(question: Question, level: Level, neighbours: Neighbours) -> Person:
    """How many rows one person can change over all groups of a level.

    With one group, an exchanged person's rows are exchanged; with several they may leave one group and come into
    another, which is as many moves again, and no exchange: 2 k q rows.
    """
    rows = moved_rows(question.limit, groups=question.groups)
    exchanged, alone = neighbours is not ADD_OR_REMOVE_ONE, level.groups == 1
    moves = rows if alone or not exchanged else 2 * rows
    return Person(moves, exchanged and alone, fixed_size=question.size is not None)


def rank_question(domain: Within, probabilities: Sequence[Fraction], epsilon: Fraction, person: Person) -> RankQuestion:
    """A `RankQuestion` for given probabilities on a domain, with epsilon capped."""
    return RankQuestion(tuple(probabilities), domain, min(epsilon, LARGEST_EPSILON), person, 1, None)


def _domain(measure: Measure) -> Within:
    assert measure.value is not None
    numbers = measure.value.numbers
    return Within(numbers.value(numbers.lowest), numbers.value(numbers.highest), numbers.grid, None)
