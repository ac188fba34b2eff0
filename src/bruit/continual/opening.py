"""Opens a stream: stores it, charges it and marks it as paid; no noise is drawn before the mark."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from bruit.continual.advance import empty_state
from bruit.continual.factorisation import Factor, search_factor
from bruit.continual.factorisation.any_horizon import ANY_HORIZON, LONGEST
from bruit.continual.noise.found_keys import threshold
from bruit.continual.participation import Participation
from bruit.continual.payment import affordable, charge_from, charge_numbered, keys_delta_of, loss_of, pay
from bruit.continual.plan import StreamPlan, make_plan
from bruit.continual.questions import Keys, StreamQuestion
from bruit.continual.store import (
    StoredState,
    check_digest,
    create,
    find,
    mark_paid,
    prepare_store,
    replace_unpaid,
    set_generation,
)
from bruit.continual.terms import StreamTerms, terms_from_json
from bruit.core import EACH_ROW
from bruit.core.arguments import is_whole, whole
from bruit.errors import InvalidArgument, TermsDiffer, UnknownLedger
from bruit.ledger import Budget, Charge, Ledger, Purchase

if TYPE_CHECKING:
    from sqlalchemy import Engine

Goal = str | int
"""Which error is made small: "max" or "mean" of the totals, or that of a sliding window of so many periods."""


@dataclass(frozen=True)
class Opened:
    """A stream that was paid for: its store, token, terms and charge."""

    engine: Engine
    token: str
    terms: StreamTerms
    charge: Charge


def open_or_create(
    name: str,
    question: StreamQuestion,
    purchase: Purchase,
    *,
    participation: Participation,
    periods: int | None,
    goal: Goal,
) -> Opened:
    """Opens the stream of that name, or creates and pays for it; refuses one that was opened on other terms."""
    ledger = purchase.price.ledger
    asked = _asked(question, participation, periods, goal, purchase.price)
    engine, book = prepare_store(_store(ledger)), ledger.book.identity
    state = find(engine, book, name)
    if state is not None and _is_abandoned(state, purchase, question, asked):
        replace_unpaid(engine, state.token)
        state = find(engine, book, name)
    if state is None:
        terms = _make_terms(question, asked, purchase, participation)
        state = create(engine, book, name, terms.to_json(), empty_state(terms.plan))
    terms = terms_from_json(state.terms)
    if not terms.agrees_with(question, asked):
        raise TermsDiffer(
            f"the stream {name!r} of the book {ledger.name!r} was opened with another question, participation, "
            "horizon or aim: open it as it stands with Stream.open, or give the new one another name"
        )
    require_source(name, terms, seeded=purchase.seed.seeded)
    if state.entry is None:
        loss = loss_of(terms.plan.loss, terms.keys_delta)
        charge = pay(purchase, loss, assumes=terms.question.assumes, source=state.token)
        mark_paid(engine, state.token, charge.number)
    return open_standing(name, ledger)


def planned_terms(
    question: StreamQuestion,
    purchase: Purchase,
    *,
    participation: Participation,
    periods: int | None,
    goal: Goal,
) -> StreamTerms:
    """The terms on which a stream would be opened; nothing is written or paid."""
    return _make_terms(
        question, _asked(question, participation, periods, goal, purchase.price), purchase, participation
    )


def require_source(name: str, terms: StreamTerms, *, seeded: bool) -> None:
    """Refuses a generator that can be repeated for a stream whose guarantee does not say so."""
    if seeded and not terms.seeded:
        raise InvalidArgument(f"the stream {name!r} promises noise that nobody can repeat: open it without rng")


def open_standing(name: str, ledger: Ledger, *, set_back: bool = False) -> Opened:
    """Opens an existing, paid stream, and checks its last values against the digest in the ledger's store."""
    engine = prepare_store(_store(ledger))
    state = find(engine, ledger.book.identity, name)
    if state is None or state.entry is None:
        raise UnknownLedger(
            f"no stream {name!r} was paid for from the book {ledger.name!r}; open it with a question and a budget"
        )
    if not set_back:
        check_digest(engine, state.token)
    return Opened(engine, state.token, terms_from_json(state.terms), charge_numbered(ledger, state.entry))


