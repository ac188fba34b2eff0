"""What a statistic will be worth, and what it will cost, from public numbers alone: no data is touched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log10

from bruit.central.histograms import histogram_sensitivity
from bruit.central.moments import moved_by_one
from bruit.central.noise import laplace_half_width, require_confidence, require_scale
from bruit.central.ranks.errors import expected_rank_error
from bruit.central.ranks.probabilities import Probabilities
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
    public_size: bool = True,
    probabilities: Probabilities | None = None,
    rows: int = 1,
    groups: int = 1,
    confidence: float = 0.95,
) -> float:
    """How far noise alone moves a statistic, at the stated confidence, in its own unit.

    For count, histogram (one cell), sum; for a mean and a variance of about `size` rows, the most that values anywhere
    within the bounds allow: with `public_size=False` the count is paid for too, as where the statistic is asked without
    `size=`. For quantiles the mean rank error in records, whatever the confidence.
    """
    ask = _Question(neighbours, domain, size, public_size, probabilities, rows, groups, confidence)
    return ask.error(statistic, positive(epsilon, "epsilon"))


def epsilon_for(
    statistic: str,
    *,
    error: Exact,
    neighbours: Neighbours,
    domain: Within | None = None,
    size: int | None = None,
    public_size: bool = True,
    probabilities: Probabilities | None = None,
    rows: int = 1,
    groups: int = 1,
    confidence: float = 0.95,
) -> Fraction:
    """The least epsilon, to four digits, whose expected error is at most `error`."""
    ask = _Question(neighbours, domain, size, public_size, probabilities, rows, groups, confidence)
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
    public_size: bool
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
            "variance": self._variance,
            "quantiles": self._rank,
        }
        require_confidence(self.confidence)
        if statistic not in known:
            raise InvalidArgument(f"statistic={statistic!r}: choose among {', '.join(known)}")
        return known[statistic](epsilon)

    def _width(self, sensitivity: int, epsilon: Fraction, parts: int = 1) -> float:
        """The half-width of one of several noisy numbers that share an epsilon and a confidence."""
        confidence, scale = 1 - (1 - self.confidence) / parts, sensitivity * parts / epsilon
        require_scale(scale)
        return float(laplace_half_width(float(scale), confidence))

    def _sum(self, epsilon: Fraction) -> float:
        domain = self._domain()
        moved = moved_by_one(domain, self.neighbours, rows=self.rows)
        return self._width(moved, epsilon) * float(domain.grid)

    def _mean(self, epsilon: Fraction) -> float:
        sums, rows, half = self._sums(epsilon, powers=(1,))
        return (sums[0] + half * rows) * float(self._domain().grid) / self._rows()

    def _variance(self, epsilon: Fraction) -> float:
        """From M2/n - (M1/n)^2, to first order, at |M1| = n half, M2 = n half^2."""
        sums, rows, half = self._sums(epsilon, powers=(1, 2))
        return (sums[1] + 2 * half * sums[0] + 3 * half**2 * rows) * float(self._domain().grid) ** 2 / self._rows()

    def _sums(self, epsilon: Fraction, *, powers: tuple[int, ...]) -> tuple[list[float], float, int]:
        """The half-widths of the sums around the middle and of the count, and half the width of the bounds."""
        domain, parts = self._domain(), len(powers) + (not self.public_size)
        middle = (domain.lowest + domain.highest) // 2
        moved = [moved_by_one(domain, self.neighbours, rows=self.rows, around=middle, power=power) for power in powers]
        rows = 0.0 if self.public_size else self._width(self.rows, epsilon, parts)
        return [self._width(each, epsilon, parts) for each in moved], rows, domain.highest - middle

    def _domain(self) -> Within:
        if self.domain is None:
            raise InvalidArgument(
                "give domain=bruit.tables.within(low, high, grid=...): the error depends on the bounds"
            )
        return self.domain

    def _rows(self) -> int:
        if self.size is None:
            raise InvalidArgument("give size=, how many rows there are or may be: the error depends on it")
        return self.size

    def _rank(self, epsilon: Fraction) -> float:
        if self.probabilities is None:
            raise InvalidArgument("give probabilities=, for example bruit.DECILES")
        expected = expected_rank_error(self.probabilities, epsilon=epsilon, neighbours=self.neighbours, rows=self.rows)
        return float(expected.max())
