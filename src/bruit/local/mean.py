"""One bit for a mean: what a device sends when only the average of a number is wanted."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.channels import ONE, SymmetricChannel, checked_epsilon, symmetric
from bruit.errors import BadFile, BruitError, InvalidArgument, OutOfDomain
from bruit.local.checking import checked_places
from bruit.local.intervals import Method, clopper_pearson, mid_p
from bruit.local.planning import two_sided
from bruit.privacy import LOCAL, Assumption, Covers, Exact, Guarantee, Interval, Pure, Release, exactly
from bruit.randomness import generator, is_strong, words


@dataclass(frozen=True)
class MeanReports:
    """One bit a respondent."""

    protocol: OneBitMean
    values: NDArray[np.int8]
    seeded: bool = False

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:  # noqa: FBT001
        return np.array(self.values, dtype=dtype, copy=copy)


@dataclass(frozen=True)
class MeanTally:
    """How many respondents sent a one, out of how many; `+` merges two."""

    protocol: OneBitMean
    answers: int
    ones: int
    seeded: bool = False

    def __add__(self, other: MeanTally) -> MeanTally:
        if not isinstance(other, MeanTally):
            return NotImplemented
        if self.protocol != other.protocol:
            raise InvalidArgument("two tallies can be added only when their reports followed the same protocol")
        seeded = self.seeded or other.seeded
        return MeanTally(self.protocol, self.answers + other.answers, self.ones + other.ones, seeded)


@dataclass(frozen=True, init=False)
class OneBitMean:
    """A number from low to high, on a grid, is sent as one bit that is 1 more often the larger it is.

    P(1 | x) = 1 / (e^epsilon + 1) + (x - low) / (high - low) (e^epsilon - 1) / (e^epsilon + 1)
    [Ding, Kulkarni & Yekhanin 2017; it is Duchi's mechanism in one dimension]
    Both bits have a weight between those of the symmetric channel over bits, so the loss is that channel's.
    """

    low: Fraction
    high: Fraction
    grid: Fraction
    epsilon: Fraction

    def __init__(self, low: Exact, high: Exact, *, grid: Exact, epsilon: Exact) -> None:
        bounds = {"low": exactly(low, "low"), "high": exactly(high, "high"), "grid": exactly(grid, "grid")}
        if bounds["low"] >= bounds["high"]:
            raise OutOfDomain(f"low={low}, high={high}: give bounds known before anyone answers, low below high")
        steps = (bounds["high"] - bounds["low"]) / bounds["grid"] if bounds["grid"] > 0 else Fraction(1, 2)
        if steps.denominator != 1 or steps > 1 << 30:
            raise OutOfDomain(
                f"grid={grid} must divide the distance from {low} to {high} into at most 2^30 whole steps"
            )
        for name, value in {**bounds, "epsilon": checked_epsilon(epsilon)}.items():
            object.__setattr__(self, name, value)

    @cached_property
    def channel(self) -> SymmetricChannel:
        """The channel that the two ends of the range see."""
        return symmetric(2, epsilon=self.epsilon)

    @property
    def loss(self) -> Fraction | float:
        """The loss of the channel over bits."""
        return self.channel.epsilon

    @property
    def steps(self) -> int:
        """How many steps of the grid lie between low and high."""
        return int((self.high - self.low) / self.grid)

    def weights(self, steps: NDArray[np.int64]) -> NDArray[np.int64]:
        """The weight of a one, out of 2^52, for values given in steps of the grid; rounded down to a whole number."""
        slope = self.channel.keep - self.channel.other
        part, rest = divmod(slope, self.steps)
        return self.channel.other + steps * part + steps * rest // self.steps

    def randomise(self, values: ArrayLike, rng: np.random.Generator | None = None) -> MeanReports:
        """One bit for each number, on the respondent's own device: numbers are clamped and rounded to the grid."""
        numbers = np.asarray(values, dtype=np.float64).reshape(-1)
        if np.isnan(numbers).any():
            raise InvalidArgument("a missing number has no mean; ask again, or leave the respondent out")
        steps = np.rint((np.clip(numbers, float(self.low), float(self.high)) - float(self.low)) / float(self.grid))
        placed = np.clip(steps, 0, self.steps).astype(np.int64)
        drawn = (words(generator(rng), len(placed)) >> np.uint64(12)).astype(np.int64)
        return MeanReports(self, (drawn < self.weights(placed)).astype(np.int8), seeded=not is_strong(rng))

    def tally(self, reports: MeanReports | ArrayLike) -> MeanTally:
        """How many sent a one."""
        if isinstance(reports, MeanReports) and reports.protocol != self:
            raise InvalidArgument("these reports followed another protocol; tally them with the protocol they carry")
        values = checked_places(np.asarray(reports), 2)
        return MeanTally(self, len(values), int(values.sum()), isinstance(reports, MeanReports) and reports.seeded)

    def estimate(self, tally: MeanTally, confidence: float = 0.95, *, method: Method = "exact") -> Release[float]:
        """The mean, unbiased, with an interval that covers for the population and for this table alike.

        The number of ones is a sum of coins of different chances: Clopper–Pearson covers their mean chance, and the
        mean is a straight line of it.                                                   [Hoeffding 1956, Theorem 5]
        """
        if tally.protocol != self:
            raise InvalidArgument("this tally is of another protocol; estimate it with the protocol it carries")
        if tally.answers == 0:
            raise InvalidArgument("an empty survey has no mean: tally at least one report")
        z, makers = two_sided(confidence), {"exact": clopper_pearson, "mid-p": mid_p}
        if method not in makers:
            raise InvalidArgument(f"method={method!r}: a mean has 'exact' or 'mid-p' intervals")
        low, high = (self.unmixed(end) for end in makers[method](np.array([tally.ones]), tally.answers, 1 - confidence))
        value = self.unmixed(tally.ones / tally.answers)
        ends = (float(self.low), float(self.high))
        return Release(
            value=float(value),
            guarantee=self.guarantee(seeded=tally.seeded),
            method="local.OneBitMean",
            interval=Interval(np.clip(low, *ends)[0], np.clip(high, *ends)[0], confidence, Covers.POPULATION),
            noise=z * self._deviation(tally.answers),
            details={
                "answers": tally.answers,
                "raw": float(value),
                "raw_low": float(low[0]),
                "raw_high": float(high[0]),
            },
        )

    def expected_error(self, answers: int, *, confidence: float = 0.95) -> float:
        """The largest half-width of the interval of the mean after so many answers."""
        if isinstance(answers, bool) or answers < 1:
            raise InvalidArgument(f"answers={answers!r}: at least one person must answer")
        return two_sided(confidence) * self._deviation(answers)

    def answers_for(self, *, error: float, confidence: float = 0.95) -> int:
        """How many people must answer for a half-width of at most `error`."""
        if not error > 0:
            raise InvalidArgument(f"error={error} must be above 0: the half-width of the mean")
        return max(1, int(np.ceil((two_sided(confidence) * self._deviation(1) / error) ** 2)))

    def privacy(self) -> Pure:
        """The loss of one report, to be added to others."""
        return Pure(self.epsilon, neighbours=LOCAL)

    def guarantee(self, *, seeded: bool = False) -> Guarantee:
        """What one respondent is promised, whatever the collector does."""
        assumed = (Assumption.SEEDED,) if seeded else ()
        return Guarantee(self.epsilon, Fraction(0), LOCAL, "one respondent", "law", assumed)

    def to_json(self) -> dict[str, Any]:
        """Everything that makes this protocol again, with its law, in JSON types."""
        settings = {name: str(getattr(self, name)) for name in ("low", "high", "grid", "epsilon")}
        return {"protocol": "OneBitMean", "version": 1, "settings": settings, "law": self.channel.to_json()}

    def unmixed(self, share: Any) -> Any:
        """The mean that a share of ones stands for."""
        p, q = self.channel.keep / ONE, self.channel.other / ONE
        return float(self.low) + float(self.high - self.low) * (share - q) / (p - q)

    def _deviation(self, answers: int) -> float:
        """The deviation of the mean at its worst, a fair coin: (high - low) / (2 (p - q) sqrt(n))."""
        gap = (self.channel.keep - self.channel.other) / ONE
        return float(self.high - self.low) / (2 * gap * math.sqrt(answers))


def mean_from_json(description: dict[str, Any]) -> OneBitMean:
    """The protocol that `to_json` described: it is made again from its settings and must come out the same."""
    try:
        protocol = OneBitMean(**description["settings"])
    except (BruitError, KeyError, TypeError, ValueError) as error:
        raise BadFile(
            "this block describes no protocol for a mean: it was cut, or written by something else"
        ) from error
    if protocol.to_json() != description:
        raise BadFile("this protocol does not come out as the block says: a parameter was changed after it was written")
    return protocol
