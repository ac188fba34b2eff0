"""Poisson sampling: each record enters a batch independently with the same probability."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class PoissonSampler:
    """Draws batches that hold each of `size` records independently with probability `rate`.

    A batch has any size, zero too. It is never cut: what a cut would drop depends on who else is there.
    """

    size: int
    rate: Fraction

    def draw(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """The sorted record indices of one batch."""
        return np.flatnonzero(rng.random(self.size) < float(self.rate))


@dataclass(frozen=True, eq=False)
class Batch:
    """One drawn batch, to be used for exactly one step; steps are numbered from zero."""

    number: int
    places: NDArray[np.int64]
