"""Poisson sampling: every record is in a batch by its own coin."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class PoissonSampler:
    """Draws batches in which each of `size` records is with the same probability, independently of the others.

    A batch has any size, zero too. It is never cut: what a cut would drop depends on who else is there.
    """

    size: int
    rate: Fraction

    def draw(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """The places of the records of one batch, in order."""
        return np.flatnonzero(rng.random(self.size) < float(self.rate))


@dataclass(frozen=True, eq=False)
class Batch:
    """One drawn batch, which pays for one step; its number counts from zero."""

    number: int
    places: NDArray[np.int64]
