"""Quotes of what a loss would cost, and charges that were written to the ledger."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from bruit.core.guarantee import Guarantee
from bruit.core.losses import Loss
from bruit.core.release import Outcome, Receipt, Release
from bruit.core.seeds import Seed
from bruit.errors import StorageError
from bruit.ledger.books.entries import NO_RELEASE
from bruit.ledger.books.units import Units

if TYPE_CHECKING:
    from bruit.ledger.ledger import Ledger

T = TypeVar("T")


@dataclass(frozen=True)
class Quote:
    """The guarantee and the cost that a loss would have; nothing is charged."""

    loss: Loss
    guarantee: Guarantee
    cost: Units

    @property
    def total(self) -> Fraction:
        """The cost in the measure that the ledger adds up: ε, ρ or a Rényi divergence."""
        return self.cost.exact[0]

    def __repr__(self) -> str:
        return f"Quote({self.guarantee})"


@dataclass(frozen=True)
class Charge:
    """A charge written to the ledger; its entry stays open until the release is stored."""

    ledger: Ledger
    number: int
    loss: Loss
    guarantee: Guarantee
    seed: Seed = field(default_factory=Seed, repr=False)

    @property
    def receipt(self) -> Receipt:
        """The receipt: the ledger's name, its identity, and the number of the entry."""
        return self.ledger.receipt(self.number)

    def generator(self) -> np.random.Generator:
        """The caller's own generator, or a fresh one over the cryptographic source."""
        given = self.seed.given
        return given if isinstance(given, np.random.Generator) else self.stream()

    def stream(self, *parts: int) -> np.random.Generator:
        """A random stream of this charge alone: cryptographic, or derived from the seed, the entry and the ledger.

        Clones of a seeded estimator stand in the book under numbers of their own, so that they draw noise of their own.
        """
        return self.seed.stream(self.number, *self.ledger.name.encode(), *parts)

    def finish(self, outcome: Outcome[T]) -> Release[T]:
        """Stores the outcome as a release in the entry that paid for it, and returns it; reading it again is free.

        If the store cannot be written any more, the release, which is paid for, is still given back, with a warning.
        """
        release = outcome.release(self.guarantee, self.receipt)
        self._keep(release.to_json())
        return release

    def close(self) -> None:
        """Finishes an entry without a release: a declared list, training steps, or a carried total."""
        self._keep(NO_RELEASE)

    def _keep(self, text: str) -> None:
        try:
            self.ledger.book.keep(self.number, text)
        except StorageError as error:
            warnings.warn(f"the release is paid for but not kept in the book: {error}", RuntimeWarning, stacklevel=3)
