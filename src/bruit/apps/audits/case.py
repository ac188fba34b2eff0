"""An audit case: one mechanism at one claimed epsilon, on a pair of neighbours."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.audit import Verdict, audit, audit_gaussian
from bruit.core.neighbours import EACH_ROW, Neighbours
from bruit.ledger import Budget, Ledger

EPSILON = 1.0
"""What most cases claim."""

SHARP = 2.0
"""The ε that slow or clamped cases claim: large enough that few draws test it, small enough that they could refute it.

Draws of n on either side prove at most about log(n / 60) at the alarm of the list: a claim above that could not fail.
"""

FITS = 3_000
"""How many fits of a model a full audit draws on either half of the pair: each of them takes milliseconds."""

Many = Callable[[Any, int, np.random.Generator], NDArray[Any]]
Once = Callable[[Any, np.random.Generator], Any]


@dataclass(frozen=True)
class Case:
    """One mechanism at one claimed epsilon, with a pair of small neighbouring data sets that differ in one person.

    `mechanism` gives many outputs at once, `once` is one answer of the public callable where that answers once. `small`
    and `full` are how many outputs are drawn on either half of the pair.
    """

    name: str
    neighbours: Neighbours
    pair: tuple[Any, Any]
    mechanism: Many
    once: Once | None = None
    claimed: float = EPSILON
    delta: float = 0.0
    small: int = 20_000
    full: int = 1_000_000
    variant: str = ""

    @property
    def label(self) -> str:
        """The name, and the variant where a mechanism has several."""
        return f"{self.name}[{self.variant}]" if self.variant else self.name

    def audit(self, samples: int, alarm: float, rng: np.random.Generator | None = None) -> Verdict:
        """The verdict of an audit from `samples` outputs on each side of the pair."""
        asked: dict[str, Any] = {"claimed": self.claimed, "samples": samples, "alarm": alarm, "rng": rng}
        return audit(self.mechanism, self.pair, delta=self.delta, **asked)

    def stream(self, seed: int) -> np.random.Generator:
        """A random stream of this case alone, so that adding a case does not change the draws of others."""
        return np.random.default_rng([seed, *f"{self.label} {self.neighbours}".encode()])


@dataclass(frozen=True)
class GaussianCase(Case):
    """A mechanism that claims a Gaussian trade-off: `claimed` is its mu."""

    def audit(self, samples: int, alarm: float, rng: np.random.Generator | None = None) -> Verdict:
        asked: dict[str, Any] = {"claimed": self.claimed, "samples": samples, "alarm": alarm, "rng": rng}
        return audit_gaussian(self.mechanism, self.pair, **asked)


def fresh_budget(
    neighbours: Neighbours,
    epsilon: float = EPSILON,
    delta: float = 0.0,
    *,
    person: str = EACH_ROW,
    by: str | tuple[str, int] = "basic",
) -> Budget:
    """A budget of everything in a new ledger, so that each answer is the first one on its data."""
    book = Ledger("audit", epsilon=epsilon, delta=delta, neighbours=neighbours, person=person, by=by)
    return book.budget(epsilon=epsilon, delta=delta)


def loop_over(once: Once) -> Many:
    """Makes a mechanism of many outputs by calling a single-output function in a loop."""
    return lambda data, samples, rng: np.array([once(data, rng) for _ in range(samples)])
