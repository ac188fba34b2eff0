"""Unary encoding: one bit for each category, every bit noised."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit.channels import ONE, Support, checked_epsilon, log_above, share
from bruit.core.numbers import Exact
from bruit.local.categories import Categories, CategoryList, category_list
from bruit.local.frequencies import bits
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.loss_proof import either_way
from bruit.local.offering import EXAMPLE, Offer, ReportShape
from bruit.local.received import checked_bits


@dataclass(frozen=True, init=False, eq=False)
class Unary(FrequencyProtocol):
    """A report is one bit for each category: the true one is 1 with chance p, every other with chance q.

    Two answers differ in two bits, so the loss is ln(p (1 - q) / (q (1 - p))).            [Wang et al. 2017, Section 4]
    """

    categories: CategoryList
    epsilon: Fraction

    def __init__(self, categories: Categories, *, epsilon: Exact, other: bool = False) -> None:
        self._fix(categories=category_list(categories, other=other), epsilon=checked_epsilon(epsilon))
        self._prove(gap=self.weights[0] - self.weights[1])

    @property
    @abstractmethod
    def weights(self) -> tuple[int, int]:
        """How often a bit is sent as 1, out of 2^52: that of the true category, and any other."""

    @cached_property
    def loss(self) -> Fraction:
        """The privacy loss ln(p (1 - q) / (q (1 - p))), rounded up."""
        true, false = self.weights
        return either_way(true * (ONE - false), false * (ONE - true))

    @cached_property
    def support(self) -> Support:
        """Probabilities p that the bit of the true category is one, and q that another bit is."""
        true, false = self.weights
        return Support(true / ONE, false / ONE)

    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.uint64]:
        true, false = self.weights
        return bits.noisy_positions(places, len(self.categories), true=true, false=false, rng=rng)

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        return checked_bits(values, len(self.categories))

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        return bits.ones(values, len(self.categories))

    def settings(self) -> dict[str, Any]:
        """The epsilon asked for."""
        return {"epsilon": str(self.epsilon)}

    def law(self) -> dict[str, Any]:
        """The law of the noise in JSON types: how often a bit is sent as 1, out of 2^52, if true and if not."""
        return {"out_of": ONE, "true": self.weights[0], "false": self.weights[1]}


class SUE(Unary):
    """Symmetric unary encoding, the bits of basic one-time RAPPOR: p = 1 - q = e^(epsilon/2) / (e^(epsilon/2) + 1)."""

    offer: ClassVar[Offer | None] = Offer(lambda epsilon: SUE(EXAMPLE, epsilon=epsilon), by_name=True, rank=6)

    @cached_property
    def weights(self) -> tuple[int, int]:
        """The weights p and q, q rounded up."""
        return symmetric_weights(self.epsilon)[0]


class OUE(Unary):
    """Optimised unary encoding: p = 1/2, q = 1 / (e^epsilon + 1), the least variance of rare categories."""

    offer: ClassVar[Offer | None] = Offer(
        lambda epsilon: OUE(EXAMPLE, epsilon=epsilon),
        by_name=True,
        rank=5,
        report=ReportShape.BITS,
    )

    @cached_property
    def weights(self) -> tuple[int, int]:
        """The weights p and q, q rounded up."""
        false = share(self.epsilon, 1)
        while log_above(ONE - false, false) > self.epsilon:
            false += 1
        return ONE // 2, false


def symmetric_weights(epsilon: Fraction) -> tuple[tuple[int, int], Fraction]:
    """The weights p and q = 1 - p of noised bits, two of which differ between answers, and their loss <= epsilon."""
    false = share(epsilon / 2, 1)
    while log_above((ONE - false) ** 2, false**2) > epsilon:
        false += 1
    return (ONE - false, false), log_above((ONE - false) ** 2, false**2)
