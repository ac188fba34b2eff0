"""One-bit mean estimation: each respondent sends one random bit for a bounded number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.channels import ONE, SymmetricChannel, symmetric
from bruit.core.numbers import Exact
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.local.estimation.binomial import clopper_pearson, mid_p
from bruit.local.forecasts import checked_people, two_sided
from bruit.local.loss_proof import prove
from bruit.local.means.protocol import MeanProtocol
from bruit.local.offering import Offer, ReportShape
from bruit.local.received import checked_places
from bruit.local.tally import Reports
from bruit.randomness import generator, is_strong, words


@dataclass(frozen=True)
class MeanTally:
    """How many respondents sent a one, and how many sent any bit; `+` merges two tallies."""

    protocol: OneBitMean
    people: int
    ones: int
    seeded: bool = False

    def __add__(self, other: MeanTally) -> MeanTally:
        if not isinstance(other, MeanTally):
            return NotImplemented
        if self.protocol != other.protocol:
            raise InvalidArgument("two tallies can be added only when their reports followed the same protocol")
        seeded = self.seeded or other.seeded
        return MeanTally(self.protocol, self.people + other.people, self.ones + other.ones, seeded)

    def to_json(self) -> dict[str, Any]:
        """The tally in JSON types, with its protocol."""
        counts = [self.people - self.ones, self.ones]
        return {"protocol": self.protocol.to_json(), "counts": counts, "seeded": self.seeded}


@dataclass(frozen=True, init=False)
class OneBitMean(MeanProtocol):
    """Sends a number from low to high, on a grid, as one bit whose probability of 1 grows with the number.

    P(1 | x) = 1 / (e^epsilon + 1) + (x - low) / (high - low) (e^epsilon - 1) / (e^epsilon + 1)
    [Ding, Kulkarni & Yekhanin 2017; it is Duchi's mechanism in one dimension]
    Both bits have a weight between those of the symmetric channel over bits, so the loss is that channel's.
    """

    offer: ClassVar[Offer | None] = Offer(
        lambda epsilon: OneBitMean(0, 10, grid=5, epsilon=epsilon),
        report=ReportShape.PLACE,
    )

    def __init__(self, low: Exact, high: Exact, *, grid: Exact, epsilon: Exact, missing: Exact | None = None) -> None:
        super().__init__(low, high, grid=grid, epsilon=epsilon, missing=missing)
        prove(self.loss, self.epsilon, gap=self.channel.keep - self.channel.other)

    @cached_property
    def channel(self) -> SymmetricChannel:
        """The binary channel for the two ends of the range."""
        return symmetric(2, epsilon=self.epsilon)

    @property
    def loss(self) -> Fraction | float:
        """The privacy loss of the binary channel."""
        return self.channel.epsilon

    def weights(self, steps: NDArray[np.int64]) -> NDArray[np.int64]:
        """The weight of a one, out of 2^52, for values given in grid steps; rounded down."""
        slope = self.channel.keep - self.channel.other
        part, rest = divmod(slope, self.steps)
        return self.channel.other + steps * part + steps * rest // self.steps

    def randomise(self, values: ArrayLike, *, rng: np.random.Generator | None = None) -> Reports:
        """One bit for each answer, on the respondent's own device: numbers are clamped and rounded to the grid."""
        placed = self._steps(values)
        drawn = (words(generator(rng), len(placed)) >> np.uint64(12)).astype(np.int64)
        return Reports(self, (drawn < self.weights(placed)).astype(np.int64), seeded=not is_strong(rng))

    def tally(self, reports: Reports | ArrayLike) -> MeanTally:
        """How many respondents sent a one, as a `MeanTally`."""
        received, seeded = self._received(reports)
        values = checked_places(received, 2)
        return MeanTally(self, len(values), int(values.sum()), seeded)

    def _counted(self, counts: list[int], *, seeded: bool) -> MeanTally:
        """The tally of so many zeros and ones."""
        zeros, ones = counts
        return MeanTally(self, zeros + ones, ones, seeded)

    def estimate(
        self, tally: MeanTally, confidence: float = 0.95, *, method: Literal["exact", "mid-p"] = "exact"
    ) -> Release[float]:
        """The unbiased mean with a confidence interval, valid both for the population and for these respondents.

        The number of ones is a sum of coins of different chances: Clopper–Pearson covers their mean chance, and the
        mean is a straight line of it.                                                   [Hoeffding 1956, Theorem 5]
        """
        self._check(tally)
        z, makers = two_sided(confidence), {"exact": clopper_pearson, "mid-p": mid_p}
        if method not in makers:
            raise InvalidArgument(f"method={method!r}: a mean has 'exact' or 'mid-p' intervals")
        low, high = makers[method](np.array([tally.ones]), tally.people, 1 - confidence)
        raw = tuple(float(self.unmixed(share)) for share in (tally.ones / tally.people, low[0], high[0]))
        noise = z * self._deviation(tally.people)
        return self._released(raw, tally=tally, confidence=confidence, method=method, noise=noise)  # type: ignore[arg-type]

    def expected_error(self, people: int, *, confidence: float = 0.95) -> float:
        """The half-width, before clipping, of the exact interval at its widest: when half of the bits are ones."""
        two_sided(confidence)
        people = checked_people(people)
        low, high = (self.unmixed(end) for end in clopper_pearson(people / 2, people, 1 - confidence))
        return float(high - low) / 2

    def settings(self) -> dict[str, Any]:
        """The range, the grid, the epsilon asked for and the value of a missing answer, in JSON types."""
        return {name: str(getattr(self, name)) for name in ("low", "high", "grid", "epsilon", "missing")}

    def law(self) -> dict[str, Any]:
        """The weights of the binary channel for the two ends of the range, in JSON types."""
        return self.channel.to_json()

    def unmixed(self, share: Any) -> Any:
        """The unbiased mean from the share of ones."""
        return float(self.low) + float(self.high - self.low) * self.channel.support.unmix(share)

    def variance(self, step: int | None = None) -> float:
        """The variance of one report of a value in grid steps; by default the largest, that of a fair coin."""
        one = 0.5 if step is None else float(self.weights(np.array([step]))[0]) / ONE
        return float(one * (1 - one) * (float(self.high - self.low) / self.channel.support.gap) ** 2)

    def _deviation(self, people: int) -> float:
        """The deviation of the mean at its worst, a fair coin: (high - low) / (2 (p - q) sqrt(n))."""
        return math.sqrt(self.variance() / people)
