"""Which protocol to take, decided before anyone is asked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bruit.errors import InvalidArgument
from bruit.local.answers import Categories
from bruit.local.hadamard import HadamardResponse
from bruit.local.hashing import OLH
from bruit.local.krr import KRR
from bruit.local.protocol import FrequencyProtocol
from bruit.local.subset import SubsetSelection
from bruit.local.unary import OUE, SUE
from bruit.privacy import Exact

_CANDIDATES: Final = (KRR, HadamardResponse, OLH, SubsetSelection, OUE, SUE)  # by the size of a report
_CLOSE: Final = 1.02  # a variance within two percent of the least is as good, and the shorter report wins


@dataclass(frozen=True)
class Choice:
    """The protocol with the least variance for rare answers, and why."""

    protocol: FrequencyProtocol
    why: str
    deviations: dict[str, float]

    def __str__(self) -> str:
        return f"{type(self.protocol).__name__}: {self.why}"


def choose(categories: Categories, epsilon: Exact, answers: int, *, other: bool = False) -> Choice:
    """The protocol with the least variance of a share, averaged over k categories, among reports of reasonable size.

    The variances are those of a population with equal shares, (s (1 - s)) / (n (p - q)^2) at f = 1/k; where two are
    within two percent the one with the shorter report is taken.
    """
    if isinstance(answers, bool) or not isinstance(answers, int) or answers < 1:
        raise InvalidArgument(f"answers={answers!r} must be a whole number, at least 1: how many people will answer")
    listed = categories if isinstance(categories, int) else tuple(categories)
    made = [kind(listed, epsilon=epsilon, other=other) for kind in _CANDIDATES]
    size = len(made[0].answers)
    deviations = {type(one).__name__: float(one.support.variance(1 / size, answers)) ** 0.5 for one in made}
    least = min(deviations.values())
    chosen = next(one for one in made if deviations[type(one).__name__] <= least * _CLOSE**0.5)
    name = type(chosen).__name__
    runner = min((other for other in deviations if other != name), key=deviations.__getitem__)
    why = (
        f"with {size} answers, epsilon {float(chosen.epsilon):g} and {answers} people a share comes out within "
        f"{chosen.expected_error(answers, share=1 / size):.2g} (95 %); {runner} would reach "
        f"{1.96 * deviations[runner]:.2g}"
    )
    return Choice(chosen, why, deviations)
