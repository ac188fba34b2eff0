"""What a statistic will be worth, and what it will cost, from public numbers alone: no data is touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log10

from bruit.central.histograms import histogram_sensitivity
from bruit.central.moments import moved_by_one
from bruit.central.noise import laplace_half_width, require_confidence
from bruit.central.probabilities import Probabilities
from bruit.central.rank_errors import expected_rank_error
from bruit.errors import InvalidArgument
from bruit.privacy import Exact, Neighbours, exactly
from bruit.privacy.numbers import positive
from bruit.tables import Within

DIGITS = 4
"""Significant digits of an epsilon that was asked for by its error."""


def expected_error(
    statistic: str,
    *,
    epsilon: Exact,
    neighbours: Neighbours,
    domain: Within | None = None,
    size: int | None = None,
    probabilities: Probabilities | None = None,
    rows: int = 1,
    groups: int = 1,
    confidence: float = 0.95,
) -> float:
    """How far noise alone moves a statistic, at the stated confidence, in its own unit.

    For count, histogram (one cell), sum, and a mean whose `size` is public; for quantiles the mean rank error in
    records, whatever the confidence.
    """
    ask = _Question(neighbours, domain, size, probabilities, rows, groups, confidence)
    return ask.error(statistic, positive(epsilon, "epsilon"))


def epsilon_for(
    statistic: str,
    *,
    error: Exact,
    neighbours: Neighbours,
    domain: Within | None = None,
    size: int | None = None,
    probabilities: Probabilities | None = None,
    rows: int = 1,
    groups: int = 1,
    confidence: float = 0.95,
) -> Fraction:
    """The least epsilon, to four digits, whose expected error is at most `error`."""
    ask = _Question(neighbours, domain, size, probabilities, rows, groups, confidence)
    target = float(positive(exactly(error, "error"), "error"))
    low, high = 1e-9, 1e9
    if ask.error(statistic, exactly(high, "epsilon")) > target:
        raise InvalidArgument(f"error={error}: no epsilon reaches that; noise comes in whole steps of the grid")
    while high / low > 1 + 1e-6:
        middle = (low * high) ** 0.5
        low, high = (low, middle) if ask.error(statistic, exactly(middle, "epsilon")) <= target else (middle, high)
    unit = Fraction(10) ** (ceil(log10(high)) - DIGITS)
    return ceil(Fraction(high) / unit) * unit


@dataclass(frozen=True)
class _Question:
    """The public numbers of a statistic that is not asked yet."""

    neighbours: Neighbours
    domain: Within | None
    size: int | None
    probabilities: Probabilities | None
    rows: int
    groups: int
    confidence: float

    def error(self, statistic: str, epsilon: Fraction) -> float:
        known: dict[str, Callable[[Fraction], float]] = {
            "count": lambda e: self._width(self.rows, e),
            "histogram": lambda e: self._width(histogram_sensitivity(self.groups, self.rows, self.neighbours)[0], e),
            "sum": self._sum,
            "mean": self._mean,
            "quantiles": self._rank,
        }
        require_confidence(self.confidence)
        if statistic not in known:
            raise InvalidArgument(f"statistic={statistic!r}: choose among {', '.join(known)}")
        return known[statistic](epsilon)

    def _width(self, sensitivity: int, epsilon: Fraction) -> float:
        return float(laplace_half_width(float(sensitivity / epsilon), self.confidence))

    def _sum(self, epsilon: Fraction, *, around: int = 0) -> float:
        if self.domain is None:
            raise InvalidArgument(
                "give domain=bruit.tables.within(low, high, grid=...): the error depends on the bounds"
            )
        moved = moved_by_one(self.domain, self.neighbours, rows=self.rows, each_row=self.rows == 1, around=around)
        return self._width(moved, epsilon) * float(self.domain.grid)

    def _mean(self, epsilon: Fraction) -> float:
        if self.size is None or self.domain is None:
            raise InvalidArgument("give domain= and size=, the public number of rows: the error depends on both")
        return self._sum(epsilon, around=(self.domain.lowest + self.domain.highest) // 2) / self.size

    def _rank(self, epsilon: Fraction) -> float:
        if self.probabilities is None:
            raise InvalidArgument("give probabilities=, for example bruit.DECILES")
        expected = expected_rank_error(self.probabilities, epsilon=epsilon, neighbours=self.neighbours, rows=self.rows)
        return float(expected.max())
