"""The Gram matrix of scaled columns as exact integers, noised once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bruit.channels import VectorNoise
from bruit.learning.linear_models._design import STEPS
from bruit.learning.linear_models._sparse_noise import SparseNoise

Floats = NDArray[np.float64]
BLOCK = 1 << 16


@dataclass(frozen=True)
class Products:
    """The noisy Gram matrix Σ z_i z_j over rows, its noise deviation, and a mask of the noisy entries.

    `deviation` is that of the noise of one entry, in units of a product of two ones.
    """

    matrix: Floats
    deviation: float
    noisy: NDArray[np.bool_]

    def of(self, weights: Floats) -> Floats:
        """The covariance of (noise matrix) @ weights, for symmetric noise with independent entries.

        cov_jk = deviation^2 w_j w_k for j != k, and deviation^2 sum_k w_k^2 on the diagonal, over noisy entries
        """
        cross = np.where(self.noisy, np.outer(weights, weights), 0.0)
        np.fill_diagonal(cross, self.noisy @ weights**2)
        return np.asarray(self.deviation**2 * cross)


def product_entries(columns: int, *, public_size: bool) -> int:
    """The number of distinct Gram matrix entries to pay for; the row count is not among them where it is public."""
    return columns * (columns + 1) // 2 - public_size


def with_ones(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows with a first column of ones, scaled to STEPS."""
    return np.column_stack([np.full(len(rows), STEPS, np.int64), rows])


def sum_of_products(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """The Gram matrix Σ z_i z_j over integer rows, exactly."""
    total = np.zeros((rows.shape[1],) * 2, np.int64)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK].astype(np.float64)
        total += (block.T @ block).astype(np.int64)  # sums of 2^16 products of 2^20 are exact in 53 bits
    return total


def noisy_products(
    rows: NDArray[np.int64], noise: VectorNoise | SparseNoise, *, size: int | None, rng: np.random.Generator
) -> Products:
    """The noisy Gram matrix; column 0 is ones, so entry (0, 0) is the row count, left exact where public."""
    exact = sum_of_products(rows)
    places = np.triu_indices(len(exact))
    first = int(size is not None)
    noisy_sums = exact[places]
    noisy_sums[first:] += noise.draw(1, rng=rng)[0]  # whole numbers until the noise is in
    upper = noisy_sums.astype(np.float64)
    noisy = np.ones_like(exact, bool)
    if size is not None:
        upper[0], noisy[0, 0] = size * STEPS**2, False
    matrix = np.zeros(exact.shape)
    matrix[places] = upper
    matrix = matrix + np.triu(matrix, 1).T
    return Products(matrix / STEPS**2, noise.deviation / STEPS**2, noisy)
