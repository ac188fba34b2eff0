"""The spacing of candidate quantiles between the bounds: even, or even in log(1 + x)."""

from __future__ import annotations

from dataclasses import dataclass
from math import log1p

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument
from bruit.tables import Within

MOST_CELLS = 1 << 20
SPACINGS = ("linear", "log1p")


@dataclass(frozen=True)
class Spacing:
    """The candidate values of a quantile, numbered from the low bound.

    Linear: the grid of the domain. log1p: cells of equal length in log(1 + x - low), narrow near the low bound, for
    columns with a long tail; at most 2^20 of them.
    """

    domain: Within
    kind: str = "linear"

    def __post_init__(self) -> None:
        if self.kind not in SPACINGS:
            raise InvalidArgument(f"spacing={self.kind!r}; choose among {', '.join(SPACINGS)}")

    @property
    def size(self) -> int:
        """How many candidates there are."""
        return self.domain.size if self.kind == "linear" else min(self.domain.size, MOST_CELLS)

    @property
    def _cells_a_unit(self) -> float:
        return (self.size - 1) / log1p(float(self.domain.high - self.domain.low))

    def cells(self, steps: NDArray[np.int64]) -> NDArray[np.int64]:
        """The candidate cells of records, given in grid steps above the low bound."""
        if self.kind == "linear":
            return steps
        cells = np.floor(np.log1p(steps * float(self.domain.grid)) * self._cells_a_unit)
        return np.asarray(np.clip(cells, 0, self.size - 1), np.int64)

    def values(self, cells: NDArray[np.int64]) -> NDArray[np.float64]:
        """The values of cells, on the grid of the domain."""
        if self.kind == "linear":
            return self.domain.decode(cells + self.domain.lowest)
        above = np.expm1(cells / self._cells_a_unit) / float(self.domain.grid)
        steps = np.clip(np.rint(above), 0, self.domain.size - 1).astype(np.int64)
        return self.domain.decode(steps + self.domain.lowest)
