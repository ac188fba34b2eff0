"""The design matrix of a linear model: numbers scaled to [-1, 1] on an integer grid, categories one-hot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.tables import Domain, Within

STEPS = 1 << 10
"""Grid steps in a scaled one: products of two fill 2^20, and 2^43 of them a 64-bit sum."""


@dataclass(frozen=True)
class Design:
    """Maps encoded rows to integer design columns in [-STEPS, STEPS], and coefficients back to original units.

    `first` is 1 where the first category of a column is left out, against which the others are then measured.
    """

    domains: tuple[Domain, ...]
    first: int = 1

    @property
    def columns(self) -> int:
        """The number of columns of the design matrix."""
        return sum(self._width(domain) for domain in self.domains)

    def _width(self, domain: Domain) -> int:
        return 1 if isinstance(domain, Within) else domain.size - self.first

    def integers(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The integer design matrix, with entries between -STEPS and STEPS."""
        found = np.empty((len(values), self.columns), np.int64)
        at = 0
        for j, domain in enumerate(self.domains):
            if isinstance(domain, Within):
                found[:, at] = scale_to_steps(values[:, j], domain)
            else:
                found[:, at : at + self._width(domain)] = STEPS * (
                    values[:, j, None] == np.arange(self.first, domain.size)
                )
            at += self._width(domain)
        return found

    @property
    def centres(self) -> NDArray[np.float64]:
        """The value of each column that is scaled to zero."""
        return self._each(lambda domain: float(domain.low + domain.high) / 2, 0.0)

    @property
    def widths(self) -> NDArray[np.float64]:
        """The half-width of each column, which is mapped to one."""
        return self._each(lambda domain: float(domain.high - domain.low) / 2, 1.0)

    def names(self, features: Sequence[str]) -> list[str]:
        """The name of each column: the feature, and the category where there are several."""
        found = []
        for name, domain in zip(features, self.domains, strict=True):
            labels = [] if isinstance(domain, Within) else domain.labels[self.first :]
            found += [name] if isinstance(domain, Within) else [f"{name}={label}" for label in labels]
        return found

    def _each(self, number: Any, indicator: float) -> NDArray[np.float64]:
        return np.concatenate(
            [np.full(self._width(d), number(d) if isinstance(d, Within) else indicator) for d in self.domains]
        )


def own_units(values: NDArray[Any], design: Design | None) -> NDArray[np.float64]:
    """Encoded rows as design columns in original units; without a design, the numbers themselves."""
    if design is None:
        return np.asarray(values, np.float64)
    return np.asarray(design.centres + design.widths * design.integers(values) / STEPS)


def weighted_sum(columns: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The product columns @ weights, added column by column so that a row's sum is bitwise the same in any table.

    Products of matrices add in an order that hangs on how many rows there are.
    """
    found = np.zeros((len(columns), *weights.shape[1:]))
    for column, weight in zip(columns.T, weights, strict=True):
        found += np.multiply.outer(column, weight)
    return found


def scale_to_steps(integers: NDArray[np.int64], domain: Within) -> NDArray[np.int64]:
    """Grid integers between the domain's bounds, rescaled to integers between -STEPS and STEPS."""
    span = domain.highest - domain.lowest
    return np.rint((2 * (integers - domain.lowest) / span - 1) * STEPS).astype(np.int64)
