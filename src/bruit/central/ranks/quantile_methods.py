"""The methods that draw quantiles on a grid, with all public parameters checked before anything is charged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from math import log2
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.central.ranks.errors import rank_error
from bruit.central.ranks.mechanisms.exponential import draw_quantile, single_plan
from bruit.central.ranks.mechanisms.histogram import draw_edges, threshold_plan
from bruit.central.ranks.mechanisms.joint import draw_cuts as draw_jointly
from bruit.central.ranks.mechanisms.joint import joint_plan
from bruit.central.ranks.mechanisms.path_lengths import lengths_by_exchange, lengths_by_moves, smoothed
from bruit.central.ranks.mechanisms.recursive import draw_recursively, recursive_plan
from bruit.central.ranks.mechanisms.segments import Segments, draw_cell, near, segments, single_pruning
from bruit.central.ranks.mechanisms.weighted_draws import WeightedDraws
from bruit.central.ranks.records import Person, parted
from bruit.central.ranks.spacings import Spacing
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument
from bruit.tables import Within

Cells = NDArray[np.int64]
Draw = Callable[[Cells, np.random.Generator], Cells]
"""Cells, from the sorted cells of the records; what is public is bound already."""

SUB_CELLS = 2**24
"""Sub-cells per cell at ε = 1, by which ties are broken at random: enough for a hundred million equal records."""

METHODS = ("joint", "exponential", "recursive", "histogram", "inverse-sensitivity", "smooth")


@dataclass(frozen=True)
class QuantileMethod:
    """A quantile method with its public parameters, checked before anything is charged."""

    method: str
    grid: int
    draw: Draw
    sub_cells: int = 1
    details: dict[str, Any] = field(default_factory=dict)

    def draw_once(self, cells: Cells, rng: np.random.Generator) -> Cells:
        """One draw of the quantiles as grid cells, from the records' cells in any order."""
        return self.draw(parted(cells, self.grid, self.sub_cells, rng=rng), rng) // self.sub_cells


@dataclass(frozen=True)
class RankQuestion:
    """The public parameters of a quantile query, from which each `QuantileMethod` is made."""

    probabilities: tuple[Fraction, ...]
    domain: Within
    epsilon: Fraction
    person: Person
    steps: int
    smoothing: Exact | None
    spacing: str = "linear"

    @property
    def candidates(self) -> Spacing:
        """The candidate values and their spacing."""
        return Spacing(self.domain, self.spacing)

    @property
    def size(self) -> int:
        """The number of candidate values."""
        return self.candidates.size

    def method_named(self, method: str | None) -> QuantileMethod:
        """The `QuantileMethod` of this name, or the default one."""
        if method is not None and method not in METHODS:
            raise InvalidArgument(f"method={method!r}; choose among {', '.join(METHODS)}, or leave it out")
        if self.smoothing is not None and method != "smooth":
            raise InvalidArgument("smoothing= is for method='smooth' only")
        if method is None:
            return self.exponential() if len(self.probabilities) == 1 else self.joint() or self.recursive()
        made = getattr(self, method.replace("-", "_"))()
        if made is None:
            raise InvalidArgument(
                "method='joint' cannot carry this: ask for fewer quantiles, a coarser grid or another epsilon, "
                "or take method='recursive'"
            )
        return made  # type: ignore[no-any-return]

    @property
    def sub_cells(self) -> int:
        """The number of sub-cells per grid cell, a power of two near 2^24 epsilon, that break ties between records."""
        wished = SUB_CELLS * min(max(float(self.epsilon) / self.person.moves, 2.0**-8), 2.0**4)
        return 1 << min(round(log2(wished)), 51 - self.size.bit_length())

    def joint(self) -> QuantileMethod | None:
        """The method that draws all quantiles at once by the joint exponential mechanism; None where it cannot run."""
        plan = joint_plan(self.probabilities, self.size * self.sub_cells, self.epsilon, self.person)
        if plan is None:
            return None
        return self._made(
            "joint", lambda cells, rng: draw_jointly(cells, plan, WeightedDraws(rng)), sub_cells=self.sub_cells
        )

    def recursive(self) -> QuantileMethod:
        """The method that halves recursively: the middle quantile first, then those of each half."""
        plan = recursive_plan(self.probabilities, self.size * self.sub_cells, self.epsilon, self.person)
        return self._made(
            "recursive", lambda cells, rng: draw_recursively(cells, plan, WeightedDraws(rng)), sub_cells=self.sub_cells
        )

    def exponential(self) -> QuantileMethod:
        """The method that draws each quantile by the exponential mechanism, with epsilon split equally."""
        size, each = self.size, self.epsilon / len(self.probabilities)
        plans = [single_plan(p, size, each, self.person) for p in self.probabilities]

        def draw(cells: Cells, rng: np.random.Generator) -> Cells:
            dice, where = WeightedDraws(rng), segments(cells, 0, size - 1)
            pairs = zip(self.probabilities, plans, strict=True)
            ends = {"first": 0, "last": size - 1}
            return np.sort([draw_quantile(where, len(cells), p, plan, dice, **ends) for p, plan in pairs])

        return self._made("exponential", draw)

    def histogram(self) -> QuantileMethod:
        """The histogram method: AboveThreshold over equal steps."""
        plan = threshold_plan(self.probabilities, self.size, self.epsilon, self.person, steps=self.steps)
        details = {"steps": len(plan.edges) - 1, "edge": "left"}
        return QuantileMethod("histogram", self.size, lambda cells, rng: draw_edges(cells, plan, rng), details=details)

    def inverse_sensitivity(self) -> QuantileMethod:
        """The inverse sensitivity method: each candidate is scored by how many records must change."""
        return self._made("inverse-sensitivity", self._by_lengths(0))

    def smooth(self) -> QuantileMethod:
        """The smooth inverse sensitivity method: the score is the least number of changes within a distance."""
        if self.spacing != "linear":
            raise InvalidArgument("method='smooth' needs spacing='linear': its distance is in the units of the column")
        radius = exactly(self.smoothing if self.smoothing is not None else self.domain.grid, "smoothing")
        if radius < 0:
            raise InvalidArgument(f"smoothing={self.smoothing} must not be negative")
        whole = round(radius / self.domain.grid)
        draw = self._by_lengths(whole)
        return QuantileMethod("smooth", self.size, draw, details={"smoothing": float(whole * self.domain.grid)})

    def _by_lengths(self, radius: int) -> Draw:
        size, person = self.size, self.person
        lengths = lengths_by_exchange if person.fixed_size else lengths_by_moves
        moves = 1 if person.fixed_size else person.moves
        plan = single_pruning(self.epsilon / len(self.probabilities), moves, size)

        def one(where: Segments, rows: int, p: Fraction, dice: WeightedDraws) -> int:
            ends, reach = {"first": 0, "last": size - 1}, plan.window + 1
            close = near(where, p * rows - reach, p * rows + reach)
            losses = lengths(close, p, rows)
            if radius:
                close, losses = smoothed(close, losses, radius, **ends)
            return draw_cell(close, losses, plan, dice, **ends)

        def draw(cells: Cells, rng: np.random.Generator) -> Cells:
            dice, where = WeightedDraws(rng), segments(cells, 0, size - 1)
            return np.sort([one(where, len(cells), p, dice) for p in self.probabilities])

        return draw

    def _made(self, method: str, draw: Draw, *, sub_cells: int = 1) -> QuantileMethod:
        errors = rank_error(self.probabilities, self.epsilon, self.person, method)
        details = {"expected_rank_error": errors.round(3).tolist()}
        return QuantileMethod(method, self.size, draw, sub_cells, details)
