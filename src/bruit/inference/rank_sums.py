"""The test of several groups that was paid for by itself: noisy rank sums, as `central.rank_sums` releases them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from zlib import crc32

import numpy as np

from bruit.channels import IntegerNoise, ratio_of
from bruit.core.losses import DiscreteLaplace, loss_from_json
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.inference.noise_laws import Floats
from bruit.inference.results import Evidence
from bruit.tables import domain_from_json

DRAWS: Final = 2000
"""Samples of alike groups that are drawn; the tail of the noise is exact for each."""

FEW: Final = 300
"""Up to so many people ranks are shuffled; sums of more are normal."""

UNSURE: Final = 0.1
"""The part of a level that is kept for the chance that more people are there than a noisy number is taken for."""

LEVELS: Final = (1.0, 0.2, 0.05, 0.01, 1e-3, 1e-4, 1e-6)
"""The levels at which a noisy number of people is looked at, one after the other."""


def is_of_rank_sums(source: object) -> bool:
    """Whether a source is a release of rank sums."""
    return isinstance(source, Release) and "rank_sums" in source.details


def rank_sum_test(release: Release[Any], rng: np.random.Generator | None) -> Evidence:
    """The evidence against alike groups in their noisy rank sums; without `rng` the same release gives the same.

    Group sizes are not known. Sums of scores are largest where groups are of equal size, or where only some of them
    have people at all: of these the largest p-value is taken, as [Couch et al. 2019] do for equal sizes.
    """
    asked, law = release.details["asked"], release.details["rank_sums"]
    if asked["rows"] != 1:
        raise InvalidArgument("people are the sample here, so each must count once: ask again with limit(rows=1)")
    found, rows = (int(each) for each in release.value)
    seed = crc32(f"{found} {rows}".encode()) if rng is None else int(rng.integers(2**32))
    groups, ratio = domain_from_json(asked["by"][0]["domain"]).size, ratio_of(float(_laplace(law["sums"]).scale))

    def chance(people: int) -> float:
        """The chance of so much where so many people are alike, one standard error of its simulation above it."""
        source = np.random.default_rng(seed)
        drawn = (_alike(max(people, filled), int(law["clip"]), filled, source) for filled in range(2, groups + 1))
        tails = [_tail(found - each, ratio) for each in drawn]
        return min(1.0, max(float(tail.mean() + tail.std() / DRAWS**0.5) for tail in tails))

    p_value = chance(rows) if law["count"] is None else _unsure(chance, rows, IntegerNoise(_laplace(law["count"])))
    return Evidence("rank sums", float(found), p_value, (release.guarantee,))


def _unsure(chance: Callable[[int], float], rows: int, noise: IntegerNoise) -> float:
    """The p-value where the number of people is noisy: the least level at which a test of that level rejects.

    It takes the number for its upper end, which fails with a tenth of the level, and asks for nine tenths of it. A
    lower level takes a higher end, so that whatever it rejects is rejected by all above it.
    """
    reached = 1.0
    for level in LEVELS:
        seen = chance(rows + noise.half_width(1 - 2 * UNSURE * level)) / (1 - UNSURE)
        if seen > level:
            return min(reached, seen)
        reached = level
    return reached


def _laplace(loss: dict[str, Any]) -> DiscreteLaplace:
    found = loss_from_json(loss)
    assert isinstance(found, DiscreteLaplace)
    return found


def _alike(rows: int, clip: int, groups: int, rng: np.random.Generator) -> Floats:
    """Draws of the sum over groups of equal size of absolute sums of clipped ranks, where groups are alike."""
    ends = np.arange(groups) * rows // groups
    if rows <= FEW:
        scores = np.clip(2 * np.arange(1, rows + 1) - rows - 1, -clip, clip)
        drawn = rng.permuted(np.broadcast_to(scores, (DRAWS, rows)), axis=1)
        return np.asarray(np.abs(np.add.reduceat(drawn, ends, axis=1)).sum(1), np.float64)
    normal = rng.standard_normal((DRAWS, groups))
    away = np.abs(normal - normal.mean(1, keepdims=True)).sum(1)
    return np.asarray(np.floor(away * (_mean_square(rows, clip) * rows / groups) ** 0.5))


def _mean_square(rows: int, clip: int) -> float:
    """The mean square of clipped scores: clip^2 / 3 of the inner clip / n of the rows, and clip^2 of the others."""
    inside = min(clip / rows, 1.0)
    return inside * min(clip, rows) ** 2 / 3 + (1 - inside) * float(clip) ** 2


def _tail(over: Floats, ratio: float) -> Floats:
    """The chance that discrete Laplace noise is at least x: a^x / (1 + a) above zero, one less a^(1 - x) / (1 + a)."""
    upper = ratio ** np.maximum(over, 0) / (1 + ratio)
    lower = 1 - ratio ** np.maximum(1 - over, 0) / (1 + ratio)
    return np.asarray(np.where(over > 0, upper, lower))
