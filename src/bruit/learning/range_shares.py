"""Shares of right rows in ranges of confidence, of which some hold few rows, with intervals that know both laws.

The numbers of right and wrong rows of a range are n p and n (1 - p) on average, and noise is added to both. At the
share p the sum (1 - p) right - p wrong is zero on average. Of few wrong rows it is not normal, and neither is noise of
few cells: its characteristic function is known.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bruit.channels import laplace_log_characteristic, laplace_variance
from bruit.core.tails import lower_tail

Floats = NDArray[np.float64]

HALVINGS = 40
"""Halvings of the distance from a share to the end of its interval."""


@dataclass(frozen=True)
class RangeShares:
    """Noisy numbers of right and wrong rows, one entry a range.

    scale   of the discrete Laplace noise of one cell       cells   that make up the right and the wrong rows
    rows    the most rows of one person that count: as many people may be that much fewer
    """

    right: Floats
    wrong: Floats
    scale: float
    cells: tuple[int, int]
    rows: int

    @property
    def found(self) -> Floats:
        """The share of right rows in each range; where noise left no row, that of one."""
        return np.asarray(np.clip(self.right / np.maximum(self.right + self.wrong, 1), 0, 1))

    def ends(self, confidence: float) -> tuple[Floats, Floats]:
        """The lowest and the highest share that are no more surprising than the confidence allows.

        They are 0 and 1 in a range whose rows do not exceed one, and half a deviation of their noise.
        """
        noise = (sum(self.cells) * laplace_variance(self.scale)) ** 0.5
        known = self.right + self.wrong > max(noise / 2, 1.0)
        low, high = (self._end(bound, 1 - confidence) for bound in (0.0, 1.0))
        return np.where(known, low, 0.0), np.where(known, high, 1.0)

    def tail(self, shares: Floats) -> Floats:
        """How surprising the rows of each range are if this is its share: twice the lesser of both tails.

        People are taken as Poisson, n / rows of them who move the sum by rows (1 - p) or by -rows p: of the same
        variance and skewness as of a fixed number.
        """
        people, others = np.maximum(self.right + self.wrong, 0) / self.rows, 1 - shares
        one_cell, (right, wrong) = laplace_variance(self.scale), self.cells
        noise = one_cell * (right * others**2 + wrong * shares**2)
        deviations = np.sqrt(np.maximum(people * self.rows**2 * shares * others + noise, 1e-300))

        def log_characteristic(frequencies: Floats) -> NDArray[np.complex128]:
            up, down = others[:, None] * frequencies, -shares[:, None] * frequencies
            jumps = shares[:, None] * np.exp(1j * self.rows * up) + others[:, None] * np.exp(1j * self.rows * down) - 1
            drawn = right * laplace_log_characteristic(self.scale, up)
            drawn += wrong * laplace_log_characteristic(self.scale, down)
            return np.asarray(people[:, None] * jumps + drawn)

        below = lower_tail(others * self.right - shares * self.wrong, deviations, log_characteristic)
        return np.asarray(2 * np.minimum(below, 1 - below))

    def _end(self, bound: float, level: float) -> Floats:
        """Where the tail falls to the level between the share found and a bound; the bound, where it does not."""
        inside = self.found
        outside = np.full(inside.shape, bound)
        kept = self.tail(outside) >= level
        for _ in range(HALVINGS):
            middle = (inside + outside) / 2
            holds = self.tail(middle) >= level
            inside, outside = np.where(holds, middle, inside), np.where(holds, outside, middle)
        return np.where(kept, bound, outside)
