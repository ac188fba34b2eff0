"""The joint exponential mechanism: several quantiles drawn at once, with the table size where it is private.

Cuts z_1 <= ... <= z_m are cells of a grid; slot s holds the records between two cuts, and tau_s(c) is its whole-number
share of a table of c rows.
    loss(z, c) = sum over the slots of |records in slot s - tau_s(c)|,    Pr[z, c] ~ exp(-kappa loss(z, c))
Where the size is private, c is drawn along with the cuts from the multiples of a public step and thrown away: for
fixed (z, c) one record changes one slot by one. With c = n, as in JointExp [Gillenwater et al. 2021], the targets move
with the data and one record changes the loss by up to 2 (1 - least share): that is the gain. Law, proof and rounding
bound: docs/joint_quantiles.md.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from math import log

import numpy as np
from numpy.typing import NDArray

from bruit.central.ranks.mechanisms._joint_kernels import count_cells, sum_every_size, sum_every_size_apart, sum_forward
from bruit.central.ranks.mechanisms.pruning import FLOOR, LARGEST_WINDOW, Pruning, pruning
from bruit.central.ranks.mechanisms.weighted_draws import WeightedDraws
from bruit.central.ranks.records import Person

LARGEST_GRID = 2**52
"""Cells, sub-cells included, are counted exactly in doubles."""

LARGEST_PRODUCT = 2**62


@dataclass(frozen=True)
class JointPlan:
    """The public parameters of the joint mechanism; `step` is None where the table size is public."""

    probabilities: tuple[Fraction, ...]
    cells: int
    pruned: Pruning
    step: int | None


def joint_plan(
    probabilities: Sequence[Fraction], cells: int, epsilon: Fraction, person: Person, *, step: int | None = None
) -> JointPlan | None:
    """A `JointPlan` for these public parameters, or None where weights would leave the range of doubles.

    step = 2 (m + 1) D / epsilon, where nothing else is stated: a quarter of it is no better for deciles.
    """
    number, moves = len(probabilities), person.moves
    spacing = step or max(1, round(2 * (number + 1) * moves / epsilon))
    log_outputs = sum(log((cells + i) / (i + 1)) for i in range(number))  # C(cells + m - 1, m)
    pruned = pruning(
        epsilon,
        moves,
        log_outputs=log_outputs,
        sizes=lambda window: 1 if person.fixed_size else 2 * window // min(spacing, window) + 1,
        roundings=lambda window: 64.0 * (number + 1) * (2 * window + 64 + number),
    )
    if pruned is None or pruned.window > LARGEST_WINDOW or cells >= LARGEST_GRID:
        return None
    return JointPlan(tuple(probabilities), cells, pruned, None if person.fixed_size else min(spacing, pruned.window))


def target_ranks(sizes: Sequence[int] | NDArray[np.int64], probabilities: Sequence[Fraction]) -> NDArray[np.int64]:
    """The target rank of each cut for tables of these sizes: size * p, rounded half up, without overflow."""
    numerators = np.array([p.numerator for p in probabilities], np.int64)
    denominators = np.array([p.denominator for p in probabilities], np.int64)
    if 2 * int(max(sizes)) * int(denominators.max()) < LARGEST_PRODUCT:
        doubled = 2 * np.multiply.outer(np.asarray(sizes, np.int64), numerators) + denominators
        return np.asarray(doubled // (2 * denominators), np.int64)
    ranks = [[(2 * int(c) * p.numerator + p.denominator) // (2 * p.denominator) for p in probabilities] for c in sizes]
    return np.array(ranks, np.int64).reshape(len(sizes), len(probabilities))


def draw_cuts(cells: NDArray[np.int64], plan: JointPlan, dice: WeightedDraws) -> NDArray[np.int64]:
    """One draw of all cuts (quantile cells), from the records' sorted cells."""
    return Sums(cells, plan).draw(dice)


