"""The public plan of a stream before it is paid for: factorisation, noise scale and price."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import ceil, exp, log2, sqrt
from typing import Any

from bruit.continual.factorisation import Factor, factor_from_json
from bruit.continual.participation import Contribution, Participation
from bruit.continual.sensitivity import squared_sensitivity
from bruit.core import ADD_OR_REMOVE_ONE, Neighbours, NormalShift
from bruit.core.numbers import root, rounded_up
from bruit.errors import InvalidArgument

REACH = 20
"""Deviations within which the discrete law is compared with the rounded normal one (docs/continual.md, Theorem 2)."""

FINEST = 28
"""The noise has at least 2^28 units a deviation: what rounding costs is then about a millionth of the error."""

WIDEST = 52
"""The samplers give integers of a deviation up to 2^52."""


@dataclass(frozen=True)
class Lattice:
    """The integer grid of the noise: `sigma` units are one standard deviation; buffers have `spare` extra bits."""

    sigma: int
    spare: int


@dataclass(frozen=True)
class StreamPlan:
    """The public plan of a stream: periods, cells, factor, noise, and `unit`, the noise units per unit of data.

    `cells` is None where keys are found: nobody knows their number. All that a price depends on stands here, so that
    what is stored was paid for, whatever the floats of another machine would make of it.
    """

    periods: int
    cells: int | None
    factor: Factor
    participation: Participation
    contribution: Contribution
    neighbours: Neighbours
    lattice: Lattice
    unit: int
    squared_shift: Fraction

    @property
    def changed(self) -> int:
        """How many cells (counters) can differ between neighbouring data sets."""
        return cells_changed(self.periods, self.participation, self.contribution, self.neighbours, self.cells)

    @property
    def loss(self) -> NormalShift:
        """The privacy loss of the whole stream."""
        return normal_shift(self.squared_shift, self.periods * self.changed, self.lattice.sigma, self.neighbours)

    def loss_after(self, periods: int) -> NormalShift:
        """The privacy loss of the first `periods` periods; the whole stream is paid for at its opening."""
        asked = (self.participation, self.contribution, self.neighbours, self.cells)
        shift = _squared_shift(self.factor, periods, self.unit, self.lattice, *asked)
        draws = periods * cells_changed(periods, *asked)
        return normal_shift(min(shift, self.squared_shift), draws, self.lattice.sigma, self.neighbours)

    @cached_property
    def deviation(self) -> float:
        """The standard deviation of one period's fresh noise, in units of the data."""
        return self.lattice.sigma / self.unit

    def to_json(self) -> dict[str, Any]:
        """A complete description in JSON types, including the unit U and the price."""
        return {
            "periods": self.periods,
            "cells": self.cells,
            "factor": self.factor.to_json(),
            "participation": vars(self.participation),
            "contribution": vars(self.contribution),
            "neighbours": self.neighbours.value,
            "sigma": self.lattice.sigma,
            "spare": self.lattice.spare,
            "unit": self.unit,
            "squared_shift": str(self.squared_shift),
        }


def plan_from_json(description: dict[str, Any]) -> StreamPlan:
    """Rebuilds a plan from what `StreamPlan.to_json` wrote."""
    return StreamPlan(
        periods=description["periods"],
        cells=description["cells"],
        factor=factor_from_json(description["factor"]),
        participation=Participation(**description["participation"]),
        contribution=Contribution(**description["contribution"]),
        neighbours=Neighbours(description["neighbours"]),
        lattice=Lattice(description["sigma"], description["spare"]),
        unit=description["unit"],
        squared_shift=Fraction(description["squared_shift"]),
    )


