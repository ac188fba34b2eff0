"""`synthesise`: makes a synthetic table of a private one, paid for before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bruit.central.questions.asking import assumed_of, require_own_book
from bruit.core.arguments import whole
from bruit.core.release import Outcome
from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger import Budget, Purchase, Quote, ask
from bruit.privacy import (
    Approximate,
    Assumption,
    Exact,
    Guarantee,
    Loss,
    Release,
    ZeroConcentrated,
    concentrated_price,
    epsilon,
    zcdp,
)
from bruit.synthetic.accuracy.estimates import Measurements
from bruit.synthetic.accuracy.misfit import measure_misfit
from bruit.synthetic.coding import CodedColumn
from bruit.synthetic.conditions import Where, find_column, read_impossible
from bruit.synthetic.curator import Curator
from bruit.synthetic.fitting import Fit, draw_rows, fit_adaptively
from bruit.synthetic.gibbs import Impossible
from bruit.synthetic.plan import Mode, NoisePlan, PublicNumbers, fit_plan, gaussian_rho
from bruit.synthetic.planned_rows import PlannedRows, rows_of
from bruit.synthetic.reading import TableRows
from bruit.synthetic.synthetic_table import MOST_ROWS, SyntheticTable
from bruit.synthetic.tree import fit_tree
from bruit.tables import Domain, Table
from bruit.tables.choice.limits import Limit
from bruit.tables.plan.operators import Plan

WHAT: Final = "synthetic.synthesise"
"""What stands in the book for a synthetic table."""

METHODS: Final[Mapping[Mode, Callable[..., Fit]]] = {Mode.ADAPTIVE: fit_adaptively, Mode.TREE: fit_tree}


@dataclass(frozen=True)
class Rehearsal:
    """Repeats the synthesis on a table that is already public, with an ordinary seeded generator."""

    plan: NoisePlan
    size: int | None
    impossible: tuple[Impossible, ...]

    def __call__(self, rows: NDArray[np.uint8], seed: int) -> Fit:
        """A fit to the given rows."""
        curator = Curator(np.ascontiguousarray(rows.T), self.plan, np.random.default_rng(seed))
        asked = self.plan.question
        given = {"given": rows[:, : asked.frozen]} if asked.frozen else {}
        return METHODS[asked.mode](curator, size=self.size, impossible=self.impossible, state=seed, **given)

    def draw(self, fit: Fit, many: int, seed: int) -> NDArray[np.uint8]:
        """So many rows fitted to the counts of a fit."""
        asked = self.plan.question
        sizes = np.array(asked.sizes, np.int64)
        return draw_rows(fit, many, sizes, impossible=self.impossible, frozen=asked.frozen, state=seed)


def synthesise(
    table: Table | Plan,
    columns: Mapping[str, Domain] | Sequence[str] | None = None,
    *,
    budget: Budget | None,
    limit: Limit | None = None,
    edges: Mapping[str, Sequence[Exact]] | None = None,
    mode: str = "adaptive",
    size: int | None = None,
    expected_rows: int | None = None,
    impossible: Sequence[Where] = (),
    predict: str | None = None,
    rng: np.random.Generator | None = None,
) -> Release[SyntheticTable]:
    """A table of invented rows that keeps the counts of single columns and of the combinations that matter most.

    `columns` declares each column of a table. A table under a schema (`bruit.tables.plan.operators.open_table`) has
    declared them: `columns` then names those that are wanted, and `limit` says how many rows of one person count.
    Cells come from the domains, or from `edges`, the least value of each further cell.
    `size` is the public number of rows that count, or None: it is then noisy. `expected_rows`, roughly known in public,
    lets large tables measure more. `impossible` lists combinations that cannot occur. `predict` names a column that
    models will predict: its pairs with all other columns are measured, twice as exactly as others.
    A budget of (epsilon, delta) pays for everything at once, before the table is read.

    Marginals are chosen by the exponential mechanism and counted with discrete Gaussian noise, adaptively, as in AIM
    [McKenna, Mullins, Sheldon & Miklau 2022]; rows are drawn from the tempered posterior of those counts.
    """
    return prepare(
        table,
        columns,
        budget=budget,
        limit=limit,
        edges=edges,
        mode=mode,
        size=size,
        expected_rows=expected_rows,
        impossible=impossible,
        predict=predict,
        rng=rng,
    ).release()


@dataclass(frozen=True)
class Prepared:
    """A synthesis that was checked and priced from public numbers; nothing is charged and no row is read yet."""

    purchase: Purchase
    rows: TableRows | PlannedRows
    plan: NoisePlan
    by: str
    size: int | None
    impossible: tuple[Impossible, ...]

    @property
    def words(self) -> str:
        """What is made, in plain English: columns, table, and how much of one person counts."""
        names = ", ".join(column.name for column in self.rows.coded)
        return f"synthetic table of {names}{self.rows.whose}"

    @property
    def _loss(self) -> Loss:
        return charged_loss(self.plan.loss, self.purchase.price, self.by)

    @property
    def _assumes(self) -> tuple[Assumption, ...]:
        of_tables = assumed_of(self.rows.plan) if isinstance(self.rows, PlannedRows) else ()
        return (*(() if self.size is None else (Assumption.PUBLIC_SIZE,)), *of_tables)

    def quote(self) -> Quote:
        """The guarantee and the cost; nothing is charged."""
        return self.purchase.quote(self._loss, assumes=self._assumes)

    def release(self, on_progress: Callable[[int, int], None] | None = None) -> Release[SyntheticTable]:
        """Pays, reads the rows and makes the table; `on_progress(done, all)` counts the noisy answers taken."""
        charge = self.purchase.pay(self._loss, assumes=self._assumes)
        source = charge.generator()
        curator = Curator(self.rows.read(source).columns, self.plan, source, on_progress=on_progress)
        state = int(source.integers(1, 2**62))
        mode, size, known = self.plan.question.mode, self.size, self.impossible
        fit = METHODS[mode](curator, size=size, impossible=known, state=state)
        value = describe_fit(charge.guarantee, self.rows.coded, fit, curator, size=size, impossible=known, state=state)
        asked = {"words": self.words, "tables": self.rows.tables}
        return charge.finish(Outcome(value, method=f"marginals, {mode}", details={"asked": asked, **details_of(value)}))


def prepare(
    table: Table | Plan,
    columns: Mapping[str, Domain] | Sequence[str] | None,
    *,
    budget: Budget | None,
    limit: Limit | None,
    edges: Mapping[str, Sequence[Exact]] | None,
    mode: str,
    size: int | None,
    expected_rows: int | None,
    impossible: Sequence[Where],
    predict: str | None = None,
    rng: np.random.Generator | None = None,
) -> Prepared:
    """Checks what is asked of `synthesise` and plans the noise that its budget pays for."""
    purchase = ask(budget, what=WHAT, person=table.person, rng=rng)
    price = purchase.price
    if isinstance(table, Plan):
        require_own_book(table, price)
    rows = rows_of(table, columns, edges, limit)
    question = make_question(rows.coded, rows.most, price, mode=mode, expected_rows=expected_rows, predict=predict)
    known = read_impossible(rows.coded, impossible)
    public = None if size is None else whole(size, "size", most=MOST_ROWS)
    plan, by = plan_within(question, price, WHAT)
    if public is None:
        plan.require_number()
    return Prepared(purchase, rows, plan, by, public, known)


def make_question(
    coded: Sequence[CodedColumn],
    rows: int,
    price: Budget,
    *,
    mode: str,
    expected_rows: int | None,
    frozen: int = 0,
    predict: str | None = None,
) -> PublicNumbers:
    """Checks and collects the public numbers of a synthesis; `rows` is the most rows of one person that count."""
    sizes = tuple(column.size for column in coded)
    if mode not in list(Mode):
        raise InvalidArgument(f"mode={mode!r}: choose one of {', '.join(Mode)}")
    hint = None if expected_rows is None else whole(expected_rows, "expected_rows", most=MOST_ROWS)
    target = None if predict is None else find_column(coded, predict)
    if target is not None and mode == Mode.TREE:
        raise InvalidArgument(f"predict={predict!r} needs mode='adaptive': a tree measures one pair for each column")
    return PublicNumbers(sizes, rows, price.neighbours, Mode(mode), hint, frozen, target)


def plan_within(question: PublicNumbers, price: Budget, what: str) -> tuple[NoisePlan, str]:
    """The noise plan that a budget pays for, and the accountant that prices it.

    The whole distribution of the loss is the tightest; where it cannot be computed, zero-concentrated privacy can.
    """
    by = accountant(question.rows, price)
    fits, rho = pricing(price, by, what)
    if by != "pld":
        return fit_plan(question, fits, rho=rho), by
    try:
        tight = gaussian_rho(question, float(price.epsilon), float(price.delta))
        return fit_plan(question, fits, rho=tight), by
    except NotPrivate:
        fits, rho = pricing(price, "zcdp", what)
        return fit_plan(question, fits, rho=rho), "zcdp"


def pricing(price: Budget, by: str, what: str) -> tuple[Callable[[Loss], bool], Fraction]:
    """A function that says whether a budget covers a loss, and roughly the rho that the budget is worth."""
    if isinstance(price.loss, ZeroConcentrated):
        most = price.loss.rho
        return lambda loss: zcdp(loss) <= most, most
    if not price.delta:
        raise NotPrivate(f"{what} adds Gaussian noise: give budget=ledger.budget(epsilon=..., delta=...)")
    worth = concentrated_price(float(price.epsilon), float(price.delta))
    return lambda loss: epsilon(loss, delta=price.delta, by=by) <= price.epsilon, worth


def accountant(rows: int, price: Budget) -> str:
    """The accountant of a plan: the ledger's own, or in a "basic" ledger, pld for one row per person, else zcdp.

    Where a person has several rows, these can fall into the cells of each marginal in another way, and only
    zero-concentrated privacy adds all of those up.
    """
    terms = price.ledger.terms
    if terms.by != "basic":
        return terms.by
    return price.by or ("pld" if rows == 1 else "zcdp")


def charged_loss(loss: Loss, price: Budget, by: str) -> Loss:
    """The loss written to the ledger: the composed one, or the (epsilon, delta) that its rho implies."""
    if price.ledger.terms.by == "basic" and price.by is None and by == "zcdp" and price.delta:
        return Approximate(epsilon(loss, delta=price.delta, by="zcdp"), price.delta, neighbours=price.neighbours)
    return loss


def describe_fit(
    guarantee: Guarantee,
    coded: tuple[CodedColumn, ...],
    fit: Fit,
    curator: Curator,
    *,
    size: int | None,
    impossible: tuple[Impossible, ...],
    state: int,
) -> SyntheticTable:
    """Makes the synthetic table of a fit, after auditing the fit's error."""
    audited = measure_misfit(curator, fit, state=state + 1)
    measurements = Measurements(fit.measured, curator.plan.question.sizes, size)
    rehearsal = Rehearsal(curator.plan, size, impossible)
    return SyntheticTable(coded, fit, guarantee, measurements, audited, rehearsal, state)


def details_of(table: SyntheticTable) -> dict[str, Any]:
    """The details kept with the release: columns, cells and the marginals measured."""
    return {
        "columns": [column.to_json() for column in table.columns],
        "measured": [list(names) for names in table.measured],
        "rows": len(table.rows),
    }
