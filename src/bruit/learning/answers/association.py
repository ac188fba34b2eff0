"""What a table of noised attribute and noised label says about the true label, cleared of what chance puts there."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bruit.channels import ONE, SymmetricChannel

SURELY = 5.4
"""The point of the Tracy–Widom law that chance passes about once in a hundred thousand tables: several are tried."""


@dataclass(frozen=True)
class Association:
    """How far noised attribute and true label are from independent.

    values     the shares of the noised attribute's values
    residual   P(value, label) - P(value) P(label), with the label unmixed: one row a value, one column a label
    certain    whether the noised table strays from independence beyond what chance does
    """

    values: NDArray[np.float64]
    residual: NDArray[np.float64]
    certain: bool


def associated(table: NDArray[np.int64], channel: SymmetricChannel) -> Association:
    """The association in a table of counts, one row a value of the attribute, one column a noised label.

    Under independence the residuals (n_ay - n_a n_y / n) / sqrt(n_a n_y / n) are nearly a random matrix of unit
    variance with a = values - 1 and b = labels - 1 degrees of freedom. Singular values below sqrt(a) + sqrt(b) are what
    chance makes; one above, s, is shrunk to sqrt((s^2 - a - b)^2 - 4ab) / s, which is the least squared error
    [Gavish & Donoho 2017]. A symmetric channel multiplies every deviation from independence by p - q, so dividing by
    it unmixes the label. `certain` compares the largest with its limit law [Johnstone 2001].
    """
    count = float(table.sum())
    values, labels = table.sum(axis=1) / max(count, 1.0), table.sum(axis=0) / max(count, 1.0)
    expected = np.outer(values, labels)
    scale = np.sqrt(np.maximum(expected, 1e-300))
    strayed = np.where(expected > 0, (table / max(count, 1.0) - expected) / scale, 0.0) * np.sqrt(count)
    left, singular, right = np.linalg.svd(strayed, full_matrices=False)
    freedom = max(int((values > 0).sum()) - 1, 1), max(int((labels > 0).sum()) - 1, 1)
    kept = shrunk(singular, *freedom)
    gap = (channel.keep - channel.other) / ONE
    residual = (left * kept) @ right * scale / np.sqrt(max(count, 1.0)) / gap
    return Association(values, residual, bool(singular[0] ** 2 > chance_limit(*freedom)))


def shrunk(singular: NDArray[np.float64], rows: int, columns: int) -> NDArray[np.float64]:
    """Singular values freed of the noise of a matrix of unit variance; zero for those that chance explains."""
    above = singular > np.sqrt(rows) + np.sqrt(columns)
    squares = np.maximum((singular**2 - rows - columns) ** 2 - 4 * rows * columns, 0.0)
    return np.where(above, np.sqrt(squares) / np.where(above, singular, 1.0), 0.0)


def chance_limit(rows: int, columns: int) -> float:
    """What the largest squared singular value of a random matrix hardly ever passes.

    mu + 5.4 sigma, mu = (sqrt(a - 1/2) + sqrt(b - 1/2))^2,
    sigma = sqrt(mu) (1 / sqrt(a - 1/2) + 1 / sqrt(b - 1/2))^(1/3)                      [Johnstone 2001; Ma 2012]
    """
    first, second = np.sqrt(rows - 0.5), np.sqrt(columns - 0.5)
    return float((first + second) ** 2 + SURELY * (first + second) * (1 / first + 1 / second) ** (1 / 3))


def unmixed_shares(labels: NDArray[np.int64], channel: SymmetricChannel) -> NDArray[np.float64]:
    """The shares of the true labels: unmixed counts [SPEC S0.2], moved to the nearest shares that can be.

    No share is taken for less than the deviation that the channel leaves it with, so that what noise hides is not held
    for impossible. Their order is that of the noised counts: the largest is the noised majority.
    """
    counts = np.bincount(labels, minlength=channel.size)
    count = max(int(counts.sum()), 1)
    p, q = channel.keep / ONE, channel.other / ONE
    shares = on_simplex((counts / count - q) / (p - q))
    least = min(np.sqrt(q * (1 - q) / count) / (p - q), 1 / channel.size)
    floored = np.maximum(shares, max(least, 1 / (count + channel.size)))
    return np.asarray(floored / floored.sum())


def on_simplex(point: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest point whose coordinates are shares: a common amount is taken off, negative ones become zero."""
    falling = np.sort(point)[::-1]
    levels = (np.cumsum(falling) - 1) / np.arange(1, len(point) + 1)
    return np.asarray(np.maximum(point - levels[np.flatnonzero(falling > levels)[-1]], 0.0))
