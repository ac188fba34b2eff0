"""Integer coordinates of records on a public grid, so that distances are exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isqrt, sqrt

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument
from bruit.tables import Domain, Within

FINEST = 20
"""The unit length is at most 2^20 grid steps."""

EXACT = 2**51
"""Four times this is the last whole number up to which doubles hold them all."""


@dataclass(frozen=True)
class Space:
    """The mapping from values of public domains to coordinates.

    The width of a number's bounds, and the distance between two categories, is one unit times the column's weight:
    a number becomes one coordinate, a category one of several that differ in two places, each by 1/sqrt(2).
    Coordinates are rounded to `unit` steps, and with d of them d * (largest)^2 < 2^51: then every sum that a squared
    distance is made of is a whole number that doubles hold, in any order of summing, on any machine. A distance
    depends on the two records alone, which is what the sensitivity of the votes rests on.
    """

    domains: tuple[Domain, ...]
    weights: tuple[float, ...]

    @cached_property
    def dimensions(self) -> int:
        """How many coordinates a record has."""
        return sum(1 if isinstance(domain, Within) else domain.size for domain in self.domains)

    @cached_property
    def unit(self) -> int:
        """How many grid steps one unit has: a power of two."""
        room = isqrt(EXACT // self.dimensions)
        exponent = min(FINEST, int(np.floor(np.log2(room / max(1.0, *self.weights)))))
        return int(2**exponent)

    def coordinates(self, integers: NDArray[np.int64]) -> NDArray[np.float64]:
        """The coordinates, in grid steps, of records given as integer codes of their domains."""
        found = np.zeros((len(integers), self.dimensions))
        first = 0
        for column, domain, weight in zip(integers.T, self.domains, self.weights, strict=True):
            length = self.unit * weight
            if isinstance(domain, Within):
                found[:, first] = np.rint((column - domain.lowest) * (length / (domain.size - 1)))
                first += 1
            else:
                found[np.arange(len(column)), first + column] = round(length / sqrt(2))
                first += domain.size
        return found


def space_of(domains: Sequence[Domain], weights: Sequence[float] | None) -> Space:
    """The coordinate space of columns with public `weights`, one per column (all one by default)."""
    stated = (1.0,) * len(domains) if weights is None else tuple(float(weight) for weight in weights)
    if len(stated) != len(domains) or not all(0 < weight <= 1000 for weight in stated):
        raise InvalidArgument(
            f"weights= must hold {len(domains)} numbers above 0 and at most 1000, one for each column"
        )
    return Space(tuple(domains), stated)
