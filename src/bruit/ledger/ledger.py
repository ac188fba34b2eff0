"""The book of one data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from bruit.errors import InvalidArgument, LedgerError, NeighboursDiffer
from bruit.ledger.accountants import cost, price
from bruit.ledger.book import Book
from bruit.ledger.budget import Budget
from bruit.ledger.entries import Entry, Place, entry
from bruit.ledger.memory import MemoryBook
from bruit.ledger.terms import Accounting, Terms, checked
from bruit.privacy import Approximate, Exact, Loss, Neighbours, Pure, Release, composed
from bruit.privacy.numbers import exactly, probability


class Ledger:
    """The book of one data set: it refuses to overspend, in memory, in SQLite or in PostgreSQL.

    A book with a store is created, or opened if it stands there on the same terms; without one it lives in memory.
    Copies, deep copies and pickles are the same book. It adds losses up as a privacy filter: its (ε, δ) holds even
    when each question depends on the answers before it (docs/ledger.md).   [Rogers et al. 2016; Feldman & Zrnic 2021]
    """

    book: Book

    def __init__(
        self,
        name: str,
        *,
        epsilon: Exact,
        delta: Exact = 0,
        neighbours: Neighbours,
        person: str,
        by: Accounting = "basic",
        store: str | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f"name={name!r}: give the book the name of its data set")
        terms = checked(epsilon, delta, neighbours, person, by)
        if store is None:
            self.book = MemoryBook(name, terms)
        else:
            from bruit.ledger.stored import create

            self.book = create(name, terms, store)
            self.book.terms.must_equal(terms, name)

    @classmethod
    def open(cls, name: str, store: str) -> Ledger:
        """The book that stands under a name in a store, on the terms it was created on."""
        from bruit.ledger.stored import find

        return cls._of(find(name, store))

    @classmethod
    def _of(cls, book: Book) -> Ledger:
        ledger = cls.__new__(cls)
        ledger.book = book
        return ledger

    @property
    def name(self) -> str:
        """The name of the data set."""
        return self.book.name

    @property
    def terms(self) -> Terms:
        """What the book promises to whom, and how it adds up."""
        return self.book.terms

    @property
    def neighbours(self) -> Neighbours:
        """The neighbours of every loss in the book."""
        return self.terms.neighbours

    @property
    def person(self) -> str:
        """The unit that is protected."""
        return self.terms.person

    def budget(
        self,
        loss: Loss | Sequence[Loss] | None = None,
        *,
        epsilon: Exact | None = None,
        delta: Exact | None = None,
        by: str | None = None,
    ) -> Budget:
        """A price to be paid from this book: an (ε, δ), a loss, or a list of losses declared beforehand as one charge.

        `by` names the accountant of this one price, for instance "pld" for a planned training run; the book adds what
        comes out by its own.
        """
        return self._price(loss, epsilon, delta, by, place=None)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every charge in its order: when, what, by whom, the loss, the running total."""
        return tuple(self._entries())

    @property
    def releases(self) -> tuple[Release[Any], ...]:
        """Every release that was finished; reading them costs nothing."""
        return tuple(line.release for line in self._entries() if line.release is not None)

    def _entries(self) -> Iterator[Entry]:
        return map(entry, self.book.rows())

    def _price(
        self,
        loss: Loss | Sequence[Loss] | None,
        epsilon: Exact | None,
        delta: Exact | None,
        by: str | None,
        place: Place | None,
    ) -> Budget:
        if (loss is None) == (epsilon is None):
            raise InvalidArgument("a price is budget(epsilon=..., delta=...) or budget(loss): give one of them")
        if loss is None:
            assert epsilon is not None
            amount, failure = exactly(epsilon, "epsilon"), probability(delta or 0, "delta")
            return Budget(self, self._stated(amount, failure), amount, failure, by, place)
        declared = loss if isinstance(loss, Loss) else composed([(each, 1) for each in loss])
        if declared.neighbours is not self.neighbours:
            raise NeighboursDiffer(
                f"the loss is for {declared.neighbours}, the book {self.name!r} for {self.neighbours}"
            )
        stated = None if delta is None else probability(delta, "delta")
        value = price(declared, delta=stated, by=by, terms=self.terms)
        room = cost(declared, value, self.terms)
        return Budget(self, declared, value.epsilon, value.delta, by, place, room)

    def _stated(self, epsilon: Fraction, delta: Fraction) -> Loss:
        if delta:
            return Approximate(epsilon, delta, neighbours=self.neighbours)
        return Pure(epsilon, neighbours=self.neighbours)

    def __copy__(self) -> Ledger:
        return self

    def __deepcopy__(self, _memo: dict[int, Any]) -> Ledger:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        if self.book.store is None:
            raise LedgerError(
                f"the book {self.name!r} is in the memory of this process; another could not charge it. "
                "Give it a store: Ledger(..., store='sqlite:///file.db')"
            )
        return _again, (self.name, self.book.store, self.book.identity)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and other.book.identity == self.book.identity

    def __hash__(self) -> int:
        return hash(self.book.identity)

    def __repr__(self) -> str:
        amount = f"epsilon={float(self.terms.epsilon):g}, delta={float(self.terms.delta):g}"
        return f"Ledger({self.name!r}, {amount}, {self.neighbours}, by {self.terms.accounting})"


def _again(name: str, store: str, identity: str) -> Ledger:
    """The same book in another process."""
    found = Ledger.open(name, store)
    if found.book.identity != identity:
        raise LedgerError(f"the book {name!r} was replaced by another of the same name since it was pickled")
    return found
