"""Goes through every outcome of a procedure that draws with `WeightedDraws`: its exact law, not a sample."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from math import fsum, inf, log
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.central.ranks.mechanisms.weighted_draws import WeightedDraws

T = TypeVar("T", bound=Hashable)


class EveryOutcome(WeightedDraws):
    """Draws that show, run after run, each combination of results, and know how likely it was."""

    def __init__(self) -> None:
        self.tape: list[tuple[int, Sequence[int]]] = []
        self.place, self.chance = 0, 1.0

    def below(self, bound: int) -> int:
        """The next number of 0 .. bound-1."""
        self.chance /= bound
        return self._next(range(bound))

    def index(self, weights: NDArray[np.float64]) -> int:
        """The next index with a weight above zero."""
        index = self._next(np.flatnonzero(weights).tolist())
        self.chance *= float(weights[index]) / fsum(weights)
        return index

    def _next(self, options: Sequence[int]) -> int:
        if self.place == len(self.tape):
            self.tape.append((0, options))
        at, options = self.tape[self.place]
        self.place += 1
        return int(options[at])

    def advance(self) -> bool:
        """Turns to the next combination; false after the last."""
        while self.tape and self.tape[-1][0] + 1 == len(self.tape[-1][1]):
            self.tape.pop()
        if not self.tape:
            return False
        at, options = self.tape[-1]
        self.tape[-1] = (at + 1, options)
        self.place, self.chance = 0, 1.0
        return True


def law_of(draw: Callable[[WeightedDraws], T]) -> dict[T, float]:
    """The probability of each result, added up over all ways to it."""
    outcomes, parts = EveryOutcome(), defaultdict(list)
    while True:
        result = draw(outcomes)
        parts[result].append(outcomes.chance)
        if not outcomes.advance():
            return {result: fsum(chances) for result, chances in parts.items()}


def largest_loss(one: Mapping[T, float], other: Mapping[T, float]) -> float:
    """The largest |log P / Q|, infinite where one law gives what the other cannot."""
    if one.keys() != other.keys():
        return inf
    return max(abs(log(one[result] / other[result])) for result in one)
