"""The base class of mean protocols: the range of the numbers, and forecasts before a survey."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bruit.channels import checked_epsilon
from bruit.core.guarantee import Assumption, Guarantee
from bruit.core.intervals import Covers, Interval
from bruit.core.losses import Pure
from bruit.core.neighbours import LOCAL
from bruit.core.numbers import Exact
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.local import forecasts
from bruit.local.means.numbers import checked_range, grid_steps
from bruit.local.protocol import LocalProtocol, TallyKind
from bruit.local.tally import Reports

VERSION = 2


@dataclass(frozen=True, init=False)
class MeanProtocol(LocalProtocol):
    """Numbers from low to high in steps of `grid`; others are clamped, and an answer that is no number is `missing`.

    So every answer yields a report, and nobody learns from an error what an answer was. `missing` is the middle of
    the range unless it is stated.
    """

    low: Fraction
    high: Fraction
    grid: Fraction
    epsilon: Fraction
    missing: Fraction

    def __init__(self, low: Exact, high: Exact, *, grid: Exact, epsilon: Exact, missing: Exact | None = None) -> None:
        for name, value in {**checked_range(low, high, grid, missing), "epsilon": checked_epsilon(epsilon)}.items():
            object.__setattr__(self, name, value)

    @property
    def steps(self) -> int:
        """The number of grid steps between low and high."""
        return int((self.high - self.low) / self.grid)

    @property
    @abstractmethod
    def loss(self) -> Fraction | float:
        """The privacy loss (largest log-likelihood ratio of a report), from integer weights, rounded up; <= epsilon."""

    @abstractmethod
    def expected_error(self, people: int, *, confidence: float = 0.95) -> float:
        """The largest half-width, before clipping, of the interval of the mean for this many people."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The arguments that recreate this protocol, in JSON types."""

    @abstractmethod
    def law(self) -> dict[str, Any]:
        """The integer weights of the report distribution, in JSON types."""

    @abstractmethod
    def _counted(self, counts: list[int], *, seeded: bool) -> TallyKind:
        """The tally of so many reports of each kind."""

    def tally_of(self, counts: Any, people: Any, *, seeded: bool = False) -> TallyKind:
        """A tally from the number of people and the count of each kind of report."""
        numbers = [int(count) for count in counts]
        if min(numbers) < 0 or sum(numbers) != int(people):
            raise InvalidArgument("counts of reports are not below 0, and add up to the number of people")
        return self._counted(numbers, seeded=seeded)

    def people_for(self, *, error: float, confidence: float = 0.95) -> int:
        """How many people must answer for a half-width of at most `error`."""
        return forecasts.least_people(lambda n: self.expected_error(n, confidence=confidence), error)

    def epsilon_for(self, *, error: float, people: int, confidence: float = 0.95) -> float:
        """The least epsilon, to four decimals, at which this many people give a half-width of at most `error`."""
        return forecasts.epsilon_for(lambda e: self.at(e).expected_error(people, confidence=confidence), error)

    def at(self, epsilon: float) -> Self:
        """The same protocol at another epsilon."""
        return type(self)(**{**self.settings(), "epsilon": epsilon})

    def privacy(self) -> Pure:
        """The privacy loss of one report, ready to be composed."""
        return Pure(self.epsilon, neighbours=LOCAL)

    def guarantee(self, *, seeded: bool = False) -> Guarantee:
        """The privacy guarantee of one respondent, which needs no trust in the collector."""
        assumed = (Assumption.SEEDED,) if seeded else ()
        return Guarantee(self.epsilon, Fraction(0), LOCAL, "one respondent", "law", assumed)

    def to_json(self) -> dict[str, Any]:
        """All settings needed to recreate this protocol, with its integer weights, in JSON types."""
        name = type(self).__name__
        return {"protocol": name, "version": VERSION, "settings": self.settings(), "law": self.law()}

    @classmethod
    def _from_json(cls, block: Mapping[str, Any]) -> Self:
        return cls(**block["settings"])

    def _tally_from_json(self, block: Mapping[str, Any], *, seeded: bool) -> TallyKind:
        return self.tally_of(block["counts"], sum(block["counts"]), seeded=seeded)

    def _steps(self, values: Any) -> NDArray[np.int64]:
        return grid_steps(values, low=self.low, high=self.high, grid=self.grid, missing=self.missing)

    def _received(self, reports: Any) -> tuple[NDArray[Any], bool]:
        """The values of reports of this protocol, and whether their noise was seeded."""
        if not isinstance(reports, Reports):
            return np.asarray(reports), False
        if reports.protocol != self:
            raise InvalidArgument("these reports followed another protocol; tally them with the protocol they carry")
        return reports.values, reports.seeded

    def _released(
        self, raw: tuple[float, float, float], *, tally: Any, confidence: float, method: str, noise: float
    ) -> Release[float]:
        """A mean with its interval, given as value, low end and high end before clipping."""
        value, low, high = map(float, raw)
        ends = (float(self.low), float(self.high))
        return Release(
            value=value,
            guarantee=self.guarantee(seeded=tally.seeded),
            method=f"local.{type(self).__name__}",
            interval=Interval(np.clip(low, *ends), np.clip(high, *ends), confidence, Covers.POPULATION),
            noise=noise,
            details={
                "answers": tally.people,
                "raw": value,
                "raw_low": low,
                "raw_high": high,
                "intervals": method,
                "approximate": method != "exact",
            },
        )

    def _check(self, tally: Any, least: int = 1) -> None:
        if tally.protocol != self:
            raise InvalidArgument("this tally is of another protocol; estimate it with the protocol it carries")
        if tally.people < least:
            raise InvalidArgument(f"an empty survey has no mean: tally at least {least} report{'s' * (least > 1)}")
