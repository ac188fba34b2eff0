"""Protocols for a repeated question: a permanent noisy response is memoised, and each report adds fresh noise.

Averaging many fresh answers would wash fresh noise out. Here each different value is noised once, permanently, at a
loss of `forever`; every report adds instantaneous noise so that one report alone costs only `epsilon`. What is hidden
is which answer was given: that it changed, and when, the reports tell the better the more there are.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import ceil
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from bruit.channels import (
    ONE,
    FiniteChannel,
    Support,
    SymmetricChannel,
    binary,
    checked_epsilon,
    log_above,
    share,
    symmetric,
)
from bruit.core.arguments import whole
from bruit.core.guarantee import Guarantee, print_above
from bruit.core.losses import Pure
from bruit.core.neighbours import LOCAL
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument
from bruit.local.categories import Categories, CategoryList, category_list
from bruit.local.frequencies import bits
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.loss_proof import either_way
from bruit.local.offering import EXAMPLE, Offer, ReportShape
from bruit.local.received import checked_bits, checked_places

MOST_EXACT = 10_000
"""Beyond this many reports the exact loss is not computed: it is nearly `forever`, and its integers grow long."""


@dataclass(frozen=True, init=False, eq=False)
class Longitudinal(FrequencyProtocol):
    """A protocol of two stages; `epsilon` is the loss of a first report, `forever` that of all reports of one value."""

    categories: CategoryList
    epsilon: Fraction
    forever: Fraction

    def __init__(self, categories: Categories, *, epsilon: Exact, forever: Exact, other: bool = False) -> None:
        allowed, once, always = (
            category_list(categories, other=other),
            checked_epsilon(epsilon),
            checked_epsilon(forever),
        )
        if once >= always:
            raise InvalidArgument(f"epsilon={epsilon} of one report must be below forever={forever} of all reports")
        self._fix(categories=allowed, epsilon=once, forever=always)
        self._prove(gap=self._gap)

    @property
    @abstractmethod
    def _gap(self) -> int:
        """By how much a report favours the true answer, in weight, after both stages."""

    @property
    def states(self) -> int:
        """How many different states (answers, or buckets) a client may ever memoise a response for."""
        return len(self.categories)

    def after(self, reports: int) -> Fraction:
        """The exact loss of this many reports of one answer, rounded up; beyond `MOST_EXACT` reports, `forever`."""
        count = whole(reports, "reports")
        return self.forever if count > MOST_EXACT else min(self._loss_after(count), self.forever)

    @abstractmethod
    def _loss_after(self, reports: int) -> Fraction:
        """The loss of the most telling reports of one answer, from the integers of both stages."""

    def after_changes(self, reports: int) -> Fraction:
        """An upper bound on the loss of this many reports, whatever else the answers were and whenever they changed.

        Memoised responses repeat themselves as the answers do: who always gave one answer and who gave another now and
        then are told apart however alike the answers are, and only the fresh noise hides it: of every report after the
        first one by itself, whatever the memories are.
        """
        return self.epsilon + (whole(reports, "reports") - 1) * self._fresh_loss

    def privacy(self, *, reports: int = 1) -> Pure:
        """The privacy loss of so many reports of one respondent, ready to be composed with other losses.

        That of several reports is not so many times that of one: they come from the same memories (`after_changes`).
        """
        return Pure(self.after_changes(reports), neighbours=LOCAL)

    @property
    @abstractmethod
    def _fresh_loss(self) -> Fraction:
        """By how much one report tells two memoised responses apart, rounded up."""

    def guarantee(self, *, seeded: bool = False, reports: int | None = None) -> Guarantee:
        """The privacy guarantee of one respondent over `reports` reports of one answer, or any number of reports."""
        promised = super().guarantee(seeded=seeded)
        if reports is not None:
            person = f"one respondent, {reports} report{'s' * (reports != 1)} of one answer"
            return replace(promised, epsilon=self.after(reports), person=person)
        first = print_above(self.epsilon, digits=4)
        person = f"one respondent, any number of reports of one answer (a first report ε = {first})"
        return replace(promised, epsilon=self.forever, person=person)

    @abstractmethod
    def memoise(self, places: NDArray[np.int32], *, rng: np.random.Generator) -> NDArray[Any]:
        """The permanent response to each answer; a client draws it once for each and keeps it."""

    @abstractmethod
    def respond(self, memoised: NDArray[Any], *, rng: np.random.Generator) -> NDArray[Any]:
        """A fresh report of each memoised response."""

    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[Any]:
        return self.respond(self.memoise(places, rng=rng), rng=rng)

    def settings(self) -> dict[str, Any]:
        """The epsilon of one report and of all reports, in JSON types."""
        return {"epsilon": str(self.epsilon), "forever": str(self.forever)}

    def at(self, epsilon: float) -> Self:
        """The same protocol with another epsilon of one report; `forever` keeps its ratio to epsilon."""
        always = min(Fraction(36), self.forever / self.epsilon * checked_epsilon(epsilon))
        return self._again(epsilon=epsilon, forever=always)


class SymmetricStages(Longitudinal):
    """A longitudinal protocol of two symmetric channels in series."""

    @cached_property
    def permanent(self) -> SymmetricChannel:
        """The channel of the memoised stage, with loss at most `forever`."""
        return symmetric(self.states, epsilon=self.forever)

    @cached_property
    def instantaneous(self) -> SymmetricChannel:
        """The channel of the fresh stage, chosen so that both stages in series lose at most `epsilon`."""
        return second_stage(self.permanent, self.epsilon)

    @cached_property
    def loss(self) -> Fraction:
        """The privacy loss of one report through both stages, from integer weights, rounded up."""
        return series_loss(self.permanent, self.instantaneous)

    def _loss_after(self, reports: int) -> Fraction:
        """Reports that all say one state are the most telling for it, against any other.

        A sequence in which state m occurs c_m times has, given the answer v, a chance in proportion to
        other W + (keep - other) r^c_v with W = sum_m r^c_m and r the odds of the fresh stage. r^c_v / W is largest and
        r^c_w / W least where c_v is all of them, since r^c is convex in c.
        """
        first, kept, moved = self.permanent, self.instantaneous.keep**reports, self.instantaneous.other**reports
        true = first.keep * kept + (first.size - 1) * first.other * moved
        false = first.other * kept + (first.keep + (first.size - 2) * first.other) * moved
        return either_way(true, false)

    @property
    def _fresh_loss(self) -> Fraction:
        return either_way(self.instantaneous.keep, self.instantaneous.other)

    @property
    def _gap(self) -> int:
        return self.instantaneous.keep - self.instantaneous.other

    def law(self) -> dict[str, Any]:
        """The weights of the two channels, in JSON types."""
        return {"permanent": self.permanent.to_json(), "instantaneous": self.instantaneous.to_json()}


class LongitudinalKRR(SymmetricStages):
    """k-ary randomised response twice in series (L-GRR).                                  [Arcolezi et al. 2022]"""

    offer: ClassVar[Offer | None] = Offer(
        lambda epsilon: LongitudinalKRR(EXAMPLE, epsilon=epsilon, forever=2 * exactly(epsilon, "epsilon")),
        report=ReportShape.PLACE,
    )

    @cached_property
    def support(self) -> Support:
        """Probabilities, through both stages, that the true category is reported, and that a given other one is."""
        keep, other = series(self.permanent, self.instantaneous)
        return Support(keep / ONE**2, other / ONE**2)

    def memoise(self, places: NDArray[np.int32], *, rng: np.random.Generator) -> NDArray[np.int32]:
        """The permanent response to each answer, by randomised response of loss `forever`."""
        return self.permanent.send(places, rng=rng)

    def respond(self, memoised: NDArray[Any], *, rng: np.random.Generator) -> NDArray[np.int32]:
        """A fresh report of each memoised response, by a second randomised response."""
        return self.instantaneous.send(memoised, rng=rng)

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        return checked_places(values, len(self.categories))

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(values, minlength=len(self.categories)).astype(np.int64)


class LongitudinalOUE(Longitudinal):
    """Optimised unary encoding, then symmetric noise on each bit (L-OSUE).                  [Arcolezi et al. 2022]"""

    offer: ClassVar[Offer | None] = Offer(
        lambda epsilon: LongitudinalOUE(EXAMPLE, epsilon=epsilon, forever=2 * exactly(epsilon, "epsilon")),
        report=ReportShape.BITS,
    )

    @cached_property
    def permanent(self) -> tuple[int, int]:
        """The weights of a memoised one at the true category and at another: 1/2 and 1 / (e^forever + 1)."""
        false = share(self.forever, 1)
        while log_above(ONE - false, false) > self.forever:
            false += 1
        return ONE // 2, false

    @cached_property
    def instantaneous(self) -> FiniteChannel:
        """The symmetric channel over bits with the least error that keeps one report at `epsilon`."""
        low, high = 0, ONE // 2
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self._loss(middle) <= self.epsilon else (middle, high)
        return binary(error=Fraction(high, ONE))

    def _ones(self, error: int) -> tuple[int, int]:
        """The weights of a reported one, out of 2^104, at the true category and at another."""
        true, false = self.permanent
        return tuple(one * (ONE - error) + (ONE - one) * error for one in (true, false))  # type: ignore[return-value]

    def _loss(self, error: int) -> Fraction:
        true, false = self._ones(error)
        return either_way(true * (ONE**2 - false), false * (ONE**2 - true))

    def _loss_after(self, reports: int) -> Fraction:
        """All ones at the answer and all zeros at another are the most telling reports.

        The ones of a bit's reports are a mixture of two binomial laws, whose likelihood ratio R grows with their
        number: the loss is ln(R(n) / R(0)), as for RAPPOR.
        """
        (true, false), error = self.permanent, int(self.instantaneous.weights[0, 1])
        kept, moved = (ONE - error) ** reports, error**reports
        ones_true, ones_false = (one * kept + (ONE - one) * moved for one in (true, false))
        zeros_true, zeros_false = (one * moved + (ONE - one) * kept for one in (true, false))
        return either_way(ones_true * zeros_false, ones_false * zeros_true)

    @property
    def _fresh_loss(self) -> Fraction:
        error = int(self.instantaneous.weights[0, 1])
        return len(self.categories) * either_way(ONE - error, error)

    @property
    def _gap(self) -> int:
        true, false = self._ones(int(self.instantaneous.weights[0, 1]))
        return true - false

    @cached_property
    def loss(self) -> Fraction:
        """The privacy loss of one report through both stages, from integer weights, rounded up."""
        return self._loss(int(self.instantaneous.weights[0, 1]))

    @cached_property
    def support(self) -> Support:
        """Probabilities, through both stages, of a one at the true category, and at a given other one."""
        true, false = self._ones(int(self.instantaneous.weights[0, 1]))
        return Support(true / ONE**2, false / ONE**2)

    def memoise(self, places: NDArray[np.int32], *, rng: np.random.Generator) -> NDArray[np.uint64]:
        """The permanent noisy bits for each answer, of loss `forever`."""
        true, false = self.permanent
        return bits.noisy_positions(places, len(self.categories), true=true, false=false, rng=rng)

    def respond(self, memoised: NDArray[Any], *, rng: np.random.Generator) -> NDArray[np.uint64]:
        """A fresh report: every memoised bit sent through symmetric noise."""
        return bits.through(self.instantaneous, memoised, len(self.categories), rng)

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        return checked_bits(values, len(self.categories))

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        return bits.ones(values, len(self.categories))

    def law(self) -> dict[str, Any]:
        """The law of both stages in JSON types: how often a permanent bit is 1, and the channel of the fresh noise."""
        return {"out_of": ONE, "permanent": list(self.permanent), "instantaneous": self.instantaneous.to_json()}


def series(first: SymmetricChannel, second: SymmetricChannel) -> tuple[int, int]:
    """The weights, out of 2^104, of two channels in series: of keeping a symbol, and of a given other one."""
    moved = first.keep * second.other + first.other * second.keep + (first.size - 2) * first.other * second.other
    return ONE**2 - (first.size - 1) * moved, moved


def series_loss(first: SymmetricChannel, second: SymmetricChannel) -> Fraction:
    """The loss of two symmetric channels in series, rounded up."""
    keep, other = series(first, second)
    return either_way(keep, other)


def second_stage(first: SymmetricChannel, epsilon: Fraction) -> SymmetricChannel:
    """The symmetric channel with the least noise that, after `first`, leaves a loss of at most epsilon.

    The gaps p - q of two stages multiply; the loss of the series fixes its gap.
    """
    size, wanted = first.size, symmetric(first.size, epsilon=epsilon)
    gap = Fraction(wanted.keep - wanted.other, first.keep - first.other)
    other = ceil((1 - gap) * ONE / size)
    while True:
        second = SymmetricChannel(size, ONE - (size - 1) * other, other)
        if second.keep <= second.other or series_loss(first, second) <= epsilon:
            return second
        other += 1
