"""Two linked synthetic tables: people, one row each, and their visits (events), a bounded number each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.core.release import Outcome
from bruit.errors import InvalidArgument, NotPrivate, PrivacyError
from bruit.ledger import Budget, ask
from bruit.privacy import EACH_ROW, Exact, Guarantee, Loss, Release, composed
from bruit.synthetic.coding import CodedColumn, code_columns
from bruit.synthetic.curator import Curator
from bruit.synthetic.fitting import Fit, fit_adaptively
from bruit.synthetic.plan import MOST_TRIALS, SMALLER, NoisePlan, PublicNumbers, make_plan
from bruit.synthetic.reading import CodedRows, count_owned, read_cells, require_readable
from bruit.synthetic.synthesis import charged_loss, describe_fit, details_of, make_question, pricing
from bruit.synthetic.synthetic_table import SyntheticTable
from bruit.tables import Domain, Table, within

PEOPLE_SHARE: Final = Fraction(1, 2)
"""The part of the price that the people take; their visits take the rest."""

COARSER: Final = 16
"""Numbers of visits share a cell with those less than a sixteenth above: each has its own up to twice this."""

OWNER: Final = "person"
"""The invented column that joins the two tables."""


@dataclass(frozen=True)
class LinkedTables:
    """Synthetic people and their synthetic visits; `owner[i]` is the index of the person who made visit i.

    The table of people counts their visits in the column `number`; that of visits repeats the columns of their people.
    """

    people: SyntheticTable
    visits: SyntheticTable
    owner: NDArray[np.int64]
    number: str

    def frames(self) -> tuple[polars.DataFrame, polars.DataFrame]:
        """The people and the visits as two frames with values, joined by an invented `person` number."""
        people, known = self.people.frame(), len(self.people.columns)
        many = np.bincount(self.owner, minlength=len(people))
        people = people.with_columns(polars.Series(self.number, many, polars.Int64))
        visits = self.visits.frame()[:, known:]
        numbers = polars.Series(OWNER, np.arange(1, len(people) + 1))
        return people.insert_column(0, numbers), visits.insert_column(0, polars.Series(OWNER, self.owner + 1))


def synthesise_linked(
    people: Table,
    visits: Table,
    *,
    people_columns: Mapping[str, Domain],
    visit_columns: Mapping[str, Domain],
    edges: Mapping[str, Sequence[Exact]] | None = None,
    number: str = "visits",
    budget: Budget | None,
    rng: np.random.Generator | None = None,
) -> Release[LinkedTables]:
    """Synthesises people, and for each of them a number of visits drawn given the person's columns.

    Both tables name people by the same column. One row of each person counts in `people`, and as many in `visits` as
    its limit says; visits of somebody whom `people` does not name are left out. Cells come from the domains, or from
    `edges`, the least value of each further cell, of the columns of either table.
    """
    what = "synthetic.synthesise_linked"
    purchase = ask(budget, what=what, person=visits.person, rng=rng)
    price = purchase.price
    most = _require_linked(people, visits)
    _require_different(OWNER, number, *people_columns, *visit_columns)
    counted = {number: within(0, most, grid=1, missing=0)}
    own = {name: stated for name, stated in (edges or {}).items() if name in people_columns}
    theirs = {name: stated for name, stated in (edges or {}).items() if name not in people_columns}
    owners = code_columns({**people_columns, **counted}, {**own, number: visit_edges(most)})
    both = (*owners, *code_columns(visit_columns, theirs))
    require_readable(people, owners[:-1])
    require_readable(visits, both[len(owners) :])
    first = make_question(owners, 1, price, mode="adaptive", expected_rows=None)
    second = make_question(both, most, price, mode="adaptive", expected_rows=None, frozen=len(owners))
    plans = plan_linked((first, second), price, what)
    charge = purchase.pay(charged_loss(_loss(plans), price, "zcdp"))
    source = charge.generator()
    cells = read_linked(people, visits, owners, both, most, source)
    value = fit_linked(charge.guarantee, owners, both, number, cells, plans, source)
    details = {"people": details_of(value.people), "visits": details_of(value.visits)}
    return charge.finish(Outcome(value, method="marginals, linked", details=details))


def visit_edges(most: int) -> list[int]:
    """The least number of visits of each cell but the first: cells grow where numbers are large."""
    edges, first = [], 1
    while first <= most:
        edges.append(first)
        first += max(1, first // COARSER)
    return edges


def _require_different(*names: str) -> None:
    """Refuses columns of one name, which could not stand side by side in the invented tables."""
    for place, name in enumerate(names):
        if name in names[:place]:
            raise InvalidArgument(
                f"{name!r} would name two columns: those of people, of visits, of their number (number=...) and the "
                f"invented {OWNER!r} must all have different names"
            )


def _require_linked(people: Table, visits: Table) -> int:
    """The most visits of one person that count, where both tables name people by the same column."""
    if people.person != visits.person or people.person == EACH_ROW:
        raise PrivacyError(
            f"people are named by {people.person!r}, visits by {visits.person!r}: read both with the same person column"
        )
    if type(people.named) is not type(visits.named):
        raise InvalidArgument(
            f"{people.person!r} holds texts in one table and whole numbers in the other: read both alike, with "
            "read(..., named=bruit.tables.schema.text())"
        )
    return visits.most_rows


def _loss(plans: tuple[NoisePlan, NoisePlan]) -> Loss:
    return composed([(plan.loss, 1) for plan in plans])


def plan_linked(
    questions: tuple[PublicNumbers, PublicNumbers], price: Budget, what: str
) -> tuple[NoisePlan, NoisePlan]:
    """The noise plans of people and visits that one budget pays for together."""
    by = price.ledger.terms.by
    fits, rho = pricing(price, "zcdp" if by == "basic" else by, what)
    for _ in range(MOST_TRIALS):
        people, visits = questions
        plans = make_plan(people, rho * PEOPLE_SHARE), make_plan(visits, rho * (1 - PEOPLE_SHARE))
        if fits(_loss(plans)):
            for plan in plans:
                plan.require_drawable()
            plans[0].require_number()
            return plans
        rho *= SMALLER
    raise NotPrivate("no noise of linked tables fits this price: give a larger epsilon or delta")


def read_linked(
    people: Table,
    visits: Table,
    owners: tuple[CodedColumn, ...],
    both: tuple[CodedColumn, ...],
    most: int,
    rng: np.random.Generator,
) -> tuple[CodedRows, CodedRows]:
    """The cells of people with their number of visits, and the cells of visits joined to their people's."""
    first = read_cells(people.limit(rows=1), owners[:-1], rows=1, rng=rng)
    second = read_cells(visits, both[len(owners) :], rows=most, rng=rng)
    assert first.person is not None
    assert second.person is not None
    place, number = count_owned(first.person, second.person)
    counted = np.vstack([first.columns, owners[-1].place(number)])
    kept = place >= 0
    joined = np.vstack([counted[:, place[kept]], second.columns[:, kept]])
    return CodedRows(np.ascontiguousarray(counted), None), CodedRows(np.ascontiguousarray(joined), None)


