"""A mechanism as a value: all that is public about one answer, built and checked before anything is charged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.channels import IntegerNoise
from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption
from bruit.core.losses import Loss
from bruit.core.release import Outcome, Release
from bruit.errors import PrivacyError
from bruit.ledger import WITHOUT_PRIVACY, Purchase, WithoutPrivacy
from bruit.randomness import generator

E = TypeVar("E")
T = TypeVar("T")

FAR = 2**62
"""Two integers below it add up within 64 bits; Python's own integers are added beyond."""


@dataclass(frozen=True)
class Mechanism(Generic[E, T]):
    """A public question, an exact reading of the data, and a noisy channel that the reading is sent through.

    what        its name in the book, such as "central.count"
    loss        what one answer loses, of the whole of its noises
    read        the exact integers, called once and after the charge; the generator draws the key of the rows that count
    send        so many outputs of the channel, one a row, independent of each other given what was read
    interpret   one output as a value with its labels, interval and details; it draws nothing and reads no data
    assumes     what the guarantee takes for granted
    """

    what: str
    loss: Loss
    read: Callable[[np.random.Generator], E]
    send: Callable[[E, int, np.random.Generator], NDArray[Any]]
    interpret: Callable[[NDArray[Any]], Outcome[T]]
    assumes: tuple[Assumption, ...] = ()

    def release(self, purchase: Purchase) -> Release[T]:
        """Pays, reads the data, adds noise once, and returns the release with its guarantee and its receipt."""
        charge = purchase.pay(self.loss, assumes=self.assumes)
        source = charge.generator()
        return charge.finish(self.interpret(self.send(self.read(source), 1, source)[0]))

    def draws(self, n: int, *, budget: WithoutPrivacy, rng: np.random.Generator | None = None) -> NDArray[Any]:
        """The values of n noisy releases of one exact reading, one per row; the ledger records none of them.

        They must be asked for by name, `budget=bruit.WITHOUT_PRIVACY`: audits, studies and previews on made-up data
        use them, and nothing that leaves a curator. For n = 1 the value is what `release` gives from the same stream.
        """
        return np.array([outcome.value for outcome in self.outcomes(n, budget=budget, rng=rng)])

    def outcomes(self, n: int, *, budget: WithoutPrivacy, rng: np.random.Generator | None = None) -> list[Outcome[T]]:
        """The noisy outcomes of n releases of one exact reading, as in `draws`, with labels, intervals and details."""
        if budget is not WITHOUT_PRIVACY:
            raise PrivacyError(
                f"{self.what}: draws stand in no book; ask for them by name with budget=bruit.WITHOUT_PRIVACY"
            )
        source = generator(rng)
        rows, places = _distinct(self.send(self.read(source), whole(n, "n"), source))
        interpreted = [self.interpret(row) for row in rows]
        return [interpreted[place] for place in places]


def send_array(noise: IntegerNoise) -> Callable[[NDArray[np.int64], int, np.random.Generator], NDArray[Any]]:
    """Returns a function that draws n noisy copies of an integer array, one flattened copy a row."""

    def send(exact: NDArray[np.int64], n: int, rng: np.random.Generator) -> NDArray[Any]:
        values, drawn = exact.reshape(-1), noise.draw(n * exact.size, rng=rng).reshape(n, -1)
        small = all(int(each.max(initial=0)) < FAR and int(each.min(initial=0)) > -FAR for each in (values, drawn))
        return np.asarray(values + drawn if small else values.astype(object) + drawn.astype(object))

    return send


def _distinct(outputs: NDArray[Any]) -> tuple[list[NDArray[Any]], list[int]]:
    """The different rows, and the place of each row among them."""
    if len(outputs) == 1:
        return [outputs[0]], [0]
    if outputs.dtype != object:
        rows, inverse = np.unique(outputs, axis=0, return_inverse=True)
        return list(rows), inverse.reshape(-1).tolist()
    seen: dict[tuple[Any, ...], int] = {}
    places = [seen.setdefault(tuple(row), len(seen)) for row in outputs]
    first = dict(zip(places, outputs, strict=True))
    return [first[place] for place in range(len(seen))], places
