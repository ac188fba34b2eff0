"""Local hashing: each respondent hashes the answer into few buckets by a random hash, then sends a noised bucket."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from bruit.channels import Support, SymmetricChannel, checked_epsilon, symmetric
from bruit.core.arguments import whole
from bruit.core.numbers import Exact
from bruit.errors import InvalidArgument
from bruit.local.categories import Categories, CategoryList, category_list
from bruit.local.frequencies import _hash_kernels
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.offering import EXAMPLE, Offer
from bruit.randomness import words

_BLOCK: Final = 1 << 15
TOP: Final = 1 << 16  # the hash keeps its sixteen top bits
_MOST_ANYWAY: Final = 1 << 17  # categories for which sixteen bits are pairwise independent


@dataclass(frozen=True, init=False, eq=False)
class OLH(FrequencyProtocol):
    """Optimal local hashing: g = e^epsilon + 1 buckets, rounded, or as many as asked for.    [Wang et al. 2017]

    The report is (a, b, y): the hash h(v) = top bits of (a v + b) mod 2^32 with a, b drawn by the respondent, and h(v)
    after a symmetric channel over the g buckets. It supports every category with h(v) = y. The hash is drawn whatever
    the answer is, so the loss is the channel's.

    Two categories v != w have independent hashes: a (v - w) is uniform over the multiples of the power of two in
    v - w, so while bits(v) + bits(h) <= 33 its top bits are uniform whatever h(v) is. With bucket y of size s_y, a
    wrong category is supported with chance q = q' + (p' - q') sum s_y^2, p' and q' the channel's.
    """

    offer: ClassVar[Offer | None] = Offer(lambda epsilon: OLH(EXAMPLE, epsilon=epsilon), by_name=True, rank=3)

    categories: CategoryList
    epsilon: Fraction
    buckets: int

    def __init__(
        self, categories: Categories, *, epsilon: Exact, buckets: int | None = None, other: bool = False
    ) -> None:
        allowed, amount = category_list(categories, other=other), checked_epsilon(epsilon)
        self._fix(categories=allowed, epsilon=amount, buckets=bucket_count(buckets, amount, len(allowed)))
        self._prove(gap=self.channel.keep - self.channel.other)

    @cached_property
    def channel(self) -> SymmetricChannel:
        """The symmetric channel over the buckets."""
        return symmetric(self.buckets, epsilon=self.epsilon)

    @property
    def loss(self) -> Fraction | float:
        """The privacy loss of the channel over the buckets."""
        return self.channel.epsilon

    @cached_property
    def support(self) -> Support:
        """Probabilities that the true category, and a given other one, hash into the reported bucket."""
        bucket = self.channel.support
        return Support(bucket.true, float(bucket.mix(collision(self.buckets))))

    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.uint32]:
        reports = np.empty((len(places), 3), np.uint32)
        for start in range(0, len(places), _BLOCK):
            part = slice(start, start + _BLOCK)
            drawn = words(rng, 2 * len(places[part])).reshape(-1, 2)
            _hash_kernels.hash_and_send(
                places[part], self.buckets, self.channel.keep, self.channel.other, drawn, reports[part]
            )
        return reports

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        return checked_hashed(values, self.buckets)

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        counts = np.zeros(len(self.categories), np.int32)
        _hash_kernels.count_hashed(values, self.buckets, counts)
        return counts.astype(np.int64)

    def settings(self) -> dict[str, Any]:
        """The epsilon asked for and the number of buckets."""
        return {"epsilon": str(self.epsilon), "buckets": self.buckets}

    def at(self, epsilon: float) -> OLH:
        """The same protocol at another epsilon, with the optimal number of buckets for it."""
        return type(self)(self.categories.listed, epsilon=epsilon, other=self.categories.other)

    def law(self) -> dict[str, Any]:
        """The weights of the channel over buckets, and the hash, in JSON types."""
        return {"channel": self.channel.to_json(), "hash": "((a*v + b) mod 2^32 >>> 16) * buckets >>> 16"}


class BLH(OLH):
    """Binary local hashing: two buckets, one bit a report.                             [Bassily & Smith 2015]"""

    offer: ClassVar[Offer | None] = Offer(lambda epsilon: BLH(EXAMPLE, epsilon=epsilon), by_name=True)

    def __init__(self, categories: Categories, *, epsilon: Exact, buckets: int | None = 2, other: bool = False) -> None:
        if buckets != 2:
            raise InvalidArgument("binary local hashing has two buckets; OLH takes any number")
        super().__init__(categories, epsilon=epsilon, buckets=2, other=other)


def bucket_count(asked: int | None, epsilon: Fraction, size: int) -> int:
    """The number of buckets asked for, else the power of two or whole number nearest to e^epsilon + 1."""
    best = min(round(np.exp(min(float(epsilon), 11.0))) + 1, TOP)
    chosen = best if asked is None else asked
    if asked is None and size > _MOST_ANYWAY:
        chosen = 1 << max(1, round(np.log2(best)))
    chosen = whole(chosen, "buckets", least=2, most=TOP)
    power = chosen & (chosen - 1) == 0
    if (size - 1).bit_length() + (chosen.bit_length() - 1 if power else 16) > 33:
        raise InvalidArgument(
            f"{size} categories into {chosen} buckets are too many for a hash of 32 bits: take fewer buckets"
        )
    return chosen


def collision(buckets: int) -> float:
    """The probability that two different answers share a bucket, Σ (relative bucket size)^2."""
    edges = -(-np.arange(buckets + 1) * TOP // buckets)
    return float(np.sum((np.diff(edges) / TOP) ** 2))


def checked_hashed(values: NDArray[Any], buckets: int) -> NDArray[np.uint32]:
    """Checks reports of a hash and a bucket, (n, 3) uint32, and returns them."""
    if values.size == 0:
        return np.zeros((0, 3), np.uint32)
    if values.ndim != 2 or values.shape[1] != 3 or values.dtype != np.uint32 or values[:, 2].max() >= buckets:
        raise InvalidArgument(f"a report of this protocol is three uint32: a, b and a bucket below {buckets}")
    return np.ascontiguousarray(values)
