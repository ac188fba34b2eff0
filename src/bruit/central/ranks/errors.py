"""The rank error to expect of private quantiles, from public numbers alone.

The figures are those of records without ties whose gaps are alike near each quantile, in a table far larger than the
error: there the mechanisms add sums of Laplace noise to the ranks. Few, tied or clustered records change them.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from math import ceil

import numpy as np
from numpy.typing import NDArray

from bruit.central.ranks.mechanisms.exponential import rank_sensitivity
from bruit.central.ranks.mechanisms.recursive import levels
from bruit.central.ranks.probabilities import Probabilities, as_probabilities
from bruit.central.ranks.records import Person
from bruit.core.neighbours import REPLACE_ONE, Neighbours
from bruit.core.numbers import Exact, exactly, positive
from bruit.errors import InvalidArgument

POINTS, WEIGHTS = np.polynomial.legendre.leggauss(256)
REACH, SPACING = 120.0, 0.03

FARTHEST = Fraction(10**200)
"""The largest epsilon, and one over the least, whose rank error is told."""


def expected_rank_error(
    probabilities: Probabilities,
    *,
    epsilon: Exact,
    neighbours: Neighbours,
    rows: int = 1,
    public_size: bool = False,
    method: str | None = None,
) -> NDArray[np.float64]:
    """The mean absolute rank error of each quantile, in records; `public_size` says that no row can be dropped."""
    wanted, price = as_probabilities(probabilities), positive(epsilon, "epsilon")
    if not 1 / FARTHEST <= price <= FARTHEST:
        raise InvalidArgument(f"epsilon={epsilon!s:.60}: no rank error can be told; give a number nearer to one")
    person = Person(rows, neighbours is REPLACE_ONE, neighbours is REPLACE_ONE and public_size)
    chosen = method or ("exponential" if len(wanted) == 1 else "joint")
    return rank_error(wanted, price, person, chosen)


def epsilon_for_rank_error(
    error: Exact,
    probabilities: Probabilities,
    *,
    neighbours: Neighbours,
    rows: int = 1,
    public_size: bool = False,
    method: str | None = None,
) -> Fraction:
    """The epsilon, in thousandths, at which the expected rank error of every quantile is at most `error` records."""
    each = expected_rank_error(
        probabilities, epsilon=1, neighbours=neighbours, rows=rows, public_size=public_size, method=method
    )
    exact = float(each.max()) / float(positive(exactly(error, "error"), "error"))
    return Fraction(ceil(exact * 1000), 1000)


def rank_error(
    probabilities: Sequence[Fraction], epsilon: Fraction, person: Person, method: str
) -> NDArray[np.float64]:
    """The expected rank error of each quantile for one method, in records."""
    number = len(probabilities)
    if method == "joint":
        unit = _bridge(number) if person.fixed_size else _free(tuple(probabilities))
        return unit * (2 * person.moves / float(epsilon))
    if method == "recursive":
        return _recursive(probabilities, epsilon, person)
    if method in ("exponential", "inverse-sensitivity"):
        scaled = [Fraction(rank_sensitivity(p, person), p.denominator) for p in probabilities]
        return np.array([float(2 * number * each / epsilon) for each in scaled])
    raise InvalidArgument(
        f"method={method!r} has no rank error that holds for all tables; choose among joint, exponential, recursive, "
        "inverse-sensitivity, or see central.above_threshold_accuracy for the histogram method"
    )


def _recursive(probabilities: Sequence[Fraction], epsilon: Fraction, person: Person) -> NDArray[np.float64]:
    """Every quantile lies between two earlier ones, whose errors it shares by its distance from each."""
    number = len(probabilities)
    each, nodes = epsilon / levels(number), np.zeros((number + 2, number))
    points = (Fraction(0), *probabilities, Fraction(1))

    def fill(low: int, high: int) -> None:
        if high - low < 2:
            return
        middle = (low + 1 + high) // 2 if low == 0 and high == number + 1 else (low + high + 1) // 2
        aim = (points[middle] - points[low]) / (points[high] - points[low])
        root = high - low == number + 1
        alone = Person(person.rows, person.exchanged and root, fixed_size=False)
        factor = 2 if person.exchanged and not root else 1
        scale = factor * Fraction(rank_sensitivity(aim, alone), aim.denominator) * 2 / each
        nodes[middle] = float(1 - aim) * nodes[low] + float(aim) * nodes[high]
        nodes[middle, middle - 1] = float(scale)
        fill(low, middle)
        fill(middle, high)

    fill(0, number + 1)
    return np.array([_mean_absolute(row) for row in nodes[1:-1]])


@lru_cache(maxsize=64)
def _free(probabilities: tuple[Fraction, ...]) -> NDArray[np.float64]:
    """The mean absolute rank error of each quantile where the table size is drawn too: E_j - p_j E_(m+1)."""
    number = len(probabilities)
    scales = [[1 - p] * (j + 1) + [p] * (number - j) for j, p in enumerate(probabilities)]
    return np.array([_mean_absolute(np.array(row, np.float64)) for row in scales])


def _mean_absolute(scales: NDArray[np.float64]) -> float:
    """E|X| = 2/pi times the integral of (1 - phi(t)) / t^2, for a sum of Laplace numbers of these scales."""
    scales = scales[scales > 0]
    largest = float(scales.max())
    share = (POINTS + 1) / 2
    t = share / (1 - share)
    phi = np.prod(1 / (1 + np.multiply.outer(scales / largest, t) ** 2), axis=0)
    integrand = (1 - phi) / t**2 / (1 - share) ** 2
    return largest * 2 / np.pi * float(WEIGHTS @ integrand) / 2


@lru_cache(maxsize=64)
def _bridge(number: int) -> NDArray[np.float64]:
    """The mean absolute rank error of each quantile at a public size: Laplace errors that sum to zero."""
    x = np.arange(-REACH, REACH + SPACING / 2, SPACING)
    frequency = np.fft.fftfreq(len(x), SPACING) * 2 * np.pi
    sums = [np.fft.fftshift(np.fft.ifft((1 + frequency**2) ** -float(j)).real) for j in range(1, number + 1)]
    errors = []
    for j in range(number):
        density = np.maximum(sums[j], 0) * np.maximum(sums[number - 1 - j], 0)
        errors.append(float(np.abs(x) @ density / density.sum()))
    return np.array(errors)
