"""The noise of every measurement of one synthesis, fixed from public numbers before any data is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from math import ceil, comb, floor, pi, sqrt
from typing import Final

from scipy import optimize

from bruit.channels import require_scale, require_variance
from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    BoundedRange,
    DiscreteGaussian,
    Loss,
    Neighbours,
    composed,
)
from bruit.privacy.accounting.gaussian import gaussian_epsilon


class Mode(StrEnum):
    """The mode of a synthesis: how the dependence between columns is learnt."""

    ADAPTIVE = "adaptive"
    """Rounds of choosing the worst marginals, measuring them and fitting rows to all of them."""

    TREE = "tree"
    """One tree of pairs, rows drawn from it directly: a few hundredths of a second."""


@dataclass(frozen=True)
class Shares:
    """How a budget is divided: one-way counts, choosing marginals, the audit; the rest measures marginals."""

    singles: Fraction
    choice: Fraction
    audit: Fraction


SHARES: Final = {
    Mode.ADAPTIVE: Shares(Fraction(10, 100), Fraction(3, 100), Fraction(3, 100)),
    Mode.TREE: Shares(Fraction(20, 100), Fraction(10, 100), Fraction(3, 100)),
}
"""Set on UCI Adult (13 columns, 149 cells) by hand; changed for no other table."""

ROUNDS: Final = 5
"""Rounds of choosing, measuring and fitting."""

PICKS: Final = 4
"""Marginals that are measured for each column, over all rounds."""

PRECISION: Final = 2
"""How many times as exactly the pairs of a column that models will predict are counted."""

AUDITED: Final = {Mode.ADAPTIVE: 100, Mode.TREE: 20}
"""Marginals of each order whose misfit is summed."""

ORDERS: Final = (2, 3)
"""Orders that are audited: one-way counts are all measured."""

AUDITS: Final = 2
"""Audits of each order: of its small boxes and of its large ones."""

AFFORDABLE: Final = 0.01
"""Where noise moves a typical marginal by less than this (total variation), more marginals are measured."""

STEPS: Final = 2**40
"""The denominator of the choice parameter: fine enough for an epsilon of 1e-4 and less."""

LARGEST_DEVIATION: Final = 10**7
"""The largest standard deviation of a noisy number of rows: invented rows beyond it would fill the memory."""

SMALLER: Final = Fraction(998, 1000)
MOST_TRIALS: Final = 2000
"""The most reductions of rho, each to 998/1000, before a price is refused as too small for a table."""


@dataclass(frozen=True)
class PublicNumbers:
    """The public numbers that determine a plan: sizes of columns, rows per person, neighbours, mode."""

    sizes: tuple[int, ...]
    rows: int
    neighbours: Neighbours
    mode: Mode = Mode.ADAPTIVE
    expected_rows: int | None = None
    frozen: int = 0
    target: int | None = None

    @property
    def columns(self) -> int:
        """The number of columns measured one by one; a linked table's columns about people are known already."""
        return len(self.sizes) - self.frozen

    @property
    def pairs(self) -> int:
        """The number of pairs of columns that may be measured."""
        return comb(len(self.sizes), 2) - comb(self.frozen, 2)

    @property
    def stated(self) -> tuple[tuple[int, int], ...]:
        """The pairs measured without a choice: those of the column that models will predict, where one is stated."""
        if self.target is None:
            return ()
        others = (i for i in range(len(self.sizes)) if i != self.target)
        return tuple((min(i, self.target), max(i, self.target)) for i in others)

    @property
    def orders(self) -> tuple[int, ...]:
        """The orders (numbers of columns) of the marginals that are audited."""
        return tuple(order for order in ORDERS if order <= len(self.sizes))

    @property
    def audits(self) -> int:
        """The number of noisy sums that the audit asks for."""
        return AUDITS * len(self.orders)

    @property
    def people(self) -> int:
        """How many people's rows differ between neighbours: 1 under add-or-remove, 2 under replacement."""
        return 1 if self.neighbours is ADD_OR_REMOVE_ONE else 2


