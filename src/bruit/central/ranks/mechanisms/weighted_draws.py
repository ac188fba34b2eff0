"""Exact random draws from weights in double precision, without rounding of the probabilities."""

from __future__ import annotations

from math import frexp

import numpy as np
from numpy.typing import NDArray

from bruit.randomness import reference
from bruit.randomness.stream import Stream

ROOM = 62
"""The bits of the whole numbers that stand above the weights; their sum stays within 64 bits."""


class WeightedDraws:
    """Exact single draws from one random stream; tests substitute one that enumerates every outcome."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._words = iter(Stream(rng))

    def below(self, bound: int) -> int:
        """A uniform integer of 0 .. bound-1, for a bound of any size."""
        return reference.below(self._words, bound)

    def index(self, weights: NDArray[np.float64]) -> int:
        """An index with probability exactly weights[i] / sum(weights), the doubles being taken as exact numbers.

        Each weight is rounded up to a whole number of 2^-shift; an index drawn by these is kept with the chance
        weight / rounded weight, else drawn again.
        """
        shift = ROOM - len(weights).bit_length() - frexp(weights.max())[1]
        above = np.ceil(np.ldexp(weights, shift)).astype(np.int64)
        np.maximum(above, weights > 0, out=above)
        sums = np.cumsum(above)
        while True:
            index = int(np.searchsorted(sums, self.below(int(sums[-1])), side="right"))
            top, bottom = float(weights[index]).as_integer_ratio()
            top, bottom = (top << shift, bottom) if shift >= 0 else (top, bottom << -shift)
            bottom *= int(above[index])
            if top == bottom or self.below(bottom) < top:
                return index

    def multiset(self, length: int, size: int) -> list[int]:
        """A uniform non-decreasing tuple of `size` numbers of range(length).

        A uniform subset of range(length + size - 1), less 0, 1, 2, ...      by Floyd's sampling [Bentley & Floyd 1987]
        """
        chosen: set[int] = set()
        for top in range(length - 1, length + size - 1):
            pick = self.below(top + 1)
            chosen.add(top if pick in chosen else pick)
        return [value - place for place, value in enumerate(sorted(chosen))]