@dataclass
class Sums:
    """Forward sums over ranks for every table size, and backward draws for one."""

    cells: NDArray[np.int64]
    plan: JointPlan
    padded: NDArray[np.float64] = field(init=False)
    lengths: NDArray[np.float64] = field(init=False)
    sizes: NDArray[np.int64] = field(init=False)
    targets: NDArray[np.int64] = field(init=False)
    power: NDArray[np.float64] = field(init=False)
    totals: NDArray[np.float64] = field(init=False)

    def __post_init__(self) -> None:
        pad = 2 * self.plan.pruned.window + 4
        self.padded = count_cells(self.cells, self.plan.cells, pad)
        self.lengths = self.padded[pad : pad + len(self.cells) + 1]
        self.sizes = self._candidates()
        self.targets = target_ranks(self.sizes, self.plan.probabilities)
        pruned, number = self.plan.pruned, len(self.plan.probabilities)
        self.power = np.multiply.accumulate(np.r_[1.0, np.full(2 * pruned.window + 4, pruned.decay)])
        width = min(pruned.window + 4, len(self.cells) + 1)
        self._arrive, self._place = np.zeros((number, width)), np.zeros((number, width))
        self._bounds, self._back = np.zeros((3, number), np.int64), np.zeros(width + 2)
        self.totals = np.zeros(len(self.sizes) + 1)
        self._sum()
        self.totals[-1] = FLOOR

    def _candidates(self) -> NDArray[np.int64]:
        """The sizes whose distance from the number of rows is within the window; others have a larger loss."""
        rows, window, step = len(self.cells), self.plan.pruned.window, self.plan.step
        if step is None:
            return np.array([rows], np.int64)
        lowest = -(-max(rows - window, 0) // step) * step
        return np.arange(lowest, rows + window + 1, step, dtype=np.int64)

    def _sum(self) -> None:
        window = self.plan.pruned.window
        gaps = np.diff(self.targets, axis=1)
        if len(self.sizes) > 1 and gaps.size and gaps.min() >= window + 2:
            sum_every_size_apart(self.padded, self.sizes, self.targets, window, self.power, self.totals)
            return
        scratch = (self._arrive, self._place, self._bounds, self._back)
        sum_every_size(self.lengths, self.sizes, self.targets, window, self.power, *scratch, self.totals)

    def draw(self, dice: WeightedDraws) -> NDArray[np.int64]:
        """Draws a table size, then all cuts; or uniform cuts where the floor outcome is drawn."""
        choice = dice.index(self.totals)
        cuts = self.cuts(choice, dice) if choice < len(self.sizes) else None
        if cuts is None:  # the floor
            return np.array(dice.multiset(self.plan.cells, len(self.plan.probabilities)), np.int64)
        return cuts

    def cuts(self, choice: int, dice: WeightedDraws) -> NDArray[np.int64] | None:
        """Draws the cuts for one table size, last to first; None where underflowed weights leave no choice."""
        size, targets = int(self.sizes[choice]), self.targets[choice]
        scratch = (self._arrive, self._place, self._bounds, self._back)
        sum_forward(self.lengths, size, targets, self.plan.pruned.window, self.power, *scratch)
        cuts = np.empty(len(targets), np.int64)
        j, after, slot = len(targets) - 1, len(self.cells), size - int(targets[-1])
        while j >= 0:
            low, weights = self._ranks(j, after, slot)
            if not weights.any():
                return None
            rank = low + dice.index(weights)
            terms = self._shares(j, rank, targets)
            if not terms.any():
                return None
            shared = 1 + dice.index(terms)
            start = int(self.cells[rank - 1]) + 1 if rank > 0 else 0
            inside = dice.multiset(int(self.lengths[rank]), shared)
            cuts[j - shared + 1 : j + 1] = [start + cell for cell in inside]
            j, after = j - shared, rank
            slot = int(targets[j + 1] - targets[j]) if j >= 0 else 0
        return cuts

    def _ranks(self, j: int, after: int, slot: int) -> tuple[int, NDArray[np.float64]]:
        """The least rank of cut j, and the weights from there on, given the next cut and the target between them."""
        low, high = int(self._bounds[0, j]), int(self._bounds[1, j])
        if j < len(self._bounds[0]) - 1:
            high = min(high, after - 1)  # a shared run was drawn as one
        distance = np.abs(after - slot - np.arange(low, high + 1))
        far = distance >= len(self.power)
        weights = self._place[j, : len(distance)] * self.power[np.where(far, 0, distance)]
        weights[far] = 0.0
        return low, weights

    def _shares(self, j: int, rank: int, targets: NDArray[np.int64]) -> NDArray[np.float64]:
        """The weights of placing 1, 2, ... cuts, the last of them cut j, among the cells of equal rank."""
        length, ways, empty = float(self.lengths[rank]), 1.0, 1.0
        terms = np.zeros(int(self._bounds[2, j]))
        for k in range(1, len(terms) + 1):
            first = j - k + 1
            ways *= (length + k - 1) / k
            if k > 1:
                gap = int(targets[first + 1] - targets[first])
                empty = empty * float(self.power[gap]) if gap < len(self.power) else 0.0
            if self._bounds[0, first] <= rank <= self._bounds[1, first]:
                terms[k - 1] = ways * empty * self._arrive[first, rank - self._bounds[0, first]]
        return terms
