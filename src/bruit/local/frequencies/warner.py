"""Warner's randomised response for sensitive yes-or-no questions."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit.channels import ONE, FiniteChannel, Support, binary, checked_epsilon, symmetric
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument
from bruit.local.categories import CategoryList
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.offering import Offer, ReportShape
from bruit.local.received import checked_places

NO_OR_YES = ("no", "yes")


class _Places(CategoryList):
    """The answers no and yes, which may also be given as False and True."""

    def _places(self, values: Any) -> NDArray[np.int32]:
        bits = isinstance(values, np.ndarray) and values.dtype == np.bool_ and values.ndim == 1
        return values.astype(np.int32) if bits else super()._places(values)

    @cached_property
    def _place(self) -> dict[Hashable, int]:
        return {NO_OR_YES[0]: 0, NO_OR_YES[1]: 1, False: 0, True: 1}


@dataclass(frozen=True, init=False, eq=False)
class YesOrNo(FrequencyProtocol):
    """A yes-or-no answer sent through a binary channel; the report supports the answer it names."""

    categories: CategoryList
    epsilon: Fraction | float

    @property
    @abstractmethod
    def channel(self) -> FiniteChannel:
        """The channel from the true bit to the reported one; 1 is yes."""

    @property
    def loss(self) -> Fraction | float:
        """The privacy loss of the channel."""
        return self.channel.epsilon

    @cached_property
    def support(self) -> Support:
        """The probabilities that each answer is reported when it is true, and when it is not."""
        law = self.channel.probabilities()
        return Support(np.diag(law).copy(), np.diag(law[::-1]).copy())

    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        return self.channel.send(places, rng=rng)

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        return checked_places(values, 2)

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        return np.bincount(values, minlength=2).astype(np.int64)

    def law(self) -> dict[str, Any]:
        """The weights of the channel, in JSON types."""
        return self.channel.to_json()

    @classmethod
    def _make(cls, answers: CategoryList, settings: Any) -> FrequencyProtocol:
        if answers.listed != NO_OR_YES or answers.other:
            raise InvalidArgument("a yes-or-no protocol has the answers no and yes")
        return cls(**settings)


@dataclass(frozen=True, init=False, eq=False)
class Warner(YesOrNo):
    """Asks the question with probability P, else its negation, so a report is true with probability P.  [Warner 1965]

    p = (r + P - 1) / (2P - 1) from a share r of yes; epsilon = |ln(P / (1 - P))|. P = 3/4 is the game of two coins
    (heads: tell the truth; tails: let the second coin speak): p = 2r - 1/2 and epsilon = ln 3.
    [docs/spec.md S1.8, S2.2]
    """

    offer: ClassVar[Offer | None] = Offer(lambda epsilon: Warner(epsilon=epsilon), report=ReportShape.PLACE)

    chance: Fraction

    def __init__(self, *, chance: Exact | None = None, epsilon: Exact | None = None) -> None:
        if (chance is None) == (epsilon is None):
            raise InvalidArgument("give either chance= (that the question itself is put) or epsilon=, and not both")
        if epsilon is not None:
            channel = symmetric(2, epsilon=checked_epsilon(epsilon))
            self._fix(
                categories=_Places(NO_OR_YES), epsilon=exactly(epsilon, "epsilon"), chance=Fraction(channel.keep, ONE)
            )
            return
        share = exactly(chance if chance is not None else 0, "chance")
        if not 0 < share < 1 or share == Fraction(1, 2):
            raise InvalidArgument(f"chance={chance} must lie between 0 and 1 and not be 1/2, which would say nothing")
        self._fix(categories=_Places(NO_OR_YES), chance=share)
        self._fix(epsilon=self.channel.epsilon)

    @cached_property
    def channel(self) -> FiniteChannel:
        """The symmetric binary channel that keeps the true bit with probability P."""
        return symmetric(2, error=1 - self.chance)

    def settings(self) -> dict[str, Any]:
        """The epsilon asked for, or the probability that the question itself is asked, in JSON types."""
        asked = self.epsilon != self.channel.epsilon
        return {"epsilon": str(self.epsilon)} if asked else {"chance": str(self.chance)}

    def at(self, epsilon: float) -> Warner:
        """Warner's randomised response at another epsilon."""
        return Warner(epsilon=epsilon)


def two_coins() -> Warner:
    """Two fair coins: heads, the truth; tails, the second coin decides. Truth with probability 3/4, epsilon = ln 3."""
    return Warner(chance=Fraction(3, 4))


@dataclass(frozen=True, init=False, eq=False)
class ForcedYes(YesOrNo):
    """A fair coin: heads, the truth; tails, yes. The true share is 2r - 1 for a share r of yes.  [docs/spec.md S2.2]

    A "no" is certainly true, so epsilon is infinite: for teaching only, and `privacy()` refuses to price it.
    """

    def __init__(self) -> None:
        self._fix(categories=_Places(NO_OR_YES), epsilon=math.inf)

    @cached_property
    def channel(self) -> FiniteChannel:
        """The channel that keeps every yes and turns a no into yes with probability 1/2."""
        return binary(zero_to_one=Fraction(1, 2), one_to_zero=0)

    def settings(self) -> dict[str, Any]:
        """An empty mapping: this protocol has no settings."""
        return {}

    def at(self, epsilon: float) -> ForcedYes:  # noqa: ARG002
        """Always raises an error, since the epsilon of this protocol is infinite."""
        raise InvalidArgument("forced yes has an infinite epsilon and no setting; take Warner(epsilon=...)")