def make_plan(
    factor: Factor,
    shift: float,
    *,
    periods: int,
    cells: int | None,
    participation: Participation,
    contribution: Contribution,
    neighbours: Neighbours,
    lattice: Lattice | None = None,
) -> StreamPlan:
    """The plan with the least noise such that the whole stream is at most `shift`-GDP (N(shift, 1) against N(0, 1))."""
    asked = (participation, contribution, neighbours, cells)
    chosen = lattice or lattice_for(periods, shift, contribution)
    norm, slack = _norm_and_slack(factor, periods, chosen, *asked)
    unit = int((chosen.sigma * Fraction(shift) - slack) // norm)
    if unit < 1:
        raise InvalidArgument(
            f"a shift of {shift:.3g} for people who count {participation}, over {periods} periods, needs more noise "
            "than 64 bits hold: give a larger epsilon, fewer periods or tighter bounds"
        )
    moved = _squared_shift(factor, periods, unit, chosen, *asked)
    return StreamPlan(periods, cells, factor, participation, contribution, neighbours, chosen, unit, moved)


def lattice_for(periods: int, shift: float, contribution: Contribution) -> Lattice:
    """A noise grid fine enough that rounding costs nothing, with as many spare bits as floats hold exactly."""
    size = ceil(log2(contribution.squared_norm + 1) / 2 + log2(1 + 1 / shift))
    bits = max(FINEST, 17 + size)
    spare = max(0, 46 - bits - ceil(log2(periods) / 2))
    # Buffers stay in 64 bits but for a chance below n · cells · exp(-2000); beyond, numbers of any size are used.
    if bits > WIDEST or spare + bits + log2(periods) / 2 + 6 >= 62:
        raise InvalidArgument(
            f"one person moves a total by up to {sqrt(contribution.squared_norm):.3g} steps: too many for {periods} "
            "periods; give a coarser grid, tighter bounds or fewer periods"
        )
    return Lattice(2**bits, spare)


def cells_changed(
    periods: int,
    participation: Participation,
    contribution: Contribution,
    neighbours: Neighbours,
    cells: int | None,
) -> int:
    """The most cells in which neighbouring data sets can differ: one person's, or two people's."""
    people = 1 if neighbours is ADD_OR_REMOVE_ONE else 2
    most = people * participation.most(periods) * contribution.cells
    return most if cells is None else min(most, cells)


def normal_shift(squared: Fraction, draws: int, sigma: int, neighbours: Neighbours) -> NormalShift:
    """The loss of `draws` discrete Gaussian draws shifted by `squared` variances (docs/continual.md, Theorem 2)."""
    near = Fraction(draws) * (REACH**2 // 24 + 2) / sigma**2
    far = rounded_up(draws * 4 * exp(60 - REACH**2 / 2))
    return NormalShift(squared, near=near, far=far, neighbours=neighbours)


def slack_of(factor: Factor, lattice: Lattice, periods: int, changed: int) -> Fraction:
    """What rounding adds to the l2 sensitivity, in units of noise: 2 H √(n · cells) (docs/continual.md, Lemma 2)."""
    return rounded_up(2 * rounding_bound(factor, lattice) * sqrt(periods * changed) * (1 + 1e-9))


def rounding_bound(factor: Factor, lattice: Lattice) -> float:
    """H, a bound on how far rounding can move the difference of two neighbouring streams' noise in one period."""
    return 1 + 2.0**-lattice.spare * (len(factor.poles) + 2 + 1.5 * factor.spread)


def _norm_and_slack(
    factor: Factor,
    periods: int,
    lattice: Lattice,
    participation: Participation,
    contribution: Contribution,
    neighbours: Neighbours,
    cells: int | None,
) -> tuple[Fraction, Fraction]:
    squared = squared_sensitivity(
        factor,
        periods,
        participation=participation,
        contribution=contribution,
        neighbours=neighbours,
        cells=cells,
    )
    changed = cells_changed(periods, participation, contribution, neighbours, cells)
    return root(squared), slack_of(factor, lattice, periods, changed)


def _squared_shift(factor: Factor, periods: int, unit: int, lattice: Lattice, *asked: Any) -> Fraction:
    """(U Δ + slack)² / σ², rounded up to few digits."""
    norm, slack = _norm_and_slack(factor, periods, lattice, *asked)
    exact = (unit * norm + slack) ** 2 / lattice.sigma**2
    return Fraction(-(-exact.numerator * 2**80 // exact.denominator), 2**80)
