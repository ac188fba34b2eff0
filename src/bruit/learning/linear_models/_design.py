"""The design matrix of a linear model: numbers scaled to [-1, 1] on an integer grid, categories one-hot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.learning.trees.binning import holds_amounts
from bruit.tables import Domain, Within

STEPS = 1 << 10
"""Grid steps in a scaled one: products of two fill 2^20, and 2^43 of them a 64-bit sum."""


@dataclass(frozen=True)
class SparseRows:
    """Rows of a design behind a column of ones, without its zeros.

    numbers (rows, p)   columns in [-1, 1], which stand at `places` (p,)
    cells (rows, c)     where the one of each column of categories stands
    """

    numbers: NDArray[np.float64]
    places: NDArray[np.int64]
    cells: NDArray[np.int32]


@dataclass(frozen=True)
class Design:
    """Maps encoded rows to integer design columns in [-STEPS, STEPS], and coefficients back to original units.

    `first` is 1 where the first category of a column is left out, against which the others are then measured. With
    `curves` every number has a second column beside it: the logarithm of an amount, the square of any other.
    """

    domains: tuple[Domain, ...]
    first: int = 1
    curves: bool = False

    @property
    def columns(self) -> int:
        """The number of columns of the design matrix."""
        return sum(self._width(domain) for domain in self.domains)

    @property
    def touched(self) -> int:
        """The most columns in which one row is not zero: all of a number, one of a category."""
        return len(self.domains) + self.curves * sum(isinstance(domain, Within) for domain in self.domains)

    def _width(self, domain: Domain) -> int:
        return 1 + self.curves if isinstance(domain, Within) else domain.size - self.first

    def _number(self, integers: NDArray[np.int64], domain: Within) -> list[NDArray[np.int64]]:
        """The design columns of one number."""
        line = scale_to_steps(integers, domain)
        return [line, curve_of_steps(integers, domain)] if self.curves else [line]

    def integers(self, values: NDArray[np.int64]) -> NDArray[np.int64]:
        """The integer design matrix, with entries between -STEPS and STEPS."""
        found = np.empty((len(values), self.columns), np.int64)
        at = 0
        for j, domain in enumerate(self.domains):
            if isinstance(domain, Within):
                found[:, at : at + self._width(domain)] = np.array(self._number(values[:, j], domain)).T
            else:
                found[:, at : at + self._width(domain)] = STEPS * (
                    values[:, j, None] == np.arange(self.first, domain.size)
                )
            at += self._width(domain)
        return found

    @property
    def places(self) -> NDArray[np.int64]:
        """Where the numbers stand, counting a column of ones in front."""
        kept = [np.arange(self._width(d)) + at for d, at in self._blocks if isinstance(d, Within)]
        return np.concatenate([np.empty(0, np.int64), *kept])

    @property
    def _blocks(self) -> list[tuple[Domain, int]]:
        """Each domain, and where its columns start behind a column of ones."""
        starts = np.cumsum([1, *(self._width(domain) for domain in self.domains)])
        return list(zip(self.domains, starts[:-1].tolist(), strict=True))

    def sparse(self, values: NDArray[np.int64]) -> SparseRows:
        """The design without its zeros; every category needs its own column (`first=0`)."""
        numbers: list[NDArray[np.float64]] = []
        cells: list[NDArray[np.int64]] = []
        for column, (domain, start) in zip(values.T, self._blocks, strict=True):
            if isinstance(domain, Within):
                numbers += [steps / STEPS for steps in self._number(column, domain)]
            else:
                cells.append(column + start)
        return SparseRows(
            np.array(numbers, np.float64).reshape(len(numbers), len(values)).T.copy(),
            self.places,
            np.array(cells, np.int32).reshape(len(cells), len(values)).T.copy(),
        )

    def against_first(self, theta: NDArray[np.float64]) -> NDArray[np.float64]:
        """Coefficients behind an intercept, with those of a first category moved into the intercept."""
        intercept, kept = theta[:, :1].copy(), []
        for domain, start in self._blocks:
            part = theta[:, start : start + self._width(domain)]
            if not isinstance(domain, Within):
                intercept += part[:, :1]
                part = part[:, 1:] - part[:, :1]
            kept.append(part)
        return np.hstack([intercept, *kept])

    @property
    def centres(self) -> NDArray[np.float64]:
        """The value of each column that is scaled to zero; curves stay as they are."""
        return self._each(lambda domain: [float(domain.low + domain.high) / 2, 0.0], 0.0)

    @property
    def widths(self) -> NDArray[np.float64]:
        """The half-width of each column, which is mapped to one."""
        return self._each(lambda domain: [float(domain.high - domain.low) / 2, 1.0], 1.0)

    def names(self, features: Sequence[str]) -> list[str]:
        """The name of each column: the feature, and the category where there are several."""
        found = []
        for name, domain in zip(features, self.domains, strict=True):
            if isinstance(domain, Within):
                found += [name, f"log({name})" if holds_amounts(domain) else f"{name}²"][: self._width(domain)]
            else:
                found += [f"{name}={label}" for label in domain.labels[self.first :]]
        return found

    def _each(self, number: Any, indicator: float) -> NDArray[np.float64]:
        parts = (
            number(d)[: self._width(d)] if isinstance(d, Within) else self._width(d) * [indicator] for d in self.domains
        )
        return np.array([each for part in parts for each in part], np.float64)


def own_units(values: NDArray[Any], design: Design | None) -> NDArray[np.float64]:
    """Encoded rows as design columns in original units; without a design, the numbers themselves."""
    if design is None:
        return np.asarray(values, np.float64)
    return np.asarray(design.centres + design.widths * design.integers(values) / STEPS)


def weighted_sum(columns: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The product columns @ weights, added column by column so that a row's sum is bitwise the same in any table.

    Products of matrices add in an order that depends on how many rows there are.
    """
    found = np.zeros((len(columns), *weights.shape[1:]))
    for column, weight in zip(columns.T, weights, strict=True):
        found += np.multiply.outer(column, weight)
    return found


def scale_to_steps(integers: NDArray[np.int64], domain: Within) -> NDArray[np.int64]:
    """Grid integers between the domain's bounds, rescaled to integers between -STEPS and STEPS."""
    span = domain.highest - domain.lowest
    return np.rint((2 * (integers - domain.lowest) / span - 1) * STEPS).astype(np.int64)


def curve_of_steps(integers: NDArray[np.int64], domain: Within) -> NDArray[np.int64]:
    """The logarithm of an amount, or the square of the distance from the middle, between -STEPS and STEPS."""
    if holds_amounts(domain):
        share = np.log1p(integers) / np.log1p(domain.highest)
    else:
        share = (scale_to_steps(integers, domain) / STEPS) ** 2
    return np.asarray(np.rint((2 * share - 1) * STEPS), np.int64)
