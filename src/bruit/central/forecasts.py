"""The expected error and the required epsilon of a statistic, from public numbers alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log10

from bruit.central.moment_errors import widest_mean_share, widest_variance_share
from bruit.central.questions.sensitivities import RowRange, moved_rows, sensitivity
from bruit.central.ranks.errors import expected_rank_error
from bruit.central.ranks.probabilities import Probabilities
from bruit.channels import IntegerNoise
from bruit.core.arguments import confidence as checked_confidence
from bruit.core.arguments import whole
from bruit.core.neighbours import REPLACE_ONE, Neighbours
from bruit.core.numbers import Exact, exactly, positive
from bruit.errors import InvalidArgument
from bruit.tables import Limit, Within

DIGITS = 4
"""Significant digits of an epsilon that was asked for by its error."""


def expected_error(
    statistic: str,
    *,
    epsilon: Exact,
    neighbours: Neighbours,
    domain: Within | None = None,
    size: int | None = None,
    expected_size: int | None = None,
    probabilities: Probabilities | None = None,
    limit: Limit | None = None,
    groups: int | None = None,
    confidence: float = 0.95,
) -> float:
    """The half-width of a statistic's noise at the given confidence, in the statistic's own unit.

    For count, histogram (one cell), sum, and sums by group (`group_by`, one group); `groups` is how many declared cells
    or groups there are, where that is known. For a mean and a variance the most that values anywhere within the bounds
    allow: of about `expected_size` rows, or, for a mean under REPLACE_ONE, of `size` rows where the release gets the
    same. No release says more `noise` than this, as long as its noises stay within the confidence. For quantiles
    the mean rank error in records, whatever the confidence. `limit` is how much of one person counts; None where each
    row is a person.
    """
    ask = _Question(neighbours, domain, size, expected_size, probabilities, limit, groups, confidence)
    return ask.error(statistic, positive(epsilon, "epsilon"))


def epsilon_for(
    statistic: str,
    *,
    error: Exact,
    neighbours: Neighbours,
    domain: Within | None = None,
    size: int | None = None,
    expected_size: int | None = None,
    probabilities: Probabilities | None = None,
    limit: Limit | None = None,
    groups: int | None = None,
    confidence: float = 0.95,
) -> Fraction:
    """The least epsilon, to four digits, whose expected error is at most `error`."""
    ask = _Question(neighbours, domain, size, expected_size, probabilities, limit, groups, confidence)
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
    expected_size: int | None
    probabilities: Probabilities | None
    limit: Limit | None
    groups: int | None
    confidence: float

    def error(self, statistic: str, epsilon: Fraction) -> float:
        known: dict[str, Callable[[Fraction], float]] = {
            "count": lambda e: self._width(RowRange(0, 1), e, groups=1),
            "histogram": lambda e: self._width(RowRange(0, 1), e, groups=self.groups),
            "sum": lambda e: self._sum(e, groups=1),
            "group_by": lambda e: self._sum(e, groups=self.groups),
            "mean": self._mean,
            "variance": self._variance,
            "quantiles": self._rank,
        }
        checked_confidence(self.confidence)
        if statistic not in known:
            raise InvalidArgument(f"statistic={statistic!r}: choose among {', '.join(known)}")
        return known[statistic](epsilon)

    def _noise(self, row: RowRange, epsilon: Fraction, *, groups: int | None = 1) -> IntegerNoise:
        moved = sensitivity(row, self.limit, groups=groups, neighbours=self.neighbours)
        return IntegerNoise.laplace(epsilon, sensitivity=moved.l1, neighbours=self.neighbours)

    def _width(self, row: RowRange, epsilon: Fraction, *, groups: int | None) -> float:
        return float(self._noise(row, epsilon, groups=groups).half_width(self.confidence))

    def _sum(self, epsilon: Fraction, *, groups: int | None) -> float:
        domain = self._domain()
        row = RowRange(min(domain.lowest, 0), max(domain.highest, 0))
        return self._width(row, epsilon, groups=groups) * float(domain.grid)

    def _mean(self, epsilon: Fraction) -> float:
        domain = self._domain()
        rows, steps = self._rows(), domain.highest - domain.lowest
        if self.size is not None:
            return self._mean_of_public_size(epsilon, domain, rows)
        noise = self._noise(RowRange(0, steps, ends=2), epsilon)
        return widest_mean_share(noise, rows, steps, self.confidence) * float(domain.high - domain.low)

    def _mean_of_public_size(self, epsilon: Fraction, domain: Within, rows: int) -> float:
        if self.neighbours is not REPLACE_ONE or self.limit is not None:
            raise InvalidArgument("size=, a public number of rows, is for REPLACE_ONE where each row is a person")
        middle = (domain.lowest + domain.highest) // 2
        width = self._width(RowRange(domain.lowest - middle, domain.highest - middle), epsilon, groups=1)
        return min(width / rows * float(domain.grid), float(domain.high - domain.low) / 2)

    def _variance(self, epsilon: Fraction) -> float:
        domain = self._domain()
        rows, steps = self._rows(), domain.highest - domain.lowest
        if self.size is not None:
            raise InvalidArgument("a variance takes no size=; say about how many rows there are with expected_size=")
        noise = self._noise(RowRange(0, steps**2, ends=3), epsilon)
        return widest_variance_share(noise, rows, steps, self.confidence) * float(domain.high - domain.low) ** 2

    def _domain(self) -> Within:
        if self.domain is None:
            raise InvalidArgument(
                "give domain=bruit.tables.within(low, high, grid=...): the error depends on the bounds"
            )
        return self.domain

    def _rows(self) -> int:
        if (self.size is None) == (self.expected_size is None):
            raise InvalidArgument(
                "give size=, the public number of rows that the release will be given, or expected_size=, about how "
                "many there are where it pays for their count: the error depends on it"
            )
        return whole(self.expected_size, "expected_size") if self.size is None else whole(self.size, "size")

    def _rank(self, epsilon: Fraction) -> float:
        if self.probabilities is None:
            raise InvalidArgument("give probabilities=, for example bruit.DECILES")
        rows = moved_rows(self.limit, groups=1)
        expected = expected_rank_error(self.probabilities, epsilon=epsilon, neighbours=self.neighbours, rows=rows)
        return float(expected.max())
