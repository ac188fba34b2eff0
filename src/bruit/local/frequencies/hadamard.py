"""Hadamard response: short reports, fast counts, good for many categories at small epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.channels import ONE, Support, SymmetricChannel, checked_epsilon, symmetric
from bruit.core.numbers import Exact
from bruit.local.categories import Categories, CategoryList, category_list
from bruit.local.frequencies import _hadamard_kernels
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.offering import EXAMPLE, Offer
from bruit.local.received import checked_places
from bruit.randomness import words

_BLOCK: Final = 1 << 15
Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True, init=False, eq=False)
class HadamardResponse(FrequencyProtocol):
    """A report is a column of the Hadamard matrix of the least order K = 2^t > k.     [Acharya, Sun & Zhang 2019]

    Answer v owns row v + 1. With chance e^epsilon / (e^epsilon + 1) the column is uniform among the K / 2 where that
    row is +1, else among the others; it supports every answer whose row is +1 there. Two rows agree on half of the
    columns, so a wrong answer is supported with chance exactly 1/2. A column's weight is one of two, each K / 2 parts
    of a weight of the coin, so the loss is the coin's.
    """

    offer: ClassVar[Offer | None] = Offer(
        lambda epsilon: HadamardResponse(EXAMPLE, epsilon=epsilon), by_name=True, rank=2
    )

    categories: CategoryList
    epsilon: Fraction

    def __init__(self, categories: Categories, *, epsilon: Exact, other: bool = False) -> None:
        self._fix(categories=category_list(categories, other=other), epsilon=checked_epsilon(epsilon))
        self._prove(gap=self.coin.keep - self.coin.other)

    @cached_property
    def coin(self) -> SymmetricChannel:
        """The binary channel that decides whether the answer's row has +1 or -1 in the reported column."""
        return symmetric(2, epsilon=self.epsilon)

    @property
    def order(self) -> int:
        """The exponent t of the K = 2^t columns."""
        return len(self.categories).bit_length()

    @property
    def loss(self) -> Fraction | float:
        """The privacy loss of the coin."""
        return self.coin.epsilon

    @cached_property
    def support(self) -> Support:
        """Probabilities that the reported column has +1 in the row of the true category, and of a given other one."""
        return Support(self.coin.keep / ONE, 0.5)

    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        reports = np.empty(len(places), np.int32)
        for start in range(0, len(places), _BLOCK):
            part = slice(start, start + _BLOCK)
            drawn = words(rng, 2 * len(places[part])).reshape(-1, 2)
            _hadamard_kernels.send_columns(places[part], self.order, self.coin.keep, drawn, reports[part])
        return reports

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        return checked_places(values, 1 << self.order)

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        columns = np.bincount(values, minlength=1 << self.order).astype(np.int64)
        return (len(values) + transformed(columns)[1 : len(self.categories) + 1]) // 2

    def settings(self) -> dict[str, Any]:
        """The epsilon asked for."""
        return {"epsilon": str(self.epsilon)}

    def law(self) -> dict[str, Any]:
        """The weights of the coin, and the order, in JSON types."""
        return {"coin": self.coin.to_json(), "order": self.order}


def transformed(values: NDArray[Number]) -> NDArray[Number]:
    """The Walsh–Hadamard transform of 2^t numbers, by t 2^t additions.

    Entry r is the sum over y of (-1)^(number of ones of r & y) values[y]: Sylvester's Hadamard matrix times the values.
    """
    result, half = values.copy(), 1
    while half < len(result):
        pairs = result.reshape(-1, 2, half)
        result = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).reshape(-1)
        half *= 2
    return result
