"""The book of one data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from bruit.errors import InvalidArgument, LedgerError
from bruit.ledger.accountants import Amount, amount
from bruit.ledger.book import Book
from bruit.ledger.budget import Budget, Charge, carry, made
from bruit.ledger.declared import declare
from bruit.ledger.entries import Entry, entry
from bruit.ledger.memory import MemoryBook
from bruit.ledger.partition import Partition, declared, everybody
from bruit.ledger.terms import Accounting, Terms, checked
from bruit.privacy import Exact, Guarantee, Loss, Neighbours, Release


class Ledger:
    """The book of one data set: it refuses to overspend, in memory, in SQLite or in PostgreSQL.

    A book with a store is created, or opened if it stands there on the same terms; without one it lives in memory.
    Copies, deep copies and pickles are the same book. It adds losses up as a privacy filter: its (ε, δ) holds even
    when each question depends on the answers before it (docs/ledger.md).   [Rogers et al. 2016; Feldman & Zrnic 2021]

    >>> import bruit, polars
    >>> ledger = bruit.Ledger("clinic", epsilon=1, neighbours=bruit.ADD_OR_REMOVE_ONE, person="id")
    >>> people = bruit.tables.read(polars.DataFrame({"id": [1, 2, 3]}), person="id").limit(rows=1)
    >>> release = bruit.central.count(people, budget=ledger.budget(epsilon=0.25))
    >>> float(ledger.remaining.epsilon), [entry.what for entry in ledger.entries]
    (0.75, ['central.count'])
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

    @staticmethod
    def names(store: str) -> tuple[str, ...]:
        """The names of the books in a store."""
        from bruit.ledger.stored import names

        return names(store)

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
    def epsilon(self) -> Fraction:
        """The most that may ever be spent."""
        return self.terms.epsilon

    @property
    def delta(self) -> Fraction:
        """The δ of the whole book."""
        return self.terms.delta

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
        return made(self, loss, epsilon=epsilon, delta=delta, by=by, place=None)

    def partition(self, name: str, *, cells: int = 1) -> Partition:
        """A division of the data into cells that are paid for side by side: regions, months of arrival.

        The cell of a record must be a function of that record alone, fixed before the data is seen, and a person is in
        at most `cells` of them. Then a person pays only for the cells they can be in: the largest `cells` when people
        are added or removed, twice as many when they are replaced.                  [DESIGN, privacy rule 5]
        """
        return declared(self, name, cells)

    @property
    def respondents(self) -> Partition:
        """In a LOCAL book, the running total of each person who answered: `ledger.respondents.budget(key, ...)`."""
        return everybody(self)

    @property
    def spent(self) -> Amount:
        """What was spent when this was read; only a charge knows whether it fits."""
        return amount(self.book.spent(), self.terms)

    @property
    def remaining(self) -> Amount:
        """What was left when this was read. For a book by "zcdp" or "rdp", `total` is what counts, ε indicative."""
        spent = self.book.spent()
        worth = amount(spent, self.terms)
        left = self.book.limit.minus(spent).exact[0]
        return Amount(self.terms.epsilon - worth.epsilon, self.terms.delta - worth.delta, left, worth.measure)

    @property
    def guarantee(self) -> Guarantee:
        """What everything ever charged to this book amounts to at most, under what its entries assume."""
        assumed = dict.fromkeys(each for line in self._entries() for each in line.guarantee.assumes)
        terms = self.terms
        return Guarantee(terms.epsilon, terms.delta, terms.neighbours, terms.person, terms.accounting, tuple(assumed))

    def carry(self, local: Ledger) -> Charge | None:
        """Charges to this book of replacement what respondents of a LOCAL book lost, as pure ε; None if nothing is new.

        A report of ε changes by a factor e^ε when one answer is replaced; the presence of a respondent is not hidden,
        so a book of add or remove refuses.
        """
        return carry(local, into=self)

    def declare(self, losses: Sequence[Loss], *, delta: Exact, what: str, by: str = "pld") -> tuple[Budget, ...]:
        """Charges a list of losses now, priced together, and gives a budget for each: it pays for that loss once.

        Their order, and which data each reads, may depend on earlier answers; the losses themselves may not.
        """
        return declare(self, losses, delta=delta, by=by, what=what)

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
