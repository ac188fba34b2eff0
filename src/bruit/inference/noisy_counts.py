"""Noisy counts of people by cell, from whichever source, with the law of their noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bruit.core.guarantee import Guarantee
from bruit.errors import InvalidArgument
from bruit.inference.noise_laws import Floats, NoiseLaw, ReportNoise


@dataclass(frozen=True)
class Axis:
    """One column of a table of counts: a label for each cell and, for numbers, the value of each."""

    name: str
    labels: tuple[str, ...]
    values: Floats | None = None

    @property
    def numbers(self) -> Floats:
        """The value of each cell; refused for categories that have none."""
        if self.values is None:
            raise InvalidArgument(
                f"{self.name!r} holds categories: give a column of numbers, or the number that each category stands "
                "for with cells(..., values={name: [...]})"
            )
        return self.values

    def place(self, label: str) -> int:
        """Which cell has the label."""
        if label not in self.labels:
            raise InvalidArgument(f"{self.name!r} has no cell {label!r}; it has {', '.join(self.labels)}")
        return self.labels.index(label)


@dataclass(frozen=True)
class Block:
    """Counts that share one law of noise: a whole table, or one of several groups that were asked apart."""

    values: Floats
    law: NoiseLaw


@dataclass(frozen=True)
class Cells:
    """Unbiased noisy counts by cell; everybody counts once, and people are a random sample.

    `blocks` lie one after the other in the order of the flattened table: one for a table that was counted at once, one
    a row for groups that were asked apart.
    """

    axes: tuple[Axis, ...]
    blocks: tuple[Block, ...]
    guarantees: tuple[Guarantee, ...] = ()

    @property
    def shape(self) -> tuple[int, ...]:
        """How many cells each axis has."""
        return tuple(len(axis.labels) for axis in self.axes)

    @property
    def values(self) -> Floats:
        """The noisy counts, one dimension an axis."""
        return np.concatenate([block.values.reshape(-1) for block in self.blocks]).reshape(self.shape)

    @property
    def people(self) -> float:
        """The estimated number of people."""
        return float(self.values.sum())

    def covariance(self) -> Floats:
        """The covariance of the noise of all cells, flattened."""
        found = np.zeros((self.values.size, self.values.size))
        first = 0
        for block in self.blocks:
            last = first + block.values.size
            found[first:last, first:last] = block.law.covariance(block.values.reshape(-1))
            first = last
        return found

    def normal_part(self, weights: Floats) -> Floats:
        """The variance of the normal part of the noise of weighted sums: rows of weights, flattened."""
        parts = zip(self.blocks, self._split(weights), strict=True)
        return np.asarray(sum(block.law.normal_part(part, block.values.reshape(-1)) for block, part in parts))

    def log_characteristic(self, frequencies: Floats) -> Floats:
        """The logarithm of the characteristic function of the rest of the noise of weighted sums."""
        parts = zip(self.blocks, self._split(frequencies), strict=True)
        return np.asarray(sum(block.law.log_characteristic(part) for block, part in parts))

    def noise_variance(self, weights: Floats) -> Floats:
        """The noise variance of each weighted sum of the cells."""
        return np.asarray(np.einsum("...i,ij,...j->...", weights, self.covariance(), weights))

    def draw(self, means: Floats, size: int, rng: np.random.Generator) -> Floats:
        """Noisy tables of so many other samples of people whose counts have these means."""
        drawn = [
            block.law.draw(part, size, rng)
            for block, part in zip(self.blocks, self._split(means.reshape(-1)), strict=True)
        ]
        return np.concatenate(drawn, axis=-1).reshape(size, *self.shape)

    def group(self, place: int) -> Cells:
        """The cells of one value of the first axis, as a table of the others."""
        rest = self.axes[1:] or (Axis("people", ("all",)),)
        if len(self.blocks) > 1:
            return Cells(rest, (self.blocks[place],), self.guarantees)
        (block,) = self.blocks
        if isinstance(block.law, ReportNoise):
            raise InvalidArgument(
                "one randomised answer holds group and value together: for a group alone, survey each group by itself"
            )
        return Cells(rest, (Block(self.values[place], block.law),), self.guarantees)

    def require_axes(self, number: int, what: str) -> None:
        """Refuses a table of more or fewer columns."""
        if len(self.axes) != number:
            raise InvalidArgument(
                f"{what} needs counts by {number} column{'s' * (number > 1)}, not by {len(self.axes)}: "
                "give a histogram of exactly these columns"
            )

    def _split(self, flat: Floats) -> list[Floats]:
        return np.split(flat, np.cumsum([block.values.size for block in self.blocks])[:-1], axis=-1)