@dataclass(frozen=True)
class NoisePlan:
    """The noise of every answer of the curator, and the loss, charged once before anything is read.

    One person holds at most `rows` rows. In one marginal those move counts by an l2 distance of at most `rows` (absent
    or present) or sqrt(2) `rows` (exchanged), and by an l1 distance of `rows` or 2 `rows`.

    counts: rho = l2^2 / (2 variance)                               [Canonne, Kamath and Steinke 2020, Theorem 4]
    one choice by scores that move by at most l1: a bounded range   [Cesar & Rogers 2021]
    """

    question: PublicNumbers
    picks: int
    singles: Fraction
    pairs: Fraction
    choice: Fraction | None
    audit: Fraction

    @property
    def l1(self) -> int:
        """The l1 sensitivity of a marginal to one person."""
        return self.question.people * self.question.rows

    @property
    def squared_l2(self) -> int:
        """The squared l2 sensitivity of a marginal to one person."""
        return self.question.people * self.question.rows**2

    @property
    def audited(self) -> int:
        """The largest number of marginals of one order that an audit sums over."""
        return AUDITED[self.question.mode]

    @property
    def stated(self) -> Fraction:
        """The variance of the pairs that were stated beforehand."""
        return _variance(self.pairs / PRECISION)

    @property
    def loss(self) -> Loss:
        """The composed loss of all measurements; it does not depend on which marginals are chosen."""
        asked = self.question
        parts: list[tuple[Loss, int]] = [(self._counts(self.singles), asked.columns)]
        if self.picks:
            parts.append((self._counts(self.pairs), self.picks))
        if self.picks and self.choice is not None:
            parts.append((BoundedRange(self.choice, neighbours=asked.neighbours), self.picks))
        if asked.stated:
            parts.append((self._counts(self.stated), len(asked.stated)))
        if asked.orders:
            parts.append((self._audit(), asked.audits))
        return composed(parts)

    def _counts(self, variance: Fraction) -> Loss:
        return DiscreteGaussian(
            variance, squared_sensitivity=self.squared_l2, entries=self.l1, neighbours=self.question.neighbours
        )

    def _audit(self) -> Loss:
        """One row is in one box of each audited marginal: their summed misfit moves by at most audited * l1."""
        moved = self.audited * self.l1
        return DiscreteGaussian(self.audit, squared_sensitivity=moved**2, neighbours=self.question.neighbours)

    @property
    def size_deviation(self) -> float:
        """The standard deviation of the noisy number of rows: the mean of the totals of all single columns."""
        counted = self.question.sizes[self.question.frozen :]
        return float(sqrt(self.singles / sum(Fraction(1, size) for size in counted)))

    def require_drawable(self) -> None:
        """Refuses noise beyond 64 bits, before anything is charged."""
        for variance in (self.singles, self.pairs, self.stated, self.audit):
            require_variance(variance)
        if self.choice is not None:
            require_scale(2 * self.l1 / self.choice)

    def require_number(self) -> None:
        """Refuses a price at which the number of rows would be noise alone, before anything is charged."""
        if self.size_deviation > LARGEST_DEVIATION:
            raise InvalidArgument(
                f"the number of rows would be off by {self.size_deviation:.1g}: give a larger epsilon or delta, fewer "
                "rows of one person, or size=... where it is public"
            )


def make_plan(question: PublicNumbers, rho: Fraction) -> NoisePlan:
    """The plan whose measurements cost `rho` together under zCDP."""
    shares, l1 = SHARES[question.mode], question.people * question.rows
    squared = question.people * question.rows**2
    marginals, stated = _picks(question, float(rho)), len(question.stated)
    chosen, audits, picks = marginals < question.pairs, question.audits, marginals - stated
    rest = rho * (1 - (shares.choice if chosen else 0) - (shares.audit if audits else 0))
    singles = rho * shares.singles if marginals else rest
    choice = Fraction(floor(sqrt(8 * rho * shares.choice / max(picks, 1)) * STEPS), STEPS)
    counted = picks + PRECISION * stated
    return NoisePlan(
        question,
        picks,
        singles=_variance(question.columns * squared / (2 * singles)),
        pairs=_variance(counted * squared / (2 * (rest - singles))) if counted else Fraction(1),
        choice=choice if chosen and choice else None,
        audit=_variance(max(audits, 1) * (AUDITED[question.mode] * l1) ** 2 / (2 * rho * shares.audit)),
    )


def _picks(question: PublicNumbers, rho: float) -> int:
    """How many marginals are measured: a few for each column, or all pairs where many rows make noise small.

    One marginal of c cells among m has the noise .4 c sqrt(m / (2 rho)) / rows in total variation.
    """
    if question.mode is Mode.TREE:
        return min(len(question.sizes) - 1, question.pairs)
    least = min(PICKS * question.columns, question.pairs)
    if question.expected_rows is None:
        return least
    mean = sum(question.sizes) / len(question.sizes)
    reach = AFFORDABLE * question.expected_rows / (0.4 * mean**2 * question.rows)
    return min(question.pairs, max(least, floor(2 * rho * reach**2)))


def _variance(least: Fraction) -> Fraction:
    """A variance at least this large with a short denominator, which the sampler's quick kernel takes."""
    steps = 16 if least < 10**6 else 1
    return Fraction(ceil(least * steps), steps)


def fit_plan(question: PublicNumbers, fits: Callable[[Loss], bool], *, rho: Fraction) -> NoisePlan:
    """The plan of nearly the largest rho whose loss `fits` a budget; the search starts from `rho`.

    `fits` answers from public numbers only, and the plan that is returned has passed it.
    """
    for _ in range(MOST_TRIALS):
        plan = make_plan(question, rho)
        if fits(plan.loss):
            plan.require_drawable()
            return plan
        rho *= SMALLER
    raise NotPrivate("no noise of a synthetic table fits this price: give a larger epsilon or delta")


def gaussian_rho(question: PublicNumbers, epsilon: float, delta: float) -> Fraction:
    """A first guess of the rho that (epsilon, delta) is worth, treating every part as Gaussian.

    Counts of rho r have the squared shift 2 r, choices of rho r nearly pi r.
    """

    def excess(shift: float) -> float:
        return gaussian_epsilon(shift, delta) - epsilon

    shift = float(optimize.brentq(excess, 1e-12, 10 + 2 * epsilon))
    chosen = _picks(question, shift**2 / 2) < question.pairs
    share = float(SHARES[question.mode].choice) if chosen else 0.0
    return Fraction(shift**2 / (2 * (1 - share) + pi * share)) * SMALLER
