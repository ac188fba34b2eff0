"""Confidence intervals of a binomial probability."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import special

Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]


def clopper_pearson(counts: ArrayLike, people: int, alpha: float) -> Bounds:
    """The exact interval of a binomial chance: each tail holds at most alpha / 2.     [Clopper & Pearson 1934]

    It also covers the mean chance m of reports whose chances differ, as those of one table do. A number of ones c with
    P(Bin >= c) <= alpha / 2 < 1/4 is at least n m + 1, and then that tail is no larger for unequal chances [Hoeffding
    1956, Theorem 5]; or c = 1, where the tail is at most n m <= -ln(1 - alpha / 2) <= alpha and no zero is too few.
    """
    c = np.asarray(counts, float)
    low = np.where(c > 0, special.betaincinv(np.maximum(c, 1), people - c + 1, alpha / 2), 0.0)
    high = np.where(c < people, special.betaincinv(c + 1, np.maximum(people - c, 1), 1 - alpha / 2), 1.0)
    return low, high


def mid_p(counts: ArrayLike, people: int, alpha: float) -> Bounds:
    """The mid-p interval, whose tails count P(C = c) by half: P(C > c) + P(C = c) / 2 = alpha / 2 at its low end."""
    c = np.asarray(counts, float)

    def above(chance: NDArray[np.float64]) -> NDArray[np.float64]:
        at_least = np.where(c > 0, special.betainc(np.maximum(c, 1), people - c + 1, chance), 1.0)
        more = np.where(c < people, special.betainc(c + 1, np.maximum(people - c, 1), chance), 0.0)
        return (at_least + more) / 2

    low = np.where(c > 0, _root(above, alpha / 2, c.shape), 0.0)
    high = np.where(c < people, _root(above, 1 - alpha / 2, c.shape), 1.0)
    return low, high


def _root(
    rising: Callable[[NDArray[np.float64]], NDArray[np.float64]], level: float, shape: tuple[int, ...]
) -> NDArray[np.float64]:
    low, high = np.zeros(shape), np.ones(shape)
    for _ in range(60):
        middle = (low + high) / 2
        below = rising(middle) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2
