"""What a loss would cost, and the charge that stands in a book once it was paid."""

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
    """What a loss would promise and cost; nothing was written."""

    loss: Loss
    guarantee: Guarantee
    cost: Units

    @property
    def total(self) -> Fraction:
        """The cost in the measure that the book adds up: ε, ρ or a Rényi divergence."""
        return self.cost.exact[0]


@dataclass(frozen=True)
class Charge:
    """A charge that stands in the book, open until it is finished."""

    ledger: Ledger
    number: int
    loss: Loss
    guarantee: Guarantee
    seed: Seed = field(default_factory=Seed, repr=False)

    @property
    def receipt(self) -> Receipt:
        """The receipt: book, its identity, and the entry's number."""
        return self.ledger.receipt(self.number)

    def generator(self) -> np.random.Generator:
        """The generator that the caller brought, as it is, or a fresh one over the strong source."""
        given = self.seed.given
        return given if isinstance(given, np.random.Generator) else self.stream()

    def stream(self, *parts: int) -> np.random.Generator:
        """A stream that no other charge shares: the strong source, or one derived from seed, entry and book.

        Clones of a seeded estimator stand in the book under numbers of their own, so that they draw noise of their own.
        """
        return self.seed.stream(self.number, *self.ledger.name.encode(), *parts)

    def finish(self, outcome: Outcome[T]) -> Release[T]:
        """Keeps what was found in the entry that paid for it and gives it back; reading it again is free.

        If the store cannot be written any more, the release, which is paid for, is still given back, with a warning.
        """
        release = outcome.release(self.guarantee, self.receipt)
        self._keep(release.to_json())
        return release

    def close(self) -> None:
        """Finishes an entry that has no release by itself: a declared list, steps of a training, what was carried."""
        self._keep(NO_RELEASE)

    def _keep(self, text: str) -> None:
        try:
            self.ledger.book.keep(self.number, text)
        except StorageError as error:
            warnings.warn(f"the release is paid for but not kept in the book: {error}", RuntimeWarning, stacklevel=3)
