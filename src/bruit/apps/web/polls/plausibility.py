"""Tests whether a poll's counts are possible under its noise, whatever the true answers; detects fake reports.

Whoever answers, each report is a one (or names a category) with a chance between those of the law's two ends. The count
of n such reports is a sum of independent coins, and lies stochastically between Binomial(n, least) and
Binomial(n, largest) [Hoeffding 1956]. A count beyond those tails was not made by the law: somebody sent reports without
noise, or many. A count within them proves nothing.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import scipy
from numpy.typing import NDArray

from bruit.apps.web.report_format import Wire
from bruit.local import FrequencyProtocol, OneBitMean, Rappor

ALARM: Final = 1e-6
"""The chance that honest reports of a whole round are called impossible, at most, shared over all counts."""


def implausible(wire: Wire, answers: int, kept: bytes) -> list[str]:
    """The labels whose counts are impossible for any true answers; empty where the reports may be honest."""
    if not answers:
        return []
    counters = wire.counters(kept)
    if wire.cohorts:
        table = counters.reshape(wire.cohorts, -1)
        beyond = _is_beyond(table[:, 1:], table[:, :1], *_ends(wire))
        return [f"group {place}" for place in np.flatnonzero(beyond.any(axis=1))]
    beyond = _is_beyond(counters, np.array([answers]), *_ends(wire))
    return [label for label, found in zip(_labels(wire), beyond, strict=True) if found]


def _ends(wire: Wire) -> tuple[float, float]:
    """The least and the largest chance of a one in a report, over all answers."""
    protocol = wire.protocol
    if isinstance(protocol, Rappor):
        ones = protocol.law.report.probabilities()[:, 1]
        return float(ones.min()), float(ones.max())
    assert isinstance(protocol, FrequencyProtocol | OneBitMean)
    support = protocol.channel.support if isinstance(protocol, OneBitMean) else protocol.support
    chances = float(np.min(support.false)), float(np.max(support.true))
    return min(chances), max(chances)


def _is_beyond(counts: NDArray[np.int64], people: NDArray[np.int64], least: float, largest: float) -> NDArray[np.bool_]:
    """Whether each count lies in a tail of less than the alarm's share, above the largest or below the least law."""
    each = ALARM / (2 * counts.size)
    return np.asarray(
        (scipy.stats.binom.sf(counts - 1, people, largest) < each)
        | (scipy.stats.binom.cdf(counts, people, least) < each)
    )


def _labels(wire: Wire) -> tuple[str, ...]:
    protocol = wire.protocol
    return protocol.categories.labels if isinstance(protocol, FrequencyProtocol) else ("0", "1")
