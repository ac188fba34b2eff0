"""Private selection: channels from a row of scores to the index of the chosen candidate."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit.channels.channel import Channel
from bruit.randomness import bernoulli_exp, generator, permutation, uniform_below

Scores = Sequence[int] | NDArray[Any]
"""Whole numbers, the larger the better; Python's own may be of any size."""


@dataclass(frozen=True)
class Choice(Channel):
    """A private choice among scores of a given sensitivity; a point of score weighs a candidate up by e^exponent.

    `monotone` says that one person moves all scores in the same direction: the same epsilon then buys twice the
    exponent. It holds where people come and go and counts are scores, never where one is exchanged for another.
    """

    exponent: Fraction
    sensitivity: int = 1
    monotone: bool = False
    kind: ClassVar[str]

    @property
    def epsilon(self) -> Fraction:
        """The loss of one choice: 2 * sensitivity * exponent, or half of that where the scores are monotone."""
        return self.exponent * self.sensitivity * (1 if self.monotone else 2)

    @abstractmethod
    def send(self, values: Scores, rng: np.random.Generator | None = None) -> int:
        """The index of the candidate chosen by these integer scores; a larger score is better."""

    def to_json(self) -> dict[str, Any]:
        """The exponent, exactly, and the sensitivity of the scores, in JSON types."""
        law = {"exponent": str(self.exponent), "sensitivity": self.sensitivity, "monotone": self.monotone}
        return {"kind": self.kind, **law, "epsilon": str(self.epsilon)}


@dataclass(frozen=True)
class Exponential(Choice):
    """The exponential mechanism: chooses an index with probability proportional to exp(exponent * score).

    The draw is exact: a uniform place is kept with probability exp(-exponent * (best - score)).
                                                                             [McSherry & Talwar 2007, Thm 6]
    """

    kind: ClassVar[str] = "exponential"

    def send(self, values: Scores, rng: np.random.Generator | None = None) -> int:
        behind, source = _behind(values), generator(rng)
        while True:
            index = int(uniform_below(len(behind), 1, rng=source)[0])
            if bernoulli_exp(self.exponent * behind[index], 1, rng=source)[0]:
                return index


@dataclass(frozen=True)
class PermuteAndFlip(Choice):
    """Permute-and-flip: never less accurate than the exponential mechanism at the same epsilon.

    Places are met in random order; each is taken with probability exp(-exponent * (best - score)).
                                                                             [McKenna & Sheldon 2020, Alg. 1]
    """

    kind: ClassVar[str] = "permute-and-flip"

    def send(self, values: Scores, rng: np.random.Generator | None = None) -> int:
        behind, source = _behind(values), generator(rng)
        order = iter(permutation(len(behind), rng=source))
        return next(int(i) for i in order if bernoulli_exp(self.exponent * behind[i], 1, rng=source)[0])


def _behind(scores: Scores) -> list[int]:
    """How far each score is behind the best, in whole numbers that cannot overflow."""
    whole: list[int] = scores.tolist() if isinstance(scores, np.ndarray) else list(scores)
    best = max(whole)
    return [best - score for score in whole]
