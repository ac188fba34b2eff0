"""dBitFlip: a device reports bits for only a few of many buckets, as deployed in Windows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit.channels import ONE, Support, checked_epsilon
from bruit.core.arguments import whole
from bruit.core.numbers import Exact
from bruit.errors import InvalidArgument
from bruit.local.categories import Categories, CategoryList, category_list
from bruit.local.frequencies import bits
from bruit.local.frequencies.subset import random_sets
from bruit.local.frequencies.unary import symmetric_weights
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.offering import EXAMPLE, Offer
from bruit.local.received import checked_bits


@dataclass(frozen=True, init=False, eq=False)
class DBitFlip(FrequencyProtocol):
    """A report is d random buckets out of k, drawn independently of the answer, and one noised bit for each.

    The bit of the true bucket is 1 with chance p = e^(epsilon/2) / (e^(epsilon/2) + 1), any other with 1 - p. The
    report supports its buckets whose bit is 1: with chance p d / k when true, (1 - p) d / k when not.
    [Ding, Kulkarni & Yekhanin 2017]
    Two answers differ in at most two of the bits sent, so the loss is that of symmetric unary encoding.
    """

    offer: ClassVar[Offer | None] = Offer(lambda epsilon: DBitFlip(EXAMPLE, epsilon=epsilon, chosen=3))

    categories: CategoryList
    epsilon: Fraction
    chosen: int

    def __init__(self, categories: Categories, *, epsilon: Exact, chosen: int, other: bool = False) -> None:
        allowed, amount = category_list(categories, other=other), checked_epsilon(epsilon)
        chosen = whole(chosen, "chosen", most=len(allowed))
        self._fix(categories=allowed, epsilon=amount, chosen=chosen)
        self._prove(gap=self.weights[0] - self.weights[1])

    @cached_property
    def weights(self) -> tuple[int, int]:
        """The weights, out of 2^52, of a one at the true bucket and at another."""
        return symmetric_weights(self.epsilon)[0]

    @cached_property
    def loss(self) -> Fraction:
        """Twice the privacy loss of one bit, rounded up."""
        return symmetric_weights(self.epsilon)[1]

    @cached_property
    def support(self) -> Support:
        """Probabilities that a report has a one at the true category's bucket, and at a given other one."""
        asked = self.chosen / len(self.categories)
        return Support(asked * self.weights[0] / ONE, asked * self.weights[1] / ONE)

    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.uint64]:
        size, (true, false) = len(self.categories), self.weights
        asked = random_sets(len(places), size, self.chosen, rng)
        told = bits.noisy_positions(places, size, true=true, false=false, rng=rng) & asked
        return np.concatenate([asked, told], axis=1)

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        width = bits.words_for(len(self.categories))
        if values.size == 0:
            return np.zeros((0, 2 * width), np.uint64)
        if values.ndim != 2 or values.shape[1] != 2 * width or values.dtype != np.uint64:
            raise InvalidArgument(f"a report of this protocol is {2 * width} words: the buckets asked, and their bits")
        asked, told = checked_bits(values[:, :width], len(self.categories)), values[:, width:]
        if (told & ~asked).any() or (np.bitwise_count(asked).sum(axis=1) != self.chosen).any():
            raise InvalidArgument(f"a report of this protocol tells bits of exactly {self.chosen} buckets")
        return np.ascontiguousarray(values)

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        width = bits.words_for(len(self.categories))
        return bits.ones(np.ascontiguousarray(values[:, width:]), len(self.categories))

    def settings(self) -> dict[str, Any]:
        """The epsilon asked for and the number of buckets in a report."""
        return {"epsilon": str(self.epsilon), "chosen": self.chosen}

    def law(self) -> dict[str, Any]:
        """The law of the noise in JSON types: how often a bit is sent as 1, out of 2^52, and how many bits."""
        return {"out_of": ONE, "true": self.weights[0], "false": self.weights[1], "chosen": self.chosen}