def fit_linked(
    guarantee: Guarantee,
    owners: tuple[CodedColumn, ...],
    both: tuple[CodedColumn, ...],
    number: str,
    cells: tuple[CodedRows, CodedRows],
    plans: tuple[NoisePlan, NoisePlan],
    rng: np.random.Generator,
) -> LinkedTables:
    """Fits synthetic people and their visits to noisy counts, and audits the error of both."""
    curators = tuple(Curator(each.columns, plan, rng) for each, plan in zip(cells, plans, strict=True))
    states = tuple(int(rng.integers(1, 2**62)) for _ in plans)
    fits, owner = draw_linked(curators, states, owners[-1])
    people, visits = (
        describe_fit(guarantee, coded, fit, curator, size=None, impossible=(), state=state)
        for coded, fit, curator, state in zip((owners, both), fits, curators, states, strict=True)
    )
    return LinkedTables(people, visits, owner, number)


def draw_linked(
    curators: Sequence[Curator], states: Sequence[int], number: CodedColumn
) -> tuple[tuple[Fit, Fit], NDArray[np.int64]]:
    """Fits people first, then their visits given the people; returns both fits and the owner of each visit.

    `number` is the last column of the people: a person has any number of visits of its cell.
    """
    people = fit_adaptively(curators[0], size=None, impossible=(), state=states[0])
    cells, rng = people.rows[:, -1], np.random.default_rng(states[0])
    many = rng.integers(np.array(number.firsts)[cells], np.array(number.ends)[cells] + 1)
    owner = np.repeat(np.arange(len(people.rows)), many)
    visits = fit_adaptively(curators[1], size=None, impossible=(), state=states[1], given=people.rows[owner])
    return (people, visits), owner
