"""Factorisations A = B C of running sums in which B needs only a few buffers, and C is never formed.

A series stands for its lower triangular Toeplitz matrix. With A = 1 / (1 - z),

b(z) = 1 + Σ_j a_j z / (1 - p_j z),    c(z) = 1 / ((1 - z) b(z)),    p_0 = 1 > p_1 > … > 0

so that noise b * N is kept up with one buffer for each pole.                                [Dvijotham et al. 2024]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument

Floats = NDArray[np.float64]

FIXED = 160
"""Bits after the point in which c is computed: what is cut off stays below 2^-100 for 2^20 periods."""


@dataclass(frozen=True)
class Factor:
    """A factorisation A = B C of running sums, given by the weights and poles of B's series b."""

    weights: tuple[float, ...]
    poles: tuple[float, ...]

    def __post_init__(self) -> None:
        falling = all(one > next_one for one, next_one in pairwise(self.poles))
        fits = len(self.weights) == len(self.poles) > 0 and self.poles[0] == 1 and self.poles[-1] > 0
        if not (fits and falling and min(self.weights) > 0 and sum(self.weights) < 1):
            raise InvalidArgument("a factor has poles from 1 down to above 0, and weights above 0 whose sum is below 1")

    def b(self, periods: int) -> Floats:
        """The first coefficients of b: the weights of one period's noise in that total and the later ones."""
        powers = np.outer(np.log(self.poles), np.arange(periods - 1))
        return np.concatenate([[1.0], np.array(self.weights) @ np.exp(powers)])

    def c(self, periods: int) -> list[int]:
        """The first coefficients of C's series c, in units of 2^-FIXED; refused unless positive and decreasing.

        That is checked, not proved, for as many periods as are asked: the worst person is known only then, and
        ‖1/b‖₁ = 2 - c_(n-1) follows from it alone.
        """
        one = 1 << FIXED
        parts = list(zip(map(_dyadic, self.weights), map(_dyadic, self.poles), strict=True))
        buffers, found = [0] * len(parts), []
        for _ in range(periods):
            now = one - sum(x * top >> shift for x, ((top, shift), _pole) in zip(buffers, parts, strict=True))
            buffers = [(x * top >> shift) + now for x, (_weight, (top, shift)) in zip(buffers, parts, strict=True)]
            found.append(now)
        if min(found) <= 0 or any(later > earlier for earlier, later in pairwise(found)):
            raise InvalidArgument("this factor cannot be priced: its c does not fall from 1 and stay above 0")
        return found

    @cached_property
    def arrays(self) -> tuple[Floats, Floats]:
        """The weights and the poles as arrays."""
        return np.array(self.weights), np.array(self.poles)

    @cached_property
    def pairs(self) -> Floats:
        """The products of all pairs of poles, as a matrix."""
        return np.outer(self.arrays[1], self.arrays[1])

    @cached_property
    def spread(self) -> float:
        """The bound Σ_{j>0} a_j / (1 - p_j) on how far a rounding error in the buffers moves a total."""
        pairs = zip(self.weights[1:], self.poles[1:], strict=True)
        return sum(weight / (1 - pole) for weight, pole in pairs)

    def to_json(self) -> dict[str, Any]:
        """The factor in JSON types; floats are written so that they are read back exactly."""
        return {"weights": list(self.weights), "poles": list(self.poles)}


def factor_from_json(description: dict[str, Any]) -> Factor:
    """Rebuilds a factor from what `Factor.to_json` wrote."""
    return Factor(tuple(description["weights"]), tuple(description["poles"]))


def repeated(series: Floats, times: int, apart: int) -> Floats:
    """The sum of `times` copies of a series, each shifted by `apart` places after the one before."""
    n = len(series)
    rows = np.concatenate([series, np.zeros(-n % apart)]).reshape(-1, apart).cumsum(axis=0)
    if times < len(rows):
        rows[times:] -= rows[:-times].copy()
    return rows.reshape(-1)[:n]


def repeated_exactly(series: Sequence[int], times: int, apart: int) -> list[int]:
    """The sum of shifted copies of a series, as `repeated`, in exact integers."""
    total = list(series)
    for t in range(apart, len(total)):
        gone = series[t - times * apart] if t >= times * apart else 0
        total[t] = series[t] + total[t - apart] - gone
    return total


def _dyadic(number: float) -> tuple[int, int]:
    """A float as a whole number and the power of two that it is divided by."""
    top, bottom = number.as_integer_ratio()
    return top, bottom.bit_length() - 1
