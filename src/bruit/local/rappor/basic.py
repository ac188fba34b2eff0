"""Basic RAPPOR for a short list of categories, with one bit per category."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit.channels import ONE, Support, loss_of
from bruit.core.numbers import Exact, exactly
from bruit.local.categories import Categories, CategoryList, category_list
from bruit.local.frequencies import bits
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.offering import EXAMPLE, Offer
from bruit.local.rappor.law import RapporLaw, optimal_f
from bruit.local.received import checked_bits


@dataclass(frozen=True, init=False, eq=False)
class BasicRappor(FrequencyProtocol):
    """One bit per category, with permanent noise and fresh noise in each report; p=0, q=1 is basic one-time RAPPOR.

    `epsilon` is that of one report, `law.after(n)` that of n reports of the same answer and `law.forever` that of any
    number of them.                                              [Erlingsson, Pihur & Korolova 2014; docs/spec.md S2.18]
    """

    offer: ClassVar[Offer | None] = Offer(
        lambda epsilon: BasicRappor(EXAMPLE, f=optimal_f(exactly(epsilon, "epsilon"), 1))
    )

    categories: CategoryList
    law_of_bits: RapporLaw

    def __init__(self, categories: Categories, *, f: Exact, p: Exact = 0, q: Exact = 1, other: bool = False) -> None:
        self._fix(categories=category_list(categories, other=other), law_of_bits=RapporLaw(f=f, p=p, q=q, hashes=1))
        self._fix(epsilon=self.loss)

    @cached_property
    def loss(self) -> Fraction | float:
        """The privacy loss of one report, from the integer weights of its bits, rounded up."""
        false, true = sorted(int(row[1]) for row in self.law_of_bits.report.weights)
        return loss_of(true * (ONE - false), false * (ONE - true))

    @cached_property
    def support(self) -> Support:
        """Probabilities q* of a one at the true category's bit, and p* at a given other one."""
        false, true = (int(row[1]) / ONE for row in self.law_of_bits.report.weights)
        return Support(true, false)

    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.uint64]:
        false, true = (int(row[1]) for row in self.law_of_bits.report.weights)
        return bits.noisy_positions(places, len(self.categories), true=true, false=false, rng=rng)

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        return checked_bits(values, len(self.categories))

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        return bits.ones(values, len(self.categories))

    def settings(self) -> dict[str, Any]:
        """The noise parameters f, p and q of the two stages, in JSON types."""
        return {name: str(getattr(self.law_of_bits, name)) for name in ("f", "p", "q")}

    def law(self) -> dict[str, Any]:
        """The law in JSON types: how often a bit is 1 after each stage, out of 2^52."""
        return self.law_of_bits.to_json()

    def at(self, epsilon: float) -> BasicRappor:
        """Basic one-time RAPPOR at the given epsilon."""
        from bruit.channels import checked_epsilon

        return BasicRappor(
            self.categories.listed, f=optimal_f(checked_epsilon(epsilon), 1), other=self.categories.other
        )
