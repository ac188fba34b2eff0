"""Numbers sent as numbers: the piecewise mechanism on a grid, and its mixture with one bit."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.channels import ONE, checked_epsilon, log_above
from bruit.errors import InvalidArgument
from bruit.local.checking import checked_places
from bruit.local.mean import OneBitMean
from bruit.local.planning import two_sided
from bruit.privacy import LOCAL, Assumption, Covers, Exact, Guarantee, Interval, Pure, Release
from bruit.randomness import bernoulli, generator, words


@dataclass(frozen=True)
class WindowTally:
    """How many respondents sent each place, by mechanism; `+` merges two."""

    protocol: PiecewiseMean
    counts: tuple[int, ...]
    seeded: bool = False

    @property
    def answers(self) -> int:
        """How many respondents sent something."""
        return sum(self.counts)

    def __add__(self, other: WindowTally) -> WindowTally:
        if not isinstance(other, WindowTally):
            return NotImplemented
        if self.protocol != other.protocol:
            raise InvalidArgument("two tallies can be added only when their reports followed the same protocol")
        counts = tuple(one + two for one, two in zip(self.counts, other.counts, strict=True))
        return WindowTally(self.protocol, counts, self.seeded or other.seeded)


@dataclass(frozen=True, init=False)
class PiecewiseMean:
    """A number in s steps from low to high is sent as one of s + w places, those of its window more often.

    Value j owns the window j … j + w - 1. A place inside has weight `high`, one outside weight `low`, and
    w high + s low = 2^52, high / low <= e^epsilon: the loss is ln(high / low). The mean place is a straight line in j,
    so reading back is unbiased. w = s e^(-epsilon/2) makes it the piecewise mechanism.   [Wang et al. 2019, Sec. III]
    With `mixed`, a share 1 - e^(-epsilon/2) of the respondents does this and the others send one bit, each at epsilon:
    the hybrid mechanism.
    """

    ends: OneBitMean
    mixed: bool

    def __init__(self, low: Exact, high: Exact, *, grid: Exact, epsilon: Exact, mixed: bool = False) -> None:
        object.__setattr__(self, "ends", OneBitMean(low, high, grid=grid, epsilon=checked_epsilon(epsilon)))
        object.__setattr__(self, "mixed", mixed)
        assert self.loss <= self.epsilon

    @property
    def epsilon(self) -> Fraction:
        """The epsilon asked for."""
        return self.ends.epsilon

    @cached_property
    def window(self) -> int:
        """How many places a value's window has."""
        return max(1, round(self.ends.steps * math.exp(-float(self.epsilon) / 2)))

    @property
    def places(self) -> int:
        """How many different reports the window mechanism has."""
        return self.ends.steps + self.window

    @cached_property
    def weights(self) -> tuple[int, int]:
        """The weights of a place inside and outside the window; the window takes what rounding leaves."""
        outside_places = self.places - self.window
        ratio = Fraction(math.exp(float(self.epsilon)))
        low = math.ceil(ONE / (self.window * ratio + outside_places))
        while True:
            high = (ONE - outside_places * low) // self.window
            low_rest = ONE - high * self.window - low * outside_places
            if log_above(high + (1 if low_rest else 0), low) <= self.epsilon:
                return high, low
            low += 1

    @cached_property
    def loss(self) -> Fraction:
        """ln(high / low), or that of the bit where it is larger; rounded up."""
        high, low = self.weights
        own = log_above(high + (1 if self._rest else 0), low)
        return max(own, Fraction(self.ends.loss)) if self.mixed else own

    @property
    def _rest(self) -> int:
        """Units of weight left by rounding: the first places of every window have one more."""
        high, low = self.weights
        return ONE - high * self.window - low * (self.places - self.window)

    @cached_property
    def share(self) -> int:
        """The weight, out of 2^52, of a respondent who uses the window rather than the bit."""
        return round(ONE * (1 - math.exp(-float(self.epsilon) / 2))) if self.mixed else ONE

    def law(self, step: int) -> NDArray[np.float64]:
        """The chance of every place for a value given in steps of the grid."""
        high, low = self.weights
        weights = np.full(self.places, low, np.int64)
        weights[step : step + self.window] = high
        weights[step : step + self._rest] += 1
        return weights / ONE

    def randomise(self, values: ArrayLike, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
        """One report a number: a place of the window mechanism, or beyond those the bit of the other one."""
        numbers = np.asarray(values, dtype=np.float64).reshape(-1)
        if np.isnan(numbers).any():
            raise InvalidArgument("a missing number has no mean; ask again, or leave the respondent out")
        source = generator(rng)
        low, high = float(self.ends.low), float(self.ends.high)
        steps = np.rint((np.clip(numbers, low, high) - low) / float(self.ends.grid)).astype(np.int64)
        reports = self._window_reports(np.clip(steps, 0, self.ends.steps), source)
        if not self.mixed:
            return reports
        bits = self.places + self.ends.randomise(numbers, source).values.astype(np.int64)
        return np.where(bernoulli(self.share, len(numbers), rng=source), reports, bits)

    def _window_reports(self, steps: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Weights laid end to end: the longer places of the window, the rest of it, then the places outside."""
        high, low = self.weights
        u = (words(rng, len(steps)) >> np.uint64(12)).astype(np.int64)
        longer = self._rest * (high + 1)
        inside = np.where(u < longer, u // (high + 1), self._rest + (u - longer) // high)
        outside = (u - (longer + (self.window - self._rest) * high)) // low
        outside = np.where(outside >= steps, outside + self.window, outside)
        return np.where(inside < self.window, steps + inside, outside)

    def tally(self, reports: ArrayLike, *, seeded: bool = False) -> WindowTally:
        """How often each report came."""
        size = self.places + (2 if self.mixed else 0)
        values = checked_places(np.asarray(reports), size)
        return WindowTally(self, tuple(np.bincount(values, minlength=size).tolist()), seeded)

    def estimate(self, tally: WindowTally, confidence: float = 0.95) -> Release[float]:
        """The mean, unbiased, with a normal interval from the spread of the unbiased values themselves."""
        if tally.protocol != self:
            raise InvalidArgument("this tally is of another protocol; estimate it with the protocol it carries")
        if tally.answers < 2:
            raise InvalidArgument("an empty survey or a single answer has no interval: tally at least two reports")
        z, counts = two_sided(confidence), np.array(tally.counts, float)
        value = float(counts @ self.values / tally.answers)
        spread = float(counts @ (self.values - value) ** 2 / (tally.answers - 1))
        half = z * math.sqrt(spread / tally.answers)
        ends = (float(self.ends.low), float(self.ends.high))
        assumed = (Assumption.SEEDED,) if tally.seeded else ()
        return Release(
            value=value,
            guarantee=Guarantee(self.epsilon, Fraction(0), LOCAL, "one respondent", "law", assumed),
            method="local.PiecewiseMean",
            interval=Interval(
                np.clip(value - half, *ends), np.clip(value + half, *ends), confidence, Covers.POPULATION
            ),
            noise=z * math.sqrt(self.variance() / tally.answers),
            details={"answers": tally.answers, "raw": value, "raw_low": value - half, "raw_high": value + half},
        )

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """What each report counts for: unbiased for the number sent."""
        steps, places = self.ends.steps, np.arange(self.places)
        at_low, at_high = (float(self.law(step) @ places) for step in (0, steps))
        low, width = float(self.ends.low), float(self.ends.high - self.ends.low)
        own = np.asarray(low + width * (places - at_low) / (at_high - at_low), np.float64)
        return np.concatenate([own, self.ends.unmixed(np.arange(2.0))]) if self.mixed else own

    def variance(self, step: int | None = None) -> float:
        """The variance of one report of a value given in steps; by default the largest over all values."""
        if step is None:
            return max(self.variance(each) for each in {0, self.ends.steps // 2, self.ends.steps})
        law = self.law(step)
        if self.mixed:
            one = float(self.ends.weights(np.array([step]))[0]) / ONE
            law = np.concatenate([law * (self.share / ONE), np.array([1 - one, one]) * (1 - self.share / ONE)])
        mean = float(law @ self.values)
        return float(law @ (self.values - mean) ** 2)

    def privacy(self) -> Pure:
        """The loss of one report, to be added to others."""
        return Pure(self.epsilon, neighbours=LOCAL)
