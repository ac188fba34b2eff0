"""Subset selection: a report is a random set of answers, which holds the true one more often than any other."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from bruit.channels import ONE, Support, checked_epsilon, log_above
from bruit.core.arguments import whole
from bruit.core.numbers import Exact
from bruit.errors import InvalidArgument
from bruit.local.categories import Categories, CategoryList, category_list
from bruit.local.frequencies import _bit_kernels, _subset_kernels, bits
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.loss_proof import either_way
from bruit.local.offering import EXAMPLE, Offer
from bruit.local.received import checked_bits
from bruit.randomness import bernoulli, words

_BLOCK: Final = 1 << 14


@dataclass(frozen=True, init=False, eq=False)
class SubsetSelection(FrequencyProtocol):
    """A report is a set of w answers out of k: with chance p the true one and w - 1 others, else w others.

    p = w e^epsilon / (w e^epsilon + k - w), w = k / (e^epsilon + 1) rounded        [Ye & Barg 2018; Wang et al. 2016]
    A set with the true answer has p / C(k-1, w-1), one without (1 - p) / C(k-1, w): the loss is
    ln(p (k - w) / ((1 - p) w)). Another answer is in the set with chance (p (w - 1) + (1 - p) w) / (k - 1).
    """

    offer: ClassVar[Offer | None] = Offer(
        lambda epsilon: SubsetSelection(EXAMPLE, epsilon=epsilon), by_name=True, rank=4
    )

    categories: CategoryList
    epsilon: Fraction
    chosen: int

    def __init__(
        self, categories: Categories, *, epsilon: Exact, chosen: int | None = None, other: bool = False
    ) -> None:
        allowed, amount = category_list(categories, other=other), checked_epsilon(epsilon)
        best = max(1, round(len(allowed) / (np.exp(float(amount)) + 1)))
        size = whole(best if chosen is None else chosen, "chosen", most=len(allowed) - 1)
        self._fix(categories=allowed, epsilon=amount, chosen=size)
        self._prove(gap=self.weight * len(allowed) - ONE * size)

    @cached_property
    def weight(self) -> int:
        """The weight, out of 2^52, of the true answer being in the set; rounded down."""
        k, w = len(self.categories), self.chosen
        odds = w * float(np.exp(float(self.epsilon)))
        weight = min(int(ONE * odds / (odds + k - w)) + 4, ONE - 1)
        while log_above(weight * (k - w), (ONE - weight) * w) > self.epsilon:
            weight -= 1
        return weight

    @cached_property
    def loss(self) -> Fraction:
        """The privacy loss |ln(p (k - w) / ((1 - p) w))|, rounded up."""
        k, w = len(self.categories), self.chosen
        return either_way(self.weight * (k - w), (ONE - self.weight) * w)

    @cached_property
    def support(self) -> Support:
        """Probabilities that the reported set holds the true category, and a given other one."""
        k, w, p = len(self.categories), self.chosen, self.weight / ONE
        return Support(p, (p * (w - 1) + (1 - p) * w) / (k - 1))

    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.uint64]:
        kept = bernoulli(self.weight, len(places), rng=rng)
        reports = _sets(places, kept, len(self.categories), self.chosen, rng)
        _bit_kernels.place_bits(reports, places, kept)
        return reports

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        found = checked_bits(values, len(self.categories))
        if found.size and (np.bitwise_count(found).sum(axis=1) != self.chosen).any():
            raise InvalidArgument(f"a report of this protocol is a set of {self.chosen} answers")
        return found

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        return bits.ones(values, len(self.categories))

    def settings(self) -> dict[str, Any]:
        """The epsilon asked for and the size of the set."""
        return {"epsilon": str(self.epsilon), "chosen": self.chosen}

    def at(self, epsilon: float) -> SubsetSelection:
        """The same protocol at another epsilon, with the optimal set size for it."""
        return SubsetSelection(self.categories.listed, epsilon=epsilon, other=self.categories.other)

    def law(self) -> dict[str, Any]:
        """The weight of the true answer being in the set, and the set's size."""
        return {"out_of": ONE, "weight": self.weight, "chosen": self.chosen}


def random_sets(rows: int, size: int, chosen: int, rng: np.random.Generator) -> NDArray[np.uint64]:
    """Uniformly random sets of `chosen` out of `size` indices, as packed bits."""
    beyond = np.full(rows, size, np.int32)
    return _sets(beyond, np.zeros(rows, np.bool_), size + 1, chosen, rng)[:, : bits.words_for(size)]


def _sets(
    places: NDArray[np.int32], kept: NDArray[np.bool_], size: int, chosen: int, rng: np.random.Generator
) -> NDArray[np.uint64]:
    """Uniform sets of `chosen` places other than the row's own, one fewer where it is kept."""
    reports = np.zeros((len(places), bits.words_for(size)), np.uint64)
    step, done = max(1, _BLOCK // chosen), 0
    while done < len(places):
        rows = slice(done, min(len(places), done + step))
        drawn = words(rng, (rows.stop - done) * chosen * 3 // 2 + 2 * chosen + 64)
        done += _subset_kernels.choose_rows(places[rows], kept[rows], size, chosen, drawn, reports[rows])
    return reports
