"""Shares brought back among the possible ones, after all noise: the privacy of a release does not change.

Adjusted shares are biased; they are closer to the truth as a whole. The raw ones stay in a release's details.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument
from bruit.local.support import Support

Adjustment = Literal["none", "clip", "simplex", "empirical-bayes", "likelihood"]

_SUPPORT_POINTS: Final = 200


def adjusted(
    raw: NDArray[np.float64],
    deviation: NDArray[np.float64],
    counts: NDArray[np.int64],
    support: Support,
    adjust: Adjustment,
) -> NDArray[np.float64]:
    """The raw shares after the adjustment asked for by name."""
    if adjust == "none":
        return raw
    if adjust == "clip":
        return np.clip(raw, 0, 1)
    if adjust == "simplex":
        return onto_simplex(raw)
    if adjust == "empirical-bayes":
        return onto_simplex(posterior_means(raw, deviation))
    if adjust == "likelihood":
        return most_likely(counts, support)
    raise InvalidArgument(f"adjust={adjust!r}: give 'none', 'clip', 'simplex', 'empirical-bayes' or 'likelihood'")


def onto_simplex(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """The nearest point with no negative share and sum one: max(raw - t, 0).          [Wang et al. 2020, NormSub]"""
    falling = np.sort(raw)[::-1]
    surplus = (np.cumsum(falling) - 1) / np.arange(1, len(raw) + 1)
    return np.asarray(np.maximum(raw - surplus[np.nonzero(falling > surplus)[0][-1]], 0))


def posterior_means(
    raw: NDArray[np.float64], deviation: NDArray[np.float64], *, steps: int = 100
) -> NDArray[np.float64]:
    """Each share's mean given its raw value, under the law of shares that fits them all best.

    The law lives on zero and a geometric grid and is found by expectation-maximisation.  [Kiefer & Wolfowitz 1956]
    """
    scale = np.broadcast_to(np.maximum(deviation, 1e-300), raw.shape)
    typical = float(np.median(scale))
    points = np.concatenate([[0.0], np.geomspace(typical / 30, max(float(raw.max()), typical), _SUPPORT_POINTS - 1)])
    distance = ((raw[:, None] - points) / scale[:, None]) ** 2
    likelihood = np.exp(-0.5 * (distance - distance.min(axis=1, keepdims=True)))
    law = np.full(len(points), 1 / len(points))
    for _ in range(steps):
        law = law * (likelihood / (likelihood @ law)[:, None]).mean(axis=0)
    weighted = likelihood * law
    return np.asarray(weighted @ points / weighted.sum(axis=1))


def most_likely(counts: NDArray[np.int64], support: Support) -> NDArray[np.float64]:
    """The shares that make the supporting counts most likely: where iterated Bayesian updates would come to rest.

    The updates f_v <- f_v sum over u of c_u W[v, u] / (f W)_u climb to the maximum of sum c_u log(q + (p - q) f_u), far
    too slowly to be waited for [Agrawal & Aggarwal 2001]. The sum is over separate shares, so the maximum is known:
    f_u = max(0, c_u / m - q / (p - q)), m such that they sum to one. It is the likelihood itself for a symmetric
    channel, and that of the single categories, multiplied, for the other protocols.
    """
    true, false = (np.broadcast_to(np.asarray(part, float), counts.shape) for part in (support.true, support.false))
    seen = counts / max(1, counts.sum())
    if (true < false).any():  # a report then speaks against its category: count the others
        seen, true, false = 1 - seen, 1 - true, 1 - false
    floor = false / (true - false)
    with np.errstate(divide="ignore", invalid="ignore"):
        order = np.argsort(-np.where(floor > 0, seen / floor, np.inf), kind="stable")
    level = np.cumsum(seen[order]) / (1 + np.cumsum(floor[order]))
    active = np.nonzero(seen[order] > level * floor[order])[0]
    if len(active) == 0:
        return np.full(len(counts), 1 / len(counts))
    return np.asarray(np.maximum(seen / level[active[-1]] - floor, 0))
