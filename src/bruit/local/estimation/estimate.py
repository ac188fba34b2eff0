"""Estimates shares from a tally: one estimator for every frequency protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.core.intervals import Covers, Interval
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.local.estimation.adjustment import Adjustment, adjusted
from bruit.local.estimation.intervals import Method, share_interval
from bruit.local.forecasts import two_sided

if TYPE_CHECKING:
    from bruit.local.frequency_protocol import FrequencyProtocol
    from bruit.local.tally import Tally

__all__ = ["Adjustment", "Method", "estimate"]


def estimate(
    protocol: FrequencyProtocol,
    tally: Tally,
    confidence: float,
    *,
    covers: Covers,
    method: Method,
    joint: bool,
    adjust: Adjustment,
) -> Release[NDArray[np.float64]]:
    """Shares by category: raw unbiased ones, or adjusted ones with the raw kept in `details`.

    Intervals are clipped to [0, 1]; what they were before is in `details` too. With `joint` they hold for all
    categories together (Bonferroni). An adjustment moves the value only, never the interval.
    """
    if tally.protocol != protocol:
        raise InvalidArgument("this tally is of another protocol; estimate it with the protocol it carries")
    if tally.people == 0:
        raise InvalidArgument("an empty survey has no shares: tally at least one report")
    two_sided(confidence)
    # Reports of one respondent share a memoised response: however alike they are, their mean varies no more than one.
    support, n = protocol.support, tally.respondents
    counts = tally.counts if n == tally.people else np.rint(tally.counts * (n / tally.people)).astype(np.int64)
    raw = support.unmix(tally.counts / tally.people)
    each = 1 - (1 - confidence) / len(raw) if joint else confidence
    low, high = share_interval(counts, n, support, confidence=each, method=method, covers=covers)
    deviation = np.sqrt(support.noise_variance(np.clip(raw, 0, 1), n))
    details: dict[str, Any] = {
        "answers": n,
        "rounds": len(tally.rounds),
        "raw": raw,
        "raw_low": low,
        "raw_high": high,
        "standard_error": np.sqrt(support.variance(np.clip(raw, 0, 1), n)),
        "intervals": method,
        "approximate": method != "exact",
        "adjust": adjust,
    }
    return Release(
        value=adjusted(raw, n, counts, support, adjust),
        guarantee=protocol.guarantee(seeded=tally.seeded),
        method=f"local.{type(protocol).__name__}",
        labels=protocol.categories.labels,
        interval=Interval(np.clip(low, 0, 1), np.clip(high, 0, 1), confidence, covers, joint),
        noise=two_sided(each) * deviation,
        details=details,
    )
