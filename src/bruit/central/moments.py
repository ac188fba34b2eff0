"""Sum, mean and variance of a column of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from bruit.central.asking import asked
from bruit.central.noise import IntegerNoise, bought_noise, draw, half_width, laplace_noise, require_confidence
from bruit.central.paying import equal_part, pay, require_price
from bruit.errors import InvalidArgument, OutOfDomain
from bruit.ledger import Budget
from bruit.privacy import ADD_OR_REMOVE_ONE, Assumption, Covers, Interval, Loss, Neighbours, Release, composed
from bruit.tables import Column, Within, reach
from bruit.tables.exact import count as exact_count
from bruit.tables.exact import total

WIDEST_SQUARE = 2**31
"""The largest square that a variance sums, so that two thousand million of them stay within 64 bits."""


def sum_sensitivity(column: Column, neighbours: Neighbours, *, around: int = 0, power: int = 1) -> int:
    """The most one person moves a sum of a column, in steps of the grid."""
    return moved_by_one(column.numbers, neighbours, rows=column.table.bounds[1], around=around, power=power)


def moved_by_one(domain: Within, neighbours: Neighbours, *, rows: int, around: int = 0, power: int = 1) -> int:
    """The most one person moves a sum, from what is public.

    Added or removed: the farther end of what the person can add. Exchanged: from one end to the other. Zero is among
    the ends: where the table is a filtered part of the data, a row may leave it.
    """
    low, high = reach(domain, rows=rows, around=around, power=power)
    return max(-low, high) if neighbours is ADD_OR_REMOVE_ONE else high - low


def sum(  # noqa: A001  the statistic's own name, used as central.sum
    column: Column, *, budget: Budget | None, confidence: float = 0.95, rng: np.random.Generator | None = None
) -> Release[float]:
    """The sum of a column after clamping, each person's sum clamped to what `limit(rows=...)` rows can reach."""
    price = require_price(budget, column.table, "central.sum")
    loss = bought_noise(price, each=sum_sensitivity(column, price.neighbours))
    width = half_width(loss, confidence)
    charge, source = pay(price, loss, what="central.sum", rng=rng)
    steps = total(column) + int(draw(loss, 1, rng=source)[0])
    grid = float(column.numbers.grid)
    low, high = (np.array((steps + side) * grid) for side in (-width, width))
    release = Release(
        value=steps * grid,
        guarantee=charge.guarantee,
        method=type(loss).__name__,
        labels=(column.name,),
        interval=Interval(low, high, confidence, Covers.TABLE),
        noise=width * grid,
        details=asked(column.table, column),
    )
    return charge.finish(release)


