"""The base class of frequency protocols: randomise on the respondent's side, tally and estimate on the collector's."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from fractions import Fraction
from typing import Any, Self

import numpy as np
import polars
from numpy.typing import ArrayLike, NDArray

from bruit.channels import Support
from bruit.core.guarantee import Assumption, Guarantee
from bruit.core.intervals import Covers
from bruit.core.losses import Pure
from bruit.core.neighbours import LOCAL
from bruit.core.release import Release
from bruit.errors import InvalidArgument, NotPrivate
from bruit.local import forecasts
from bruit.local.categories import CategoryList
from bruit.local.estimation.estimate import Adjustment, Method, estimate
from bruit.local.loss_proof import prove
from bruit.local.protocol import LocalProtocol
from bruit.local.tally import Reports, Tally, round_counts
from bruit.randomness import generator, is_strong

VERSION = 1


class FrequencyProtocol(LocalProtocol):
    """A local protocol over categories: each report supports some categories, the true one more often than others.

    It means one answer a person, so the shares of the categories sum to one; a question with several answers a person
    is several protocols (`Attributes`). A subclass says how a report is made and which categories it supports, and
    proves its loss from its integers.
    """

    categories: CategoryList

    def _fix(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _prove(self, *, gap: int) -> None:
        """Ends every constructor: refuses a law that loses more than epsilon, or that says nothing."""
        prove(self.loss, self.epsilon, gap=gap)
        if np.any(np.asarray(self.support.gap) <= 0):
            raise InvalidArgument("the true answer must be supported more often than another; take a larger epsilon")

    @property
    @abstractmethod
    def loss(self) -> Fraction | float:
        """The privacy loss (largest log-likelihood ratio of a report), from integer weights, rounded up; <= epsilon."""

    @property
    @abstractmethod
    def support(self) -> Support:
        """Probabilities that a report supports the true category, and a given other one."""

    @abstractmethod
    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[Any]:
        """One report a row for answers given by their place."""

    @abstractmethod
    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        """The reports in the type that the kernels take; refuses what no respondent of this protocol sends."""

    @abstractmethod
    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """How many of the reports support each category."""

    @abstractmethod
    def settings(self) -> dict[str, Any]:
        """The keyword arguments, beside the categories, that recreate this protocol, in JSON types."""

    def law(self) -> dict[str, Any]:
        """The integer weights of the report distribution, in JSON types, for devices that make their own reports."""
        return {}

    # ------------------------------------------------------------ the three steps
    def randomise(
        self, values: ArrayLike | polars.Series | Iterable[Any], *, rng: np.random.Generator | None = None
    ) -> Reports:
        """One report for each answer; this is the step that runs on the respondent's own device."""
        return Reports(self, self._report(self.categories.indices(values), generator(rng)), seeded=not is_strong(rng))

    def tally(self, reports: Reports | ArrayLike, *, round: int | None = None) -> Tally:  # noqa: A002
        """How many reports support each category, as a `Tally`.

        `round` says the how-manyth report of its respondent each of them is, where the reports do not say so: those who
        report again are no new respondents, and an interval must not count them as such.
        """
        if isinstance(reports, Reports) and reports.protocol != self:
            raise InvalidArgument("these reports followed another protocol; tally them with the protocol they carry")
        values = self._check(np.asarray(reports.values if isinstance(reports, Reports) else reports))
        known = isinstance(reports, Reports)
        rounds = round_counts(round, reports.round if known else 1, len(values))  # type: ignore[union-attr]
        return Tally(self, len(values), self._count(values), known and reports.seeded, rounds)  # type: ignore[union-attr]

    def tally_of(self, counts: ArrayLike, people: Any, *, seeded: bool = False, rounds: Sequence[int] = ()) -> Tally:
        """A tally from the number of people and the count of supporting reports of each category."""
        tally = Tally(self, int(people), np.array(counts, dtype=np.int64), seeded, tuple(rounds))
        supported = tally.counts
        if supported.shape != self.empty().counts.shape or (supported < 0).any() or (supported > tally.people).any():
            raise InvalidArgument("each category is supported by none of the reports, by all, or by some")
        return tally

    def empty(self) -> Tally:
        """The tally of no reports, to add others to."""
        return Tally(self, 0, np.zeros(len(self.categories), np.int64))

    def estimate(
        self,
        tally: Tally,
        confidence: float = 0.95,
        *,
        covers: Covers = Covers.POPULATION,
        method: Method = "exact",
        joint: bool = False,
        adjust: Adjustment = "none",
    ) -> Release[NDArray[np.float64]]:
        """The share of respondents who hold each answer, with intervals; unbiased unless an adjustment is asked for."""
        return estimate(self, tally, confidence, covers=covers, method=method, joint=joint, adjust=adjust)

    # ------------------------------------------------------------ before anyone is asked
    def expected_error(self, people: int, *, share: float | None = None, confidence: float = 0.95) -> float:
        """The half-width of the interval of one share (by default the worst) for this many people."""
        return forecasts.expected_error(self.support, people, share=share, confidence=confidence)

    def people_for(self, *, error: float, share: float | None = None, confidence: float = 0.95) -> int:
        """How many people must answer for a half-width of at most `error`."""
        return forecasts.least_people(
            lambda n: self.expected_error(n, share=share, confidence=confidence), forecasts.share_error(error)
        )

    def epsilon_for(self, *, error: float, people: int, share: float | None = None, confidence: float = 0.95) -> float:
        """The least epsilon, to four decimals, at which this many people give a half-width of at most `error`."""
        return forecasts.epsilon_for(
            lambda epsilon: self.at(epsilon).expected_error(people, share=share, confidence=confidence),
            forecasts.share_error(error),
        )

    def at(self, epsilon: float) -> Self:
        """The same protocol at another epsilon."""
        return self._again(epsilon=epsilon)

    def _again(self, **changed: Any) -> Self:
        return type(self)._make(self.categories, {**self.settings(), **changed})  # type: ignore[return-value]

    # ------------------------------------------------------------ what it promises
    def privacy(self) -> Pure:
        """The privacy loss of one report, ready to be composed; refused for a protocol with infinite epsilon."""
        if math.isinf(self.epsilon):
            raise NotPrivate(
                f"{type(self).__name__} has an infinite epsilon: some of its reports tell the answer for certain; "
                "use it for teaching, and another protocol for people"
            )
        return Pure(Fraction(self.epsilon), neighbours=LOCAL)

    def guarantee(self, *, seeded: bool = False) -> Guarantee:
        """The privacy guarantee of one respondent, which needs no trust in the collector."""
        assumed = (Assumption.SEEDED,) if seeded else ()
        return Guarantee(self.epsilon, Fraction(0), LOCAL, "one respondent", "law", assumed)

    # ------------------------------------------------------------ files
    def to_json(self) -> dict[str, Any]:
        """All settings needed to recreate this protocol, with its integer weights, in JSON types."""
        return {
            "protocol": type(self).__name__,
            "version": VERSION,
            "categories": list(self.categories.listed),
            "other": self.categories.other,
            "settings": self.settings(),
            "epsilon": str(self.epsilon),
            "law": self.law(),
        }

    @classmethod
    def _make(cls, categories: CategoryList, settings: Mapping[str, Any]) -> FrequencyProtocol:
        return cls(categories.listed, other=categories.other, **settings)  # type: ignore[call-arg]

    @classmethod
    def _from_json(cls, block: Mapping[str, Any]) -> FrequencyProtocol:
        return cls._make(CategoryList(tuple(block["categories"]), block["other"]), block["settings"])

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        return all(getattr(self, field.name) == getattr(other, field.name) for field in fields(self))  # type: ignore[arg-type]

    def __hash__(self) -> int:
        return hash(tuple(getattr(self, field.name) for field in fields(self)))  # type: ignore[arg-type]
