"""The piecewise mechanism on a grid, which sends a noisy number, and its mixture with the one-bit mechanism."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.channels import ONE
from bruit.core.numbers import Exact
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.local.forecasts import checked_people, two_sided
from bruit.local.loss_proof import either_way, prove
from bruit.local.means.one_bit import OneBitMean
from bruit.local.means.protocol import MeanProtocol
from bruit.local.offering import Offer
from bruit.local.received import checked_places
from bruit.local.tally import Reports
from bruit.randomness import bernoulli, generator, is_strong, words


@dataclass(frozen=True)
class WindowTally:
    """How many respondents sent each report, window places first, then the two bits; `+` merges two tallies."""

    protocol: PiecewiseMean
    counts: tuple[int, ...]
    seeded: bool = False

    @property
    def people(self) -> int:
        """How many respondents sent a report."""
        return sum(self.counts)

    def __add__(self, other: WindowTally) -> WindowTally:
        if not isinstance(other, WindowTally):
            return NotImplemented
        if self.protocol != other.protocol:
            raise InvalidArgument("two tallies can be added only when their reports followed the same protocol")
        counts = tuple(one + two for one, two in zip(self.counts, other.counts, strict=True))
        return WindowTally(self.protocol, counts, self.seeded or other.seeded)

    def to_json(self) -> dict[str, Any]:
        """The tally in JSON types, with its protocol."""
        return {"protocol": self.protocol.to_json(), "counts": list(self.counts), "seeded": self.seeded}


@dataclass(frozen=True, init=False)
class PiecewiseMean(MeanProtocol):
    """Sends a number in s grid steps as one of s + w places, with higher probability for those in its window.

    Value j owns the window j … j + w - 1. A place inside has weight `inside`, one outside weight `outside`, and
    w inside + s outside = 2^52, inside / outside <= e^epsilon: the loss is ln(inside / outside). The mean place is a
    straight line in j, so reading back is unbiased. w = s e^(-epsilon/2) makes it the piecewise mechanism.
    [Wang et al. 2019, Sec. III]
    With `mixed`, a share 1 - e^(-epsilon/2) of the respondents does this and the others send one bit, each at epsilon:
    the hybrid mechanism.
    """

    offer: ClassVar[Offer | None] = Offer(lambda epsilon: PiecewiseMean(0, 10, grid=5, epsilon=epsilon))

    mixed: bool

    def __init__(
        self,
        low: Exact,
        high: Exact,
        *,
        grid: Exact,
        epsilon: Exact,
        missing: Exact | None = None,
        mixed: bool = False,
    ) -> None:
        super().__init__(low, high, grid=grid, epsilon=epsilon, missing=missing)
        object.__setattr__(self, "mixed", mixed)
        prove(self.loss, self.epsilon, gap=self.weights[0] - self.weights[1])

    @cached_property
    def ends(self) -> OneBitMean:
        """The one-bit protocol of the respondents who do not use the window mechanism."""
        return OneBitMean(self.low, self.high, grid=self.grid, epsilon=self.epsilon, missing=self.missing)

    @cached_property
    def window(self) -> int:
        """The number of places in a value's window."""
        return max(1, round(self.steps * math.exp(-float(self.epsilon) / 2)))

    @property
    def places(self) -> int:
        """The number of different reports of the window mechanism, s + w."""
        return self.steps + self.window

    @cached_property
    def weights(self) -> tuple[int, int]:
        """The weights, out of 2^52, of a place inside and outside the window; rounding remainders go to the window."""
        ratio = Fraction(math.exp(float(self.epsilon)))
        outside = math.ceil(ONE / (self.window * ratio + self.steps))
        while True:
            inside, rest = divmod(ONE - self.steps * outside, self.window)
            if inside <= outside or either_way(inside + bool(rest), outside) <= self.epsilon:
                return inside, outside
            outside += 1

    @cached_property
    def loss(self) -> Fraction:
        """The privacy loss ln(inside / outside), or that of the one-bit protocol where it is larger; rounded up."""
        inside, outside = self.weights
        own = max(either_way(inside + bool(self._rest), outside), either_way(inside, outside))
        return max(own, Fraction(self.ends.loss)) if self.mixed else own

    @property
    def _rest(self) -> int:
        """Units of weight left by rounding: the first places of every window have one more."""
        inside, outside = self.weights
        return ONE - inside * self.window - outside * self.steps

    @cached_property
    def share(self) -> int:
        """The weight, out of 2^52, of using the window mechanism rather than the one-bit protocol."""
        return round(ONE * (1 - math.exp(-float(self.epsilon) / 2))) if self.mixed else ONE

    def law_at(self, step: int) -> NDArray[np.float64]:
        """The probability of each place for a value given in grid steps."""
        inside, outside = self.weights
        weights = np.full(self.places, outside, np.int64)
        weights[step : step + self.window] = inside
        weights[step : step + self._rest] += 1
        return weights / ONE

    def whole_law(self, step: int) -> NDArray[np.float64]:
        """The probability of every report for a value in grid steps, including the two bits of the mixture."""
        if not self.mixed:
            return self.law_at(step)
        one, share = float(self.ends.weights(np.array([step]))[0]) / ONE, self.share / ONE
        return np.concatenate([self.law_at(step) * share, np.array([1 - one, one]) * (1 - share)])

    def randomise(self, values: ArrayLike, *, rng: np.random.Generator | None = None) -> Reports:
        """One report per answer: a place of the window mechanism, or the one-bit report numbered after the places."""
        steps, source = self._steps(values), generator(rng)
        reports = self._window_reports(steps, source)
        if self.mixed:
            drawn = (words(source, len(steps)) >> np.uint64(12)).astype(np.int64)
            bits = self.places + (drawn < self.ends.weights(steps))
            reports = np.where(bernoulli(self.share, len(steps), rng=source), reports, bits)
        return Reports(self, reports, seeded=not is_strong(rng))

    def _window_reports(self, steps: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
        """Weights laid end to end: the longer places of the window, the rest of it, then the places outside."""
        high, low = self.weights
        u = (words(rng, len(steps)) >> np.uint64(12)).astype(np.int64)
        longer = self._rest * (high + 1)
        inside = np.where(u < longer, u // (high + 1), self._rest + (u - longer) // high)
        outside = (u - (longer + (self.window - self._rest) * high)) // low
        outside = np.where(outside >= steps, outside + self.window, outside)
        return np.where(inside < self.window, steps + inside, outside)

    def tally(self, reports: Reports | ArrayLike) -> WindowTally:
        """How often each report was sent, as a `WindowTally`."""
        received, seeded = self._received(reports)
        size = self.places + 2 * self.mixed
        return WindowTally(self, tuple(np.bincount(checked_places(received, size), minlength=size).tolist()), seeded)

    def _counted(self, counts: list[int], *, seeded: bool) -> WindowTally:
        """The tally of so many reports of each kind."""
        if len(counts) != self.places + 2 * self.mixed:
            raise InvalidArgument(f"{len(counts)} counts: this protocol has {self.places + 2 * self.mixed} reports")
        return WindowTally(self, tuple(counts), seeded)

    def estimate(
        self, tally: WindowTally, confidence: float = 0.95, *, method: Literal["exact", "normal"] = "exact"
    ) -> Release[float]:
        """The unbiased mean with an interval of guaranteed coverage, or with a normal approximation.

        `exact` holds for any number of people and whatever they answered [Hoeffding 1963; Bernstein 1924]. `normal`
        takes the spread of the reports themselves: shorter, right for many people, and marked approximate.
        """
        if method not in ("exact", "normal"):
            raise InvalidArgument(f"method={method!r}: this mean has 'exact' or 'normal' intervals")
        self._check(tally, least=2 if method == "normal" else 1)
        z, counts, n = two_sided(confidence), np.array(tally.counts, float), tally.people
        value = float(counts @ self.values / n)
        if method == "exact":
            half = self.expected_error(n, confidence=confidence)
        else:
            half = z * math.sqrt(float(counts @ (self.values - value) ** 2) / (n - 1) / n)
        noise = z * math.sqrt(self.variance() / n)
        raw = (value, value - half, value + half)
        return self._released(raw, tally=tally, confidence=confidence, method=method, noise=noise)

    def expected_error(self, people: int, *, confidence: float = 0.95) -> float:
        """The half-width of the exact interval before clipping, the smaller of Hoeffding's and Bernstein's bounds.

        With L = ln(2 / alpha), R the distance of the least and the largest value of a report, and V their variance at
        its largest: R sqrt(L / 2n)  [Hoeffding 1963, Theorem 2];  sqrt(2 V L / n) + R L / 3n  [Bernstein 1924].
        """
        two_sided(confidence)
        people, likely = checked_people(people), math.log(2 / (1 - confidence))
        reach, spread = float(np.ptp(self.values)), self.variance() + float(self.high - self.low) ** 2 / 4
        hoeffding = reach * math.sqrt(likely / (2 * people))
        return min(hoeffding, math.sqrt(2 * spread * likely / people) + reach * likely / (3 * people))

    @cached_property
    def values(self) -> NDArray[np.float64]:
        """The number that each report counts as, chosen so that the mean is unbiased."""
        places = np.arange(self.places)
        at_low, at_high = (float(self.law_at(step) @ places) for step in (0, self.steps))
        low, width = float(self.low), float(self.high - self.low)
        own = np.asarray(low + width * (places - at_low) / (at_high - at_low), np.float64)
        return np.concatenate([own, self.ends.unmixed(np.arange(2.0))]) if self.mixed else own

    def variance(self, step: int | None = None) -> float:
        """The variance of one report of a value in grid steps; by default the largest over all values."""
        if step is None:
            return max(self.variance(each) for each in {0, self.steps // 2, self.steps})
        law = self.whole_law(step)
        mean = float(law @ self.values)
        return float(law @ (self.values - mean) ** 2)

    def settings(self) -> dict[str, Any]:
        """The range, the grid, the epsilon asked for, the value of a missing answer, and `mixed`, in JSON types."""
        return {**self.ends.settings(), "mixed": self.mixed}

    def law(self) -> dict[str, Any]:
        """The weights of the window mechanism and of the one-bit channel, in JSON types."""
        window = {"out_of": ONE, "window": self.window, "inside": self.weights[0], "outside": self.weights[1]}
        return {**window, "share": self.share, "bit": self.ends.law()}
