"""`Ledger`: the public interface to the privacy budget of one data set."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

from bruit.core.guarantee import Guarantee
from bruit.core.losses import Loss, Pure, ZeroConcentrated
from bruit.core.neighbours import Neighbours
from bruit.core.numbers import Exact
from bruit.core.release import Outcome, Receipt, Release
from bruit.errors import BudgetExceeded, InvalidArgument, LedgerError
from bruit.ledger.books.book import Book
from bruit.ledger.books.entries import Entry, Request, entry, user
from bruit.ledger.books.memory import MemoryBook
from bruit.ledger.books.units import NOTHING
from bruit.ledger.budget import Budget, carry, make_budget
from bruit.ledger.charges import Charge
from bruit.ledger.declared import declare
from bruit.ledger.odometer import odometer
from bruit.ledger.partition import Partition, declare_partition, everybody
from bruit.ledger.pricing import ACCOUNTANT, Amount, amount, refusal
from bruit.ledger.terms import Accounting, Terms, check_terms
from bruit.privacy.groups import LossCurve


class Ledger:
    """The privacy budget of one data set and the record of its charges, in memory, SQLite or PostgreSQL.

    A book with a store is created, or opened if it stands there on the same terms; without one it lives in memory.
    Copies, deep copies and pickles are the same book. It adds losses up as a privacy filter: its (ε, δ) holds even
    when each question depends on the answers before it (docs/ledger.md).   [Rogers et al. 2016; Feldman & Zrnic 2021]
    `failures` is the part of a zCDP or RDP book's δ for chances of failure, such as that of showing a group: it and the
    total are two limits, and neither can be exchanged for the other later.

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
        failures: Exact = 0,
        store: str | None = None,
    ) -> None:
        if not isinstance(name, str) or not name:
            raise InvalidArgument(f"name={name!r}: give the book the name of its data set")
        terms = check_terms(epsilon, delta, neighbours, person, by, failures)
        if store is None:
            self.book = MemoryBook(name, terms)
        else:
            from bruit.ledger.books.stored import create

            self.book = create(name, terms, store)
            self.book.terms.must_equal(terms, name)

    @classmethod
    def open(cls, name: str, store: str) -> Ledger:
        """Opens an existing ledger by name, on the terms it was created on."""
        from bruit.ledger.books.stored import find

        return cls._of(find(name, store))

    @classmethod
    def in_memory(cls, name: str, terms: Terms) -> Ledger:
        """A new ledger in memory with the given terms."""
        return cls._of(MemoryBook(name, terms))

    @staticmethod
    def names(store: str) -> tuple[str, ...]:
        """The names of the ledgers in a store."""
        from bruit.ledger.books.stored import names

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
        """The terms of the ledger: epsilon, delta, neighbours, person and accountant."""
        return self.book.terms

    @property
    def epsilon(self) -> Fraction:
        """The total ε that may ever be spent."""
        return self.terms.epsilon

    @property
    def delta(self) -> Fraction:
        """The total δ that may ever be spent."""
        return self.terms.delta

    @property
    def neighbours(self) -> Neighbours:
        """The neighbouring relation of every loss in the ledger."""
        return self.terms.neighbours

    @property
    def person(self) -> str:
        """The person that is protected: a column's name, or EACH_ROW."""
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
        return make_budget(self, loss, epsilon=epsilon, delta=delta, by=by, place=None)

    def partition(self, name: str, *, cells: int = 1) -> Partition:
        """A division of the data into disjoint cells that are charged in parallel: regions, months of arrival.

        The cell of a record must be a function of that record alone, fixed before the data is seen, and a person is in
        at most `cells` of them. Then a person pays only for the cells they can be in: the largest `cells` when people
        are added or removed, twice as many when they are replaced.                  [docs/rules.md 5]
        """
        return declare_partition(self, name, cells)

    @property
    def respondents(self) -> Partition:
        """The partition of a LOCAL ledger by respondent: `ledger.respondents.budget(key, ...)` charges one person."""
        return everybody(self)

    @property
    def spent(self) -> Amount:
        """The total spent at the time of reading; a concurrent charge may have changed it since."""
        return amount(self.book.spent(), self.terms)

    @property
    def odometer(self) -> Amount:
        """The total spent so far as an (ε, δ) that stays valid even if the next step depends on this figure."""
        return odometer(self.book.spent(), self.terms)

    @property
    def remaining(self) -> Amount:
        """The budget left at the time of reading; under "zcdp" or "rdp", `total` decides and the ε is indicative."""
        spent = self.book.spent()
        worth = amount(spent, self.terms)
        left = self.book.limit.minus(spent).exact[0]
        return Amount(self.terms.epsilon - worth.epsilon, self.terms.delta - worth.delta, left, worth.measure)

    def require_room_for(self, rehearsal: Ledger) -> None:
        """Refuses, before anything is charged, what a rehearsal in another book of the same terms has spent there."""
        self.terms.must_equal(rehearsal.terms, self.name)
        asked, left = rehearsal.book.spent(), self.book.limit.minus(self.book.spent())
        if not asked.within(left):
            raise BudgetExceeded(refusal(self.terms, asked=asked, left=left, limit=self.book.limit))

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee for everything that can ever be charged to this ledger, under its entries' assumptions."""
        assumed = dict.fromkeys(each for line in self._entries() for each in line.guarantee.assumes)
        terms = self.terms
        curve = None
        if terms.by == "zcdp" and not terms.failures:
            curve = LossCurve(ZeroConcentrated(self.book.limit.exact[0], neighbours=terms.neighbours), "zcdp")
        promised = (terms.epsilon, terms.delta, terms.neighbours, terms.person, terms.accounting)
        return Guarantee(*promised, tuple(assumed), curve)

    def carry(self, local: Ledger) -> Charge | None:
        """Charges to this replace-one ledger, as pure ε, what respondents of a LOCAL one lost; None if nothing is new.

        A report of ε changes by a factor e^ε when one answer is replaced; the presence of a respondent is not hidden,
        so a book of add or remove refuses.
        """
        return carry(local, into=self)

    def declare(self, losses: Sequence[Loss], *, delta: Exact, what: str, by: str = "pld") -> tuple[Budget, ...]:
        """Charges a list of losses now, priced together, and returns for each a budget that pays for it once.

        Their order, and which data each reads, may depend on earlier answers; the losses themselves may not.
        """
        return declare(self, losses, delta=delta, by=by, what=what)

    def note(self, what: str, *, about: dict[str, Any], once: str | None = None) -> Release[None]:
        """Writes an entry that costs nothing because no record was read, such as the registration of a table.

        `once` is a text of at most 64 characters that may stand in one entry only: a second note with it is refused.
        """
        nothing = Pure(0, neighbours=self.neighbours)
        promised = Guarantee(Fraction(0), Fraction(0), self.neighbours, self.person, "basic")
        request = Request(what, user(), nothing, promised, NOTHING, ACCOUNTANT, None, once, once is not None)
        charge = Charge(self, self.book.write(request).number, nothing, promised)
        return charge.finish(Outcome(None, "note", details=about))

    @property
    def entries(self) -> tuple[Entry, ...]:
        """Every charge in its order: when, what, by whom, the loss, the running total."""
        return tuple(self._entries())

    @property
    def releases(self) -> tuple[Release[Any], ...]:
        """Every release stored in the ledger; reading them costs nothing."""
        return tuple(line.release for line in self._entries() if line.release is not None)

    def _entries(self) -> Iterator[Entry]:
        return (entry(row, self.receipt(row["number"])) for row in self.book.rows())

    def receipt(self, number: int) -> Receipt:
        """The receipt of the entry with that number."""
        return Receipt(self.name, self.book.identity, number)

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
    """Opens the same book in another process; what pickle calls."""
    found = Ledger.open(name, store)
    if found.book.identity != identity:
        raise LedgerError(f"the book {name!r} was replaced by another of the same name since it was pickled")
    return found
