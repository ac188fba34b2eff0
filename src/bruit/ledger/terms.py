"""The terms of a book, fixed when it is created."""

from __future__ import annotations

from dataclasses import dataclass, fields
from fractions import Fraction
from shlex import quote
from typing import Any

from bruit.core.neighbours import Neighbours
from bruit.core.numbers import Exact, as_float, exactly, positive, probability
from bruit.errors import InvalidArgument, TermsDiffer
from bruit.ledger.books.units import LARGEST

Accounting = str | tuple[str, Exact]
"""How a book adds losses up: "basic", "zcdp" or ("rdp", order)."""


@dataclass(frozen=True)
class Terms:
    """What a ledger guarantees and to whom: epsilon, delta, neighbours, person and accountant."""

    epsilon: Fraction
    delta: Fraction
    neighbours: Neighbours
    person: str
    by: str
    order: Fraction | None = None
    failures: Fraction = Fraction(0)
    """The part of delta that a book by zCDP or RDP keeps for chances of failure; the rest converts its total."""

    def __repr__(self) -> str:
        amount = f"ε = {as_float(self.epsilon):g}, δ = {as_float(self.delta):g}"
        return f"Terms({amount} for {self.person}, {self.neighbours}, by {self.accounting})"

    @property
    def accounting(self) -> str:
        """The name of the accountant, with its Rényi order where there is one."""
        return self.by if self.order is None else f"{self.by} at order {self.order}"

    def to_json(self) -> dict[str, Any]:
        """The terms in JSON types; rationals as texts."""
        kept = {"failures": str(self.failures)} if self.failures else {}
        return {
            "epsilon": str(self.epsilon),
            "delta": str(self.delta),
            "neighbours": self.neighbours.value,
            "person": self.person,
            "by": self.by,
            "order": None if self.order is None else str(self.order),
            **kept,
        }

    def must_equal(self, asked: Terms, name: str) -> None:
        """Refuses to open a ledger on other terms than those it was created on."""
        differing = [field.name for field in fields(self) if getattr(self, field.name) != getattr(asked, field.name)]
        if differing:
            stands = ", ".join(f"{each}={getattr(self, each)}" for each in differing)
            wanted = ", ".join(f"{each}={getattr(asked, each)}" for each in differing)
            raise TermsDiffer(
                f"the book {name!r} stands with {stands}, asked was {wanted}; "
                f"see it with `bruit ledger show {quote(name)}` or Ledger.open(name, store), "
                "or give the new book another name"
            )


def terms_from_json(description: dict[str, Any]) -> Terms:
    """Rebuilds terms from what `Terms.to_json` wrote."""
    order = description["order"]
    return Terms(
        epsilon=Fraction(description["epsilon"]),
        delta=Fraction(description["delta"]),
        neighbours=Neighbours(description["neighbours"]),
        person=description["person"],
        by=description["by"],
        order=None if order is None else Fraction(order),
        failures=Fraction(description.get("failures", 0)),
    )


def check_terms(
    epsilon: Exact, delta: Exact, neighbours: Neighbours, person: str, by: Accounting, failures: Exact = 0
) -> Terms:
    """Checks the terms that a caller asked for; an error says what is wrong with them."""
    total = positive(epsilon, "epsilon")
    if total > LARGEST:
        raise InvalidArgument(f"epsilon={epsilon} promises nothing: a book holds at most {LARGEST}")
    if not isinstance(neighbours, Neighbours):
        raise InvalidArgument(
            f"neighbours={neighbours!r}: give bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE or bruit.LOCAL"
        )
    if not isinstance(person, str) or not person:
        raise InvalidArgument(f"person={person!r}: name the column that tells people apart, or give bruit.EACH_ROW")
    kind, order = _accounting(by)
    failure = probability(delta, "delta")
    if kind != "basic" and failure == 0:
        raise InvalidArgument(f"by={by!r} turns its total into an ε at some δ: give the book a delta above zero")
    kept = probability(failures, "failures")
    if kept and (kind == "basic" or kept >= failure):
        raise InvalidArgument(
            f"failures={failures} is a part of delta={delta} below the whole, for a book by 'zcdp' or ('rdp', order); "
            "a book by 'basic' needs none"
        )
    return Terms(total, failure, neighbours, person, kind, order, kept)


def _accounting(by: Accounting) -> tuple[str, Fraction | None]:
    if by in ("basic", "zcdp"):
        return str(by), None
    if isinstance(by, tuple) and len(by) == 2 and by[0] == "rdp":
        order = exactly(by[1], "order")
        if order <= 1:
            raise InvalidArgument(f"by={by!r}: the order must be above 1")
        return "rdp", order
    raise InvalidArgument(
        f"by={by!r}: an open book adds up by 'basic', 'zcdp' or ('rdp', order); "
        "'pld' prices one planned loss: ledger.budget(loss, delta=..., by='pld')"
    )
