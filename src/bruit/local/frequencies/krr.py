"""k-ary randomised response: keeps the answer or sends a uniformly random other one."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit.channels import Support, SymmetricChannel, checked_epsilon, symmetric
from bruit.core.numbers import Exact
from bruit.local.categories import Categories, CategoryList, category_list
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.offering import EXAMPLE, Offer, ReportShape
from bruit.local.received import checked_places


@dataclass(frozen=True, init=False, eq=False)
class KRR(FrequencyProtocol):
    """Keeps the answer with probability p = e^epsilon / (k - 1 + e^epsilon), else sends each other with probability q.

    The report is the place of an answer; it supports that answer.              [Kairouz et al. 2016; docs/spec.md S0.1]
    The loss is ln(p / q) of two integers, which the symmetric channel keeps at or below epsilon.

    >>> from bruit.local import KRR
    >>> protocol = KRR(["single", "married", "divorced"], epsilon=1)
    >>> round(protocol.expected_error(2000), 3), protocol.people_for(error=0.02)
    (0.061, 18238)
    >>> reports = protocol.randomise(["married"] * 50 + ["single"] * 50)  # on each respondent's own device
    >>> shares = protocol.estimate(protocol.tally(reports))
    >>> shares.labels, str(shares.guarantee)
    (('single', 'married', 'divorced'), 'ε = 1 for one respondent (local, by law)')
    """

    offer: ClassVar[Offer | None] = Offer(
        lambda epsilon: KRR(EXAMPLE, epsilon=epsilon),
        by_name=True,
        rank=1,
        report=ReportShape.PLACE,
    )

    categories: CategoryList
    epsilon: Fraction

    def __init__(self, categories: Categories, *, epsilon: Exact, other: bool = False) -> None:
        self._fix(categories=category_list(categories, other=other), epsilon=checked_epsilon(epsilon))
        self._prove(gap=self.channel.keep - self.channel.other)

    @cached_property
    def channel(self) -> SymmetricChannel:
        """The symmetric channel over the allowed answers."""
        return symmetric(len(self.categories), epsilon=self.epsilon)

    @property
    def loss(self) -> Fraction | float:
        """The privacy loss ln(p / q), rounded up."""
        return self.channel.epsilon

    @cached_property
    def support(self) -> Support:
        """Probabilities p that the true category is reported, and q that a given other one is."""
        return self.channel.support

    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        return self.channel.send_checked(places, rng)

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        return checked_places(values, len(self.categories))

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(values, minlength=len(self.categories)).astype(np.int64)

    def settings(self) -> dict[str, Any]:
        """The epsilon asked for."""
        return {"epsilon": str(self.epsilon)}

    def law(self) -> dict[str, Any]:
        """The weights of the symmetric channel, in JSON types."""
        return self.channel.to_json()
