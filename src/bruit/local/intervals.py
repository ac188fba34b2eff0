"""Intervals for the share of supporting reports, and from there for the share of respondents.

Every interval is made on the noised share s, where the law is binomial, then unmixed: f = (s - q) / (p - q). An
interval of s that covers makes an interval of f that covers, whatever the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.errors import InvalidArgument
from bruit.local.planning import two_sided
from bruit.local.support import Support
from bruit.privacy import Covers

Method = Literal["exact", "wilson", "mid-p"]
Bounds = tuple[NDArray[np.float64], NDArray[np.float64]]


def share_interval(
    counts: NDArray[np.int64], answers: int, support: Support, *, confidence: float, method: Method, covers: Covers
) -> Bounds:
    """An interval of the respondents' share for each category, not clipped."""
    alpha, z = 1 - confidence, two_sided(confidence)
    if covers not in (Covers.POPULATION, Covers.TABLE):
        raise InvalidArgument(f"covers={covers!r}: a share is that of the population or of this table")
    if method == "wilson":
        return _score(counts / answers, answers, support, z, covers)
    makers: dict[str, Callable[[NDArray[np.int64], int, float], Bounds]] = {"exact": clopper_pearson, "mid-p": mid_p}
    if method not in makers:
        raise InvalidArgument(f"method={method!r}: give 'exact', 'wilson' or 'mid-p'")
    return _ordered(*map(support.unmix, makers[method](counts, answers, alpha)))


def clopper_pearson(counts: NDArray[np.int64], answers: int, alpha: float) -> Bounds:
    """The exact interval of a binomial chance: each tail holds at most alpha / 2.     [Clopper & Pearson 1934]

    It also covers the mean chance of reports whose chances differ, as those of one table do: their number is less
    spread than the binomial one of the same mean, on both sides of the mean.           [Hoeffding 1956, Theorem 5]
    """
    c = np.asarray(counts, float)
    low = np.where(c > 0, special.betaincinv(np.maximum(c, 1), answers - c + 1, alpha / 2), 0.0)
    high = np.where(c < answers, special.betaincinv(c + 1, np.maximum(answers - c, 1), 1 - alpha / 2), 1.0)
    return low, high


def mid_p(counts: NDArray[np.int64], answers: int, alpha: float) -> Bounds:
    """The interval whose tails count half of the observed count: P(C > c) + P(C = c) / 2 = alpha / 2 at its low end."""
    c = np.asarray(counts, float)

    def above(chance: NDArray[np.float64]) -> NDArray[np.float64]:
        at_least = np.where(c > 0, special.betainc(np.maximum(c, 1), answers - c + 1, chance), 1.0)
        more = np.where(c < answers, special.betainc(c + 1, np.maximum(answers - c, 1), chance), 0.0)
        return (at_least + more) / 2

    low = np.where(c > 0, _root(above, alpha / 2, c.shape), 0.0)
    high = np.where(c < answers, _root(above, 1 - alpha / 2, c.shape), 1.0)
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


def _score(seen: NDArray[np.float64], answers: int, support: Support, z: float, covers: Covers) -> Bounds:
    """The shares f whose distance from the seen one is at most z deviations of their own: (s - s(f))^2 <= z^2 v(f) / n.

    For a population v = s (1 - s) [Wilson 1927]; for this table v = f p (1 - p) + (1 - f) q (1 - q), two binomial laws.
    Both are quadratic in f.
    """
    p, q, g = support.true, support.false, support.gap
    scale = z * z / answers
    if covers is Covers.POPULATION:
        centre, spread = (
            (seen + scale / 2) / (1 + scale),
            np.sqrt(scale * seen * (1 - seen) + scale**2 / 4) / (1 + scale),
        )
        return _ordered(support.unmix(centre - spread), support.unmix(centre + spread))
    offset, slope = q * (1 - q), p * (1 - p) - q * (1 - q)
    raw, half = (seen - q) / g, scale * slope / (2 * g * g)
    inside = (raw + half) ** 2 - raw**2 + scale * offset / (g * g)
    # at a share near the edge no f may be that close: the nearest f then stands alone
    spread = np.sqrt(np.maximum(inside, 0))
    return _ordered(raw + half - spread, raw + half + spread)


def _ordered(one: NDArray[np.float64], other: NDArray[np.float64]) -> Bounds:
    return np.minimum(one, other), np.maximum(one, other)
