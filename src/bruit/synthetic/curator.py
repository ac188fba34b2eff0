"""The only code that reads people's rows: answers exactly what the plan paid for, with integer noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bruit.errors import PrivacyError
from bruit.randomness import discrete_gaussian, geometric, uniform_below
from bruit.synthetic.gibbs import Measured
from bruit.synthetic.marginals import Clique, Columns, Counts, Partition, count_cells
from bruit.synthetic.plan import AUDITS, NoisePlan

BATCH = 256
"""Candidates that are drawn and tried at a time."""


class Curator:
    """Answers queries with exact integer noise; the plan fixes which ones and how many."""

    def __init__(
        self,
        columns: Columns,
        plan: NoisePlan,
        rng: np.random.Generator,
        *,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> None:
        self._columns, self.plan, self._rng, self._on_progress = columns, plan, rng, on_progress
        self.sizes = np.array(plan.question.sizes, np.int64)
        stated = len(plan.question.stated)
        self._left = {
            "one-way counts": plan.question.columns,
            "stated pairs": stated,
            "marginals": plan.picks,
            "audits": plan.question.audits,
        }
        self._all = sum(self._left.values())
        self._known: dict[Clique, Counts] = {}

    def _use(self, what: str, many: int = 1) -> None:
        if self._left[what] < many:
            raise PrivacyError(f"the {what} that were paid for are used up: a plan answers each of them once")
        self._left[what] -= many
        if self._on_progress is not None:
            self._on_progress(self._all - sum(self._left.values()), self._all)

    @property
    def left(self) -> int:
        """How many marginals may still be measured."""
        return self._left["marginals"]

    def single(self, column: int) -> Measured:
        """The noisy counts of one column's cells."""
        self._use("one-way counts")
        return self._noisy((column,), self.plan.singles)

    def measure_stated(self) -> list[Measured]:
        """The noisy counts of all pairs that were stated beforehand."""
        pairs = self.plan.question.stated
        self._use("stated pairs", len(pairs))
        return [self._noisy(pair, self.plan.stated) for pair in pairs]

    def measure(self, cliques: Sequence[Clique]) -> list[Measured]:
        """The noisy counts of marginals that were chosen without looking at the data."""
        self._use("marginals", len(cliques))
        return [self._noisy(clique, self.plan.pairs) for clique in cliques]

    def choose(
        self, candidates: Sequence[Clique], guesses: Sequence[Counts], penalties: Sequence[int], many: int = 1
    ) -> list[Measured]:
        """Selects `many` candidates privately by how badly they are guessed, and returns their noisy counts.

        score = |exact - guess|_1 - penalty, a whole number that one person moves by at most l1. Each is a choice of its
        own, with probability proportional to exp(choice * score / (2 l1)) among those left, and pays as one.
        """
        if self.plan.choice is None:
            raise PrivacyError("this plan measures every marginal: no choice was paid for")
        self._use("marginals", many)
        exponent = self.plan.choice / (2 * self.plan.l1)
        scores, rest, found = self._scores(candidates, guesses, penalties), np.arange(len(candidates)), []
        for _ in range(many):
            taken = self._draw(scores[rest], exponent)
            found.append(self._noisy(candidates[rest[taken]], self.plan.pairs))
            rest = np.delete(rest, taken)
        return found

    def misfit(
        self, partitions: Sequence[Partition], guesses: Sequence[Counts], parts: Sequence[NDArray[np.int64]]
    ) -> list[int]:
        """The noisy sums of |exact - guess| over the boxes of at most `plan.audited` marginals, one for each part.

        `parts` says of which of the two parts each box is. One row is in one box of each marginal, so one person moves
        either sum by at most audited * l1.
        """
        if len(partitions) > self.plan.audited:
            raise PrivacyError(
                f"{len(partitions)} marginals at once: the noise was planned for at most {self.plan.audited}"
            )
        for _ in range(AUDITS):
            self._use("audits")
        totals = np.zeros(AUDITS, np.int64)
        for each, guess, part in zip(partitions, guesses, parts, strict=True):
            exact = each.fold(count_cells(self._columns, each.clique, self.sizes), self.sizes)
            np.add.at(totals, part, np.abs(exact - guess))
        return list(map(int, totals + discrete_gaussian(self.plan.audit, AUDITS, rng=self._rng)))

    def _exact(self, clique: Clique) -> Counts:
        if clique not in self._known:
            self._known[clique] = count_cells(self._columns, clique, self.sizes)
        return self._known[clique]

    def _noisy(self, clique: Clique, variance: Fraction) -> Measured:
        exact = self._exact(clique)
        return Measured(clique, exact + discrete_gaussian(variance, len(exact), rng=self._rng), float(variance))

    def _scores(
        self, candidates: Sequence[Clique], guesses: Sequence[Counts], penalties: Sequence[int]
    ) -> NDArray[np.int64]:
        triples = zip(candidates, guesses, penalties, strict=True)
        return np.array([np.abs(self._exact(c) - guess).sum() - penalty for c, guess, penalty in triples], np.int64)

    def _draw(self, scores: NDArray[np.int64], exponent: Fraction) -> int:
        """An index with probability proportional to exp(exponent * score), exactly.

        A uniform candidate is kept with chance exp(-exponent * behind) = P(geometric of scale 1/exponent >= behind).
        How many are tried, and so the time this takes, depends on the scores.
        """
        behind = scores.max() - scores
        while True:
            tried = uniform_below(len(behind), BATCH, rng=self._rng)
            kept = geometric(1 / exponent, BATCH, rng=self._rng) >= behind[tried]
            if kept.any():
                return int(tried[kept.argmax()])
