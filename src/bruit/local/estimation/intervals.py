"""Confidence intervals for the share of supporting reports, converted to intervals for the share of respondents.

Every interval is made on the noised share s, where the law is binomial, then unmixed: f = (s - q) / (p - q). An
interval of s that covers makes an interval of f that covers, whatever the noise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from bruit.channels import Support
from bruit.core.intervals import Covers
from bruit.errors import InvalidArgument
from bruit.local.estimation.binomial import Bounds, clopper_pearson, mid_p
from bruit.local.forecasts import two_sided

Method = Literal["exact", "wilson", "mid-p"]

_SPREAD: Final = 5.0  # the variance from which a number of supporting reports is normal enough


def share_interval(
    counts: NDArray[np.int64], people: int, support: Support, *, confidence: float, method: Method, covers: Covers
) -> Bounds:
    """An interval of the respondents' share for each category, not clipped."""
    alpha, z = 1 - confidence, two_sided(confidence)
    if covers not in (Covers.POPULATION, Covers.TABLE):
        raise InvalidArgument(f"covers={covers!r}: a share is that of the population or of this table")
    if method == "wilson":
        return _wilson(counts, people, support, z, covers)
    makers: dict[str, Callable[[NDArray[np.int64], int, float], Bounds]] = {"exact": clopper_pearson, "mid-p": mid_p}
    if method not in makers:
        raise InvalidArgument(f"method={method!r}: give 'exact', 'wilson' or 'mid-p'")
    return _ordered(*map(support.unmix, makers[method](counts, people, alpha)))


def _wilson(counts: NDArray[np.int64], people: int, support: Support, z: float, covers: Covers) -> Bounds:
    """The score interval; for a table that of two binomial laws, where their noise is spread enough to be normal."""
    seen = counts / people
    low, high = _population_score(seen, people, support, z)
    if covers is Covers.POPULATION:
        return low, high
    noise = support.noise_variance(np.clip(support.unmix(seen), 0, 1), people) * support.gap**2 * people**2
    own_low, own_high = _table_score(seen, people, support, z)
    return np.where(noise < _SPREAD, low, own_low), np.where(noise < _SPREAD, high, own_high)


def _population_score(seen: NDArray[np.float64], people: int, support: Support, z: float) -> Bounds:
    """The chances s within z of their own deviations from the seen one, (seen - s)^2 <= z^2 s (1 - s) / n, unmixed.

    [Wilson 1927]
    """
    scale = z * z / people
    centre = (seen + scale / 2) / (1 + scale)
    spread = np.sqrt(scale * seen * (1 - seen) + scale**2 / 4) / (1 + scale)
    return _ordered(support.unmix(centre - spread), support.unmix(centre + spread))


def _table_score(seen: NDArray[np.float64], people: int, support: Support, z: float) -> Bounds:
    """The same with the variance of two binomial laws, v(f) = f p (1 - p) + (1 - f) q (1 - q): quadratic in f too."""
    p, q, g = support.true, support.false, support.gap
    scale = z * z / people
    offset, slope = q * (1 - q), p * (1 - p) - q * (1 - q)
    raw, half = (seen - q) / g, scale * slope / (2 * g * g)
    inside = (raw + half) ** 2 - raw**2 + scale * offset / (g * g)
    # at a share near the edge no f may be that close: the nearest f then stands alone
    spread = np.sqrt(np.maximum(inside, 0))
    return _ordered(raw + half - spread, raw + half + spread)


def _ordered(one: NDArray[np.float64], other: NDArray[np.float64]) -> Bounds:
    return np.minimum(one, other), np.maximum(one, other)
