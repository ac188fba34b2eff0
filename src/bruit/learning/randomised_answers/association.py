"""Estimates the association between noised attributes and the true label, with chance deviations removed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy import optimize, special

from bruit.channels import SymmetricChannel
from bruit.local.estimation.adjustment import onto_simplex

RARELY = 1e-5
"""How often chance alone may make a table look associated: a model tries several.

Of 28 million simulated tables without association (2 to 6 values, 2 or 7 labels, 200 to 50 000 people, shares from even
to 99 % for one answer) 9 in a million were called associated, of no kind more than 17 in a million.
"""

SURELY = 5.4
"""The point of the Tracy-Widom law that is passed with chance `RARELY`."""

MOST = 200
"""Up to how many rows and columns the exact sum keeps its digits."""


@dataclass(frozen=True)
class Association:
    """The estimated dependence between a noised attribute and the true label.

    values     the shares of the noised attribute's values
    residual   P(value, label) - P(value) P(label), with the label unmixed: one row a value, one column a label
    certain    whether the noised table strays from independence beyond what chance does
    """

    values: NDArray[np.float64]
    residual: NDArray[np.float64]
    certain: bool


def association_of(table: NDArray[np.int64], channel: SymmetricChannel) -> Association:
    """The association in a contingency table with a row per attribute value and a column per noised label.

    With expected counts e = n_a n_y / n, the residuals (n_ay - e) / sqrt(e) are under independence nearly a random
    matrix of unit variance with a = values - 1 and b = labels - 1 degrees of freedom. Singular values below
    sqrt(a) + sqrt(b) are what chance makes; one above, s, is shrunk to sqrt((s^2 - a - b)^2 - 4ab) / s, which is the
    least squared error [Gavish & Donoho 2017]. An e below one counts as one, so that a single person is no evidence. A
    symmetric channel multiplies every deviation from independence by p - q, so dividing by it unmixes the label.
    """
    count = max(float(table.sum()), 1.0)
    values, labels = table.sum(axis=1) / count, table.sum(axis=0) / count
    expected = count * np.outer(values, labels)
    scale = np.sqrt(np.maximum(expected, 1.0))
    left, singular, right = np.linalg.svd((table - expected) / scale, full_matrices=False)
    freedom = max(int((values > 0).sum()) - 1, 1), max(int((labels > 0).sum()) - 1, 1)
    residual = (left * shrunk(singular, *freedom)) @ right * scale / count / channel.support.gap
    return Association(values, residual, largest_deviance(table, expected) > chance_limit(*freedom))


def largest_deviance(table: NDArray[np.int64], expected: NDArray[np.float64]) -> float:
    """The largest squared singular value of the signed roots of the deviances.

    d = sign(n - e) sqrt(2 (n log(n / e) - n + e))

    Where many people are expected that is (n - e) / sqrt(e). Where few are, a Poisson count passes
    (n - e) / sqrt(e) = t far more often than a normal draw does, but d = t at most with chance exp(-t^2 / 2)
    [Chernoff 1952]: a rare value with a rare label is no alarm.
    """
    deviance = 2 * np.maximum(special.kl_div(table, expected), 0.0)
    return float(np.linalg.norm(np.sign(table - expected) * np.sqrt(deviance), 2) ** 2)


def shrunk(singular: NDArray[np.float64], rows: int, columns: int) -> NDArray[np.float64]:
    """Singular values with the noise of a unit-variance matrix removed; zero for those that chance explains."""
    above = singular > np.sqrt(rows) + np.sqrt(columns)
    squares = np.maximum((singular**2 - rows - columns) ** 2 - 4 * rows * columns, 0.0)
    return np.where(above, np.sqrt(squares) / np.where(above, singular, 1.0), 0.0)


@cache
def chance_limit(rows: int, columns: int) -> float:
    """The threshold that a standard normal matrix's largest squared singular value exceeds with chance `RARELY`."""
    if rows + columns > MOST:
        return limit_by_law(rows, columns)
    edge = np.sqrt(rows) + np.sqrt(columns)
    far = edge + np.sqrt(-2 * np.log(RARELY))  # passed with less than that chance [Davidson & Szarek 2001]
    return float(optimize.brentq(lambda square: chance_of_passing(rows, columns, square) - RARELY, edge**2, far**2))


def limit_by_law(rows: int, columns: int) -> float:
    """The threshold for a large matrix, exceeded with probability at most 1.25 `RARELY`.

    mu + 5.4 sigma, mu = (sqrt(a - 1/2) + sqrt(b - 1/2))^2,
    sigma = sqrt(mu) (1 / sqrt(a - 1/2) + 1 / sqrt(b - 1/2))^(1/3)                      [Johnstone 2001; Ma 2012]
    """
    first, second = np.sqrt(rows - 0.5), np.sqrt(columns - 0.5)
    return float((first + second) ** 2 + SURELY * (first + second) * (1 / first + 1 / second) ** (1 / 3))


def chance_of_passing(rows: int, columns: int, square: float) -> float:
    """The tail probability of the largest squared singular value of a standard normal matrix.

    Half the expected Euler characteristic of the unit vectors u, v with u' Z v > t = sqrt(square), as (-u, -v) comes
    with (u, v); that counts one where one singular value is above t, and two hardly ever are.
    1/2 sum over j of V_j rho_j(t), V the volumes of sphere(a) x sphere(b), rho_0(t) = P(N(0, 1) > t),
    rho_j(t) = He_(j-1)(t) exp(-t^2 / 2) / sqrt(2 pi)                      [Kuriki & Takemura 2001; Adler & Taylor 2007]
    """
    volumes = np.convolve(_sphere(rows), _sphere(columns))
    hermite = special.eval_hermitenorm(np.arange(len(volumes) - 1), np.sqrt(square))
    densities = np.concatenate([[special.ndtr(-np.sqrt(square))], hermite * np.exp(-square / 2) / np.sqrt(2 * np.pi)])
    return float(volumes @ densities / 2)


def _sphere(size: int) -> NDArray[np.float64]:
    """The intrinsic volumes of the unit sphere in `size` dimensions, the one of dimension j over (2 pi)^(j/2).

    2 binomial(k - 1, j) Gamma((k - j) / 2) / (2^(j/2) Gamma(k / 2)) where k - 1 - j is even, else 0
    """
    j = np.arange(size)
    logs = special.gammaln((size - j) / 2) - special.gammaln(size / 2) - j / 2 * np.log(2)
    return np.where((size - 1 - j) % 2 == 0, 2 * special.binom(size - 1, j) * np.exp(logs), 0.0)


def unmix_shares(places: NDArray[np.int64], channel: SymmetricChannel) -> NDArray[np.float64]:
    """The estimated shares of true answers: debiased counts, projected onto the probability simplex.

    [docs/spec.md S0.2]

    No share is taken for less than the deviation that the channel leaves it with, so that what noise hides is not held
    for impossible. Their order is that of the noised counts: the largest is the noised majority.
    """
    counts = np.bincount(places, minlength=channel.size)
    count = max(int(counts.sum()), 1)
    shares = onto_simplex(channel.support.unmix(counts / count))
    least = min(float(np.sqrt(channel.support.noise_variance(0, count))), 1 / channel.size)
    floored = np.maximum(shares, max(least, 1 / (count + channel.size)))
    return np.asarray(floored / floored.sum())
