"""The three totals that a mean needs: the number of people, the sum of their values and the sum of the squares."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bruit.channels import Support
from bruit.core.guarantee import Guarantee
from bruit.errors import InvalidArgument
from bruit.inference.noise_laws import Floats, ReportNoise
from bruit.inference.noisy_counts import Block, Cells

CUBES = 3
"""Which row of the matrix holds the sum of cubes, where there is one."""


@dataclass(frozen=True)
class Totals:
    """Number, sum and sum of squares of values from `low` to `high`, each a linear combination of noisy counts.

    A table of counts has the sum of cubes too, which says how skew the values are.
    total_k = matrix[k] . counts + offsets[k]. With `two_valued` every value is one of the bounds, and so the variance
    at a mean m is (m - low)(high - m).
    """

    block: Block
    matrix: Floats
    offsets: Floats
    low: float
    high: float
    two_valued: bool = False
    guarantees: tuple[Guarantee, ...] = ()

    @property
    def people(self) -> float:
        """The estimated number of people."""
        return float(self.matrix[0] @ self.block.values + self.offsets[0])

    @property
    def total(self) -> float:
        """The estimated sum."""
        return float(self.matrix[1] @ self.block.values + self.offsets[1])

    @property
    def mean(self) -> float:
        """Sum over number, between the bounds; their middle where the number drowns in its noise."""
        if not self.is_counted:
            return (self.low + self.high) / 2
        return float(np.clip(self.total / self.people, self.low, self.high))

    @property
    def is_counted(self) -> bool:
        """Whether the estimated number of people exceeds one, and half a standard deviation of its noise."""
        weights = self.matrix[0]
        noise = float(weights @ self.block.law.covariance(self.block.values) @ weights)
        return bool(self.people > max(noise**0.5 / 2, 1.0))

    @property
    def skewness(self) -> float:
        """How skew sum - mean * number is by chance: its third moment over its variance, noise included, to the 3/2.

        0 for two values, whose score interval knows of it, and where the sum of cubes is not known.
        """
        if self.two_valued or len(self.matrix) <= CUBES:
            return 0.0
        number, total, squares, cubes = self.matrix @ self.block.values + self.offsets
        at = self.mean
        third = cubes - 3 * at * squares + 3 * at**2 * total - at**3 * number
        variance = self.normal(np.array([at])) + self.heavy(np.array([at]))
        return float(third / max(float(variance[0]), 1e-300) ** 1.5)

    def weights(self, means: Floats) -> Floats:
        """The weights of the counts in sum - mean * number, one row a mean: zero on average at the true mean."""
        return np.asarray(self.matrix[1] - means[:, None] * self.matrix[0])

    def sampling(self, means: Floats) -> Floats:
        """The variance that the choice of people gives sum - mean * number.

        It is the sum of squared distances, and noise of the sum is noise of these too: of a sum that is off by s, with
        noise of variance N that shares the covariance C with the squares, s C / (variance + N) is expected in the
        squares and taken out. What remains of the equation is quadratic in the variance.
        """
        number, total = self.people, self.total
        if self.two_valued:
            return np.asarray(np.maximum(number, 0) * (means - self.low) * (self.high - means))
        at = means[:, None]
        squares = self.matrix[2] - 2 * at * self.matrix[1] + at**2 * self.matrix[0]
        found = squares @ self.block.values + self.offsets[2] - 2 * means * self.offsets[1] + means**2 * self.offsets[0]
        weights = self.weights(means)
        noise, shared = self._covariance(weights, weights), self._covariance(squares, weights)
        root = np.sqrt(np.maximum((found + noise) ** 2 - 4 * shared * (total - means * number), 0))
        return np.asarray(np.maximum((found - noise + root) / 2, 0))

    def _covariance(self, first: Floats, second: Floats) -> Floats:
        """The covariance that noise gives two weighted sums of the counts, row by row."""
        return np.asarray(np.einsum("...i,ij,...j->...", first, self.block.law.covariance(self.block.values), second))

    def normal(self, means: Floats) -> Floats:
        """The variance of everything normal in sum - mean * number."""
        weights, law = self.weights(means), self.block.law
        if self.two_valued and isinstance(law, ReportNoise):
            span = self.high - self.low
            held = law.people * (means - self.low) / span
            noise = self._reported(law, held) * span**2
        else:
            noise = law.normal_part(weights, self.block.values)
        return np.asarray(self.sampling(means) + noise)

    def _reported(self, law: ReportNoise, held: Floats) -> Floats:
        """The variance of the estimated number of people who hold the one answer, if so many do."""
        place = int(np.argmax(self.matrix[1]))
        true, false = (
            np.broadcast_to(part, self.block.values.shape)[place] for part in (law.support.true, law.support.false)
        )
        return Support(float(true), float(false)).counted_variance(held, out_of=law.people)

    def heavy(self, means: Floats) -> Floats:
        """The variance of the noise that is not normal."""
        weights = self.weights(means)
        whole = self._covariance(weights, weights)
        return np.asarray(np.maximum(whole - self.block.law.normal_part(weights, self.block.values), 0))


def totals_of(cells: Cells, values: Floats, *, two_valued: bool = False) -> Totals:
    """The totals of a column whose cells stand for these values; the number of respondents of a survey is known."""
    (block,) = cells.blocks
    flat, law = block.values.reshape(-1), block.law
    matrix, offsets = np.stack([np.ones(flat.size), values, values**2, values**3]), np.zeros(4)
    if isinstance(law, ReportNoise):
        matrix[0], offsets[0] = 0.0, law.people
    if two_valued and isinstance(law, ReportNoise) and int(values.sum()) != 1:
        raise InvalidArgument("from randomised answers a share is that of one category: name one")
    low, high = float(values.min()), float(values.max())
    return Totals(Block(flat, law), matrix, offsets, low, high, two_valued, cells.guarantees)