def open_again(name: str, purchase: Purchase, *, seen: int) -> Opened:
    """Reopens a stream whose store was restored to an older state; it must be paid for again before new noise.

    On the branch that starts here the same bound holds as on the first, so j restorations cost j more prices. A crash
    between charge and mark is paid for again: nobody can tell it from another restoration.
    """
    ledger = purchase.price.ledger
    opened = open_standing(name, ledger, set_back=True)
    state = find(opened.engine, ledger.book.identity, name)
    if state is None or not (state.was_set_back or seen > state.period):
        raise InvalidArgument(
            f"the stream {name!r} was not set back: its store has period {0 if state is None else state.period}, "
            f"seen={seen}; open it with Stream.open, which costs nothing"
        )
    again = replace(purchase, what=f"{purchase.what}, set back to period {state.period}")
    loss = loss_of(opened.terms.plan.loss, opened.terms.keys_delta)
    source = f"{state.token}#{token_hex(8)}"
    charge = pay(again, loss, assumes=opened.terms.question.assumes, source=source)
    set_generation(opened.engine, state.token, entry=charge.number, seen=seen)
    return Opened(opened.engine, state.token, opened.terms, charge)


def _store(ledger: Ledger) -> str:
    if ledger.book.store is None:
        raise InvalidArgument(
            "a book in memory keeps no streams: give it a store, Ledger(..., store='sqlite:///file.db')"
        )
    return ledger.book.store


def _asked(
    question: StreamQuestion, participation: Participation, periods: int | None, goal: Goal, budget: Budget
) -> dict[str, Any]:
    """What was asked, in JSON types, checked; a budget buys another plan at another price, so that stands apart."""
    why = "or None where nobody knows"
    horizon = LONGEST if periods is None else whole(periods, "periods", most=LONGEST, why=why)
    window = is_whole(goal) and 1 <= int(goal) < horizon
    if goal not in ("max", "mean") and not window:
        raise InvalidArgument(f"aim={goal!r}: give 'max', 'mean', or the length of a sliding window below {horizon}")
    if periods is None and goal != "max":
        raise InvalidArgument(f"aim={goal!r} needs a known number of periods; an unknown one has a factor of its own")
    if periods is None and participation.times is None:
        raise InvalidArgument(
            "people who come again and again need a known number of periods: give periods, or at_most"
        )
    if budget.person == EACH_ROW and participation.times != 1:
        raise InvalidArgument("each row is a person of its own (person=EACH_ROW): participation can only be once()")
    if budget.person == EACH_ROW and question.rows != 1:
        raise InvalidArgument("each row is a person of its own (person=EACH_ROW): rows can only be 1")
    known, aim = None if periods is None else horizon, int(goal) if window else goal
    return {"participation": vars(participation), "periods": known, "aim": aim}


def _is_abandoned(state: StoredState, purchase: Purchase, question: StreamQuestion, asked: dict[str, Any]) -> bool:
    """Whether a stream on other terms, or seeded otherwise, was begun by a process that died before it paid."""
    unpaid = state.entry is None and charge_from(purchase.price.ledger, state.token) is None
    stands = terms_from_json(state.terms)
    return unpaid and not (stands.agrees_with(question, asked) and stands.seeded == purchase.seed.seeded)


def _make_terms(
    question: StreamQuestion, asked: dict[str, Any], purchase: Purchase, participation: Participation
) -> StreamTerms:
    periods, budget = asked["periods"] or LONGEST, purchase.price
    factor = _factor(asked, participation, periods)
    keys_delta = keys_delta_of(budget) if isinstance(question, Keys) else Fraction(0)

    def make(shift: float) -> StreamPlan:
        return make_plan(
            factor,
            shift,
            periods=periods,
            cells=question.size,
            participation=participation,
            contribution=question.contribution,
            neighbours=budget.neighbours,
        )

    plan = affordable(purchase, make, keys_delta)
    least = threshold(plan, keys_delta) if keys_delta else None
    return StreamTerms(question, asked, plan, keys_delta, least, purchase.seed.seeded)


def _factor(asked: dict[str, Any], participation: Participation, periods: int) -> Factor:
    if asked["periods"] is None:
        return ANY_HORIZON
    often = {"times": participation.most(periods), "apart": participation.apart}
    aim = asked["aim"]
    return (
        search_factor(periods, window=aim, **often)
        if isinstance(aim, int)
        else search_factor(periods, aim=aim, **often)
    )
