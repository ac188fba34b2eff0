"""Post-processing of estimated shares (clipping, simplex, empirical Bayes, likelihood), at no privacy cost.

Adjusted shares are biased; they are closer to the truth as a whole. The raw ones stay in a release's details.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from bruit.channels import Support
from bruit.errors import InvalidArgument

Adjustment = Literal["none", "clip", "simplex", "empirical-bayes", "likelihood"]

_SUPPORT_POINTS: Final = 200
_WIDTHS: Final = (1.0, 0.25, 0.0)


def adjusted(
    raw: NDArray[np.float64],
    people: int,
    counts: NDArray[np.int64],
    support: Support,
    adjust: Adjustment,
) -> NDArray[np.float64]:
    """The raw shares after the adjustment named by `adjust`."""
    if adjust == "none":
        return raw
    if adjust == "clip":
        return np.clip(raw, 0, 1)
    if adjust == "simplex":
        return onto_simplex(raw)
    if adjust == "empirical-bayes":
        return onto_simplex(posterior_means(raw, people, support))
    if adjust == "likelihood":
        return most_likely(counts, support)
    raise InvalidArgument(f"adjust={adjust!r}: give 'none', 'clip', 'simplex', 'empirical-bayes' or 'likelihood'")


def onto_simplex(raw: NDArray[np.float64]) -> NDArray[np.float64]:
    """Euclidean projection onto the probability simplex: max(raw - t, 0).             [Wang et al. 2020, NormSub]"""
    falling = np.sort(raw)[::-1]
    surplus = (np.cumsum(falling) - 1) / np.arange(1, len(raw) + 1)
    return np.asarray(np.maximum(raw - surplus[np.nonzero(falling >= surplus)[0][-1]], 0))


def posterior_means(raw: NDArray[np.float64], people: int, support: Support) -> NDArray[np.float64]:
    """Posterior mean of each share under a prior fitted to all shares (empirical Bayes).         [Robbins 1956]

    The law is a weight at zero and bumps over the logarithm of the share, fitted by expectation-maximisation. Bumps as
    wide as a factor e suit most laws; narrower ones, and at last single points [Kiefer & Wolfowitz 1956], are taken
    where they are more likely by half the logarithm of the number of shares, the price of one parameter
    [Schwarz 1978].
    """
    points, likelihood = _likelihood(raw, people, support)
    best, least = -np.inf, np.log(len(raw)) / 2
    for width in _WIDTHS:
        law = _fitted(likelihood, _bumps(points, width))
        fit = float(np.log(likelihood @ law).sum())
        if fit <= best + least:
            break
        best, weighted = fit, likelihood * law
    return np.asarray(weighted @ points / weighted.sum(axis=1))


def _likelihood(
    raw: NDArray[np.float64], people: int, support: Support
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Zero and a geometric grid of shares, and how likely each raw share is at each, up to a factor a row."""
    true, false = (np.atleast_1d(np.asarray(part, float))[:, None] for part in (support.true, support.false))
    each = Support(true, false)
    typical = float(np.sqrt(np.median(each.noise_variance(0.0, people) + 1e-300)))
    points = np.concatenate([[0.0], np.geomspace(typical / 30, max(float(raw.max()), typical), _SUPPORT_POINTS - 1)])
    variance = each.noise_variance(np.clip(points, 0, 1), people) + 1e-300
    distance = (raw[:, None] - points) ** 2 / variance + np.log(variance)
    return points, np.exp(-0.5 * (distance - distance.min(axis=1, keepdims=True)))


def _bumps(points: NDArray[np.float64], width: float) -> NDArray[np.float64]:
    """Laws over the points to be mixed: all at zero, or a normal bump of the given width over the logarithm."""
    if width == 0:
        return np.eye(len(points))
    places = np.log(points[1:])
    centres = np.arange(places[0], places[-1] + width, width)
    bumps = np.exp(-0.5 * ((places - centres[:, None]) / width) ** 2)
    laws = np.zeros((len(centres) + 1, len(points)))
    laws[0, 0], laws[1:, 1:] = 1, bumps / bumps.sum(axis=1, keepdims=True)
    return laws


def _fitted(likelihood: NDArray[np.float64], laws: NDArray[np.float64], steps: int = 100) -> NDArray[np.float64]:
    """The mixture of laws that makes the raw shares likely, by expectation-maximisation from equal weights."""
    each, weights = likelihood @ laws.T, np.full(len(laws), 1 / len(laws))
    for _ in range(steps):
        weights = weights * ((1 / (each @ weights)) @ each) / len(each)
    return np.asarray(weights @ laws)


def most_likely(counts: NDArray[np.int64], support: Support) -> NDArray[np.float64]:
    """The maximum-likelihood shares from the supporting counts, which iterated Bayesian updates converge to.

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