def mean(
    column: Column,
    *,
    budget: Budget | None,
    size: int | None = None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Release[float]:
    """The mean of a column: a noisy sum around the middle of its bounds over `size`, or over a paid noisy count."""
    price = require_price(budget, column.table, "central.mean")
    return Moments(column, price, size, confidence, powers=(1,), what="central.mean").release(rng)


def variance(
    column: Column,
    *,
    budget: Budget | None,
    size: int | None = None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Release[float]:
    """The variance of a column, from noisy sums of first and second powers around the middle of its bounds."""
    price = require_price(budget, column.table, "central.variance")
    return Moments(column, price, size, confidence, powers=(1, 2), what="central.variance").release(rng)


@dataclass(frozen=True)
class Moments:
    """Noisy sums of powers over a size, stated or paid; everything is in steps of the grid until the end."""

    column: Column
    price: Budget
    size: int | None
    confidence: float
    powers: tuple[int, ...]
    what: str

    def __post_init__(self) -> None:
        require_confidence(self.confidence)
        whole = isinstance(self.size, int | np.integer) and not isinstance(self.size, bool)
        if self.size is not None and not (whole and self.size >= 1):
            raise InvalidArgument(f"size={self.size!r} must be a public whole number of rows, at least 1, or left out")
        farthest = max(self.column.numbers.highest - self.middle, self.middle - self.column.numbers.lowest)
        if 2 in self.powers and farthest**2 > WIDEST_SQUARE:
            raise OutOfDomain("the grid is too fine for a variance: at most 92 000 steps between the bounds")

    @property
    def middle(self) -> int:
        """The grid point in the middle of the bounds, around which sums are smallest."""
        return (self.column.numbers.lowest + self.column.numbers.highest) // 2

    @property
    def losses(self) -> list[IntegerNoise]:
        """One loss for each power, and one for the count where the size is paid for."""
        parts = len(self.powers) + (self.size is None)
        epsilon, neighbours = equal_part(self.price, parts, self.what), self.price.neighbours
        sensitivities = [sum_sensitivity(self.column, neighbours, around=self.middle, power=p) for p in self.powers]
        if self.size is None:
            sensitivities.append(self.column.table.bounds[1])
        return [laplace_noise(epsilon, sensitivity, neighbours) for sensitivity in sensitivities]

    def release(self, rng: np.random.Generator | None) -> Release[float]:
        losses = self.losses
        every: Loss = losses[0] if len(losses) == 1 else composed((loss, 1) for loss in losses)
        assumes = () if self.size is None else (Assumption.PUBLIC_SIZE,)
        charge, source = pay(self.price, every, what=self.what, rng=rng, assumes=assumes)
        noisy = [one for (one,) in self.noisy_sums(1, source)]
        widths = [half_width(loss, 1 - (1 - self.confidence) / len(losses)) for loss in losses]
        value, low, high, noise = self.combined(noisy, widths)
        release = Release(
            value=value,
            guarantee=charge.guarantee,
            method="noisy sums of powers",
            labels=(self.column.name,),
            interval=Interval(np.array(low), np.array(high), self.confidence, Covers.TABLE),
            noise=noise,
            details={**self._details(noisy), **asked(self.column.table, self.column)},
        )
        return charge.finish(release)

    def noisy_sums(self, draws: int, rng: np.random.Generator) -> list[list[int]]:
        """So many independent draws of each noisy sum, and of the noisy count where the size is paid for.

        The caller has paid for them, once for each draw.
        """
        exact = [total(self.column, around=self.middle, power=power) for power in self.powers]
        if self.size is None:
            exact.append(exact_count(self.column))
        noises = [draw(loss, draws, rng=rng).tolist() for loss in self.losses]
        return [[value + noise for noise in drawn] for value, drawn in zip(exact, noises, strict=True)]

    def _details(self, noisy: list[int]) -> dict[str, Any]:
        return {"size": self.size if self.size is not None else noisy[-1], "size_is_public": self.size is not None}

    def combined(self, noisy: list[int], widths: list[int]) -> tuple[float, float, float, float]:
        """The value, bounds that hold whenever every noisy number is within its own width, and half their distance."""
        middle = max(noisy[-1], 1) if self.size is None else self.size
        sizes = [middle] if self.size is not None else [max(middle - widths[-1], 1), middle + widths[-1]]
        averages = [Fraction(value, middle) for value in noisy[: len(self.powers)]]
        ranges = []
        for steps, width in zip(noisy[: len(self.powers)], widths, strict=False):
            ends = [Fraction(steps + side, size) for side in (-width, width) for size in sizes]
            ranges.append((min(ends), max(ends)))
        if self.powers == (1,):
            points = [self.middle + average for average in (averages[0], *ranges[0])]
            value, low, high = (self._inside(point * self.column.numbers.grid) for point in points)
        else:
            value, low, high = (self._spread(point) for point in _variances(averages, ranges))
        return value, low, high, (high - low) / 2

    def _inside(self, value: Fraction) -> float:
        """A mean can only lie within the bounds."""
        return float(min(max(value, self.column.numbers.low), self.column.numbers.high))

    def _spread(self, steps: Fraction) -> float:
        """A variance lies between zero and the square of half the width of the bounds."""
        domain = self.column.numbers
        return float(min(max(steps * domain.grid**2, Fraction(0)), ((domain.high - domain.low) / 2) ** 2))


def _variances(
    averages: list[Fraction], ranges: list[tuple[Fraction, Fraction]]
) -> tuple[Fraction, Fraction, Fraction]:
    """Second moment less squared mean: the value, and bounds by interval arithmetic."""
    squares = [end**2 for end in ranges[0]]
    least = Fraction(0) if ranges[0][0] <= 0 <= ranges[0][1] else min(squares)
    return averages[1] - averages[0] ** 2, ranges[1][0] - max(squares), ranges[1][1] - least
