"""RAPPOR decoding: which candidate texts the respondents have, and how often."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption, Guarantee
from bruit.core.intervals import Covers, Interval
from bruit.core.neighbours import LOCAL
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.local.forecasts import two_sided
from bruit.local.rappor.design import Design, design
from bruit.local.rappor.lasso import Fit, fitted
from bruit.local.rappor.selection import Selection, checked_selection, cut, level_held, widened
from bruit.local.rappor.shares import Bits, Shares, bits_of, least_squares

if TYPE_CHECKING:
    from bruit.local.rappor.protocol import Rappor
    from bruit.local.rappor.tally import RapporTally

Decoder = Literal["debiased", "least-squares"]
POWER: Final = 0.9
"""The chance with which a text at the detection limit is found."""


def decode(
    tally: RapporTally,
    candidates: Iterable[str],
    *,
    level: float = 0.05,
    confidence: float = 0.95,
    method: Decoder = "debiased",
    select: Selection = "adaptive",
) -> Release[NDArray[np.float64]]:
    """The candidates that respondents have, the most frequent first, with their shares and intervals.

    debiased        every candidate is tested by the debiased LASSO                  [Javanmard & Montanari 2014]
    least-squares   the LASSO picks, weighted least squares tests what it picked            [docs/spec.md S2.19]
    Those whose p-values `select` believes are fitted together by weighted least squares, each with its interval for
    the share of the population. `select="none"` gives the shares of all candidates. `details` holds p-values, standard
    errors, the losses of one and of any number of reports, and the detection limit: a text with a smaller share may be
    there and cannot be expected to be found, nor can a text that is not a candidate. In a crowded design, where
    `level_held` says so, Bonferroni's rule takes the place of those that bound a share of false ones.
    """
    _check(level, confidence, method, select)
    bits, columns = bits_of(tally), design(tally.protocol, candidates)
    select = widened(tally.protocol, len(columns), select)
    fit = fitted(columns, bits.shares, bits.weights, level)
    p_values = _p_values(columns, bits, fit, method)
    largest = cut(p_values, level, select)
    chosen = np.flatnonzero(p_values <= largest)
    found = least_squares(columns, bits, chosen, _expected(columns, fit))
    order = np.lexsort((chosen, -found.values))
    details = {
        "answers": int(tally.people.sum()),
        "raw": found.values[order],
        "standard_error": found.errors[order],
        "p_value": p_values[chosen][order],
        **_outcome(tally.protocol, columns, fit, largest, len(chosen)),
        "unexplained": float(np.clip(1 - found.values.sum(), 0, 1)),
        "decoder": method,
        "select": select,
        "level": level,
        "level_held": level_held(tally.protocol, len(columns)),
    }
    return _release(tally, [columns.labels[place] for place in chosen[order]], found, order, confidence, details)


def _check(level: float, confidence: float, method: str, select: str) -> None:
    checked_selection(select, level)
    two_sided(confidence)
    if method not in get_args(Decoder):
        raise InvalidArgument(f"method={method!r}: give one of {', '.join(get_args(Decoder))}")


def _release(
    tally: RapporTally,
    labels: list[str],
    found: Shares,
    order: NDArray[np.int64],
    confidence: float,
    details: dict[str, Any],
) -> Release[NDArray[np.float64]]:
    reach = two_sided(confidence)
    values, errors = found.values[order], found.errors[order]
    low, high = (np.clip(values + side * reach * errors, 0, 1) for side in (-1, 1))
    return Release(
        value=values,
        guarantee=guarantee(tally.protocol, seeded=tally.seeded),
        method="local.Rappor",
        labels=tuple(labels),
        interval=Interval(low, high, confidence, Covers.POPULATION),
        noise=reach * found.noise[order],
        details=details,
    )


def _p_values(columns: Design, bits: Bits, fit: Fit, method: Decoder) -> NDArray[np.float64]:
    """One-sided: the chance that a text which nobody has looks at least as frequent."""
    if method == "debiased":
        return np.asarray(ndtr(-fit.scores(columns, bits.weights)))
    picked = np.flatnonzero(fit.shares > 0)
    shares = least_squares(columns, bits, picked, _expected(columns, fit))
    p_values = np.ones(len(columns))
    p_values[picked] = ndtr(-shares.values / np.maximum(shares.errors, np.finfo(float).tiny))
    return p_values


def _expected(columns: Design, fit: Fit) -> NDArray[np.float64]:
    """The share of the respondents who set each bit, by the fit."""
    used = np.flatnonzero(fit.shares)
    rows, places = columns.entries(used)
    set_by = np.bincount(rows, fit.shares[used][places], minlength=columns.height)
    return np.asarray(fit.background + set_by, np.float64)


def _outcome(protocol: Rappor, columns: Design, fit: Fit, largest: float, found: int) -> dict[str, Any]:
    usual = float(np.median(fit.norms))
    limit = _limit(largest, fit.spread / math.sqrt(usual)) if usual > 0 else 1.0
    return {
        "candidates": len(columns),
        "found": found,
        "not_found": len(columns) - found,
        "largest_p_value": largest,
        "detection_limit": limit,
        "detection_power": POWER,
        "spread": fit.spread,
        "epsilon_once": float(protocol.law.once),
        "epsilon_forever": "inf" if math.isinf(protocol.law.forever) else float(protocol.law.forever),
    }


def _limit(largest: float, deviation: float) -> float:
    if largest >= 1:
        return 0.0
    return min(1.0, float(ndtri(POWER) - ndtri(largest)) * deviation)


def detection_limit(protocol: Rappor, *, people: int, candidates: int, found: int = 1, level: float = 0.05) -> float:
    """The smallest share detected with probability 0.9, given how many texts will be found; needs no data.

    (z(1 - level found / M) + z(0.9)) sqrt(s (1 - s) / (n h)) / (q* - p*), s = p* + (q* - p*) h / k
    It falls with the root of the number of reports and with nothing else: no cleverness finds the rare.
    """
    for name, value in (("people", people), ("candidates", candidates), ("found", found)):
        whole(value, name)
    checked_selection("bonferroni", level)
    if_zero, if_one = (float(chance) for chance in protocol.law.report.probabilities()[:, 1])
    set_bits = protocol.bits * (1 - (1 - 1 / protocol.bits) ** protocol.hashes)
    reported = if_zero + (if_one - if_zero) * set_bits / protocol.bits
    deviation = math.sqrt(reported * (1 - reported) / (people * set_bits)) / abs(if_one - if_zero)
    return _limit(level * min(found, candidates) / candidates, deviation)


def guarantee(protocol: Rappor, *, seeded: bool = False) -> Guarantee:
    """The privacy guarantee for one value however often it is reported; infinite epsilon where f = 0."""
    assumed = (Assumption.SEEDED,) if seeded else ()
    unit = "one value of one respondent, reported any number of times"
    return Guarantee(protocol.law.forever, Fraction(0), LOCAL, unit, "law", assumed)
