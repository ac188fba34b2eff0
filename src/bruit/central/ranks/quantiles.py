"""Private quantiles of a column, on the grid of its domain."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from bruit.central.column_questions import question_about
from bruit.central.questions import measures
from bruit.central.ranks.mechanisms.histogram import STEPS
from bruit.central.ranks.mechanisms.pruning import LARGEST_EPSILON
from bruit.central.ranks.probabilities import Probabilities, as_probabilities
from bruit.central.ranks.quantile_methods import Cells, RankQuestion
from bruit.central.ranks.records import in_order, person_of
from bruit.core.guarantee import Assumption
from bruit.core.losses import Pure
from bruit.core.numbers import Exact
from bruit.core.release import Outcome, Release
from bruit.ledger import Budget, ask
from bruit.mechanisms import Mechanism, asked, part_of
from bruit.tables import Column


def quantiles(
    column: Column,
    probabilities: Probabilities,
    *,
    budget: Budget | None,
    method: str | None = None,
    steps: int = STEPS,
    smoothing: Exact | None = None,
    spacing: str = "linear",
    public_size: bool = False,
    rng: np.random.Generator | None = None,
) -> Release[NDArray[np.float64]]:
    """Private quantiles of a column at given probabilities, in the column's unit and in increasing order.

    Without a `method`, one quantile is drawn by the exponential mechanism, several by the joint one, and lists that the
    joint one cannot carry by recursion. `steps` is for the histogram method, `smoothing`, in the units of the column,
    for the smooth one. `spacing="log1p"` takes candidates that lie close together near the low bound and far apart near
    the high one, for columns with a long tail. `public_size` states, under REPLACE_ONE, that no replacement changes how
    many records there are. Records are clamped to the declared bounds; any table, an empty one too, gives an answer.

    >>> import bruit, polars
    >>> ledger = bruit.Ledger("payroll", epsilon=3, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)
    >>> table = bruit.tables.read(polars.DataFrame({"income": range(0, 90_000, 30)}), person=bruit.EACH_ROW)
    >>> income = table["income"].within(0, 200_000, grid=100)
    >>> release = quantiles(income, [0.25, 0.5, 0.75], budget=ledger.budget(epsilon=1))
    >>> release.labels, str(release.guarantee)
    (('0.25', '0.5', '0.75'), 'ε = 1 for each row (add or remove one, by basic)')
    """
    purchase = ask(budget, what="central.quantiles", person=column.table.person, rng=rng)
    mechanism = quantiles_mechanism(
        column,
        probabilities,
        purchase.price,
        method=method,
        steps=steps,
        smoothing=smoothing,
        spacing=spacing,
        public_size=public_size,
    )
    return mechanism.release(purchase)


def quantiles_mechanism(
    column: Column,
    probabilities: Probabilities,
    price: Budget,
    *,
    method: str | None = None,
    steps: int = STEPS,
    smoothing: Exact | None = None,
    spacing: str = "linear",
    public_size: bool = False,
) -> Mechanism[Cells, NDArray[np.float64]]:
    """The mechanism of `quantiles`: draws grid values by a method that a budget pays for."""
    what, wanted = "central.quantiles", as_probabilities(probabilities)
    epsilon = min(part_of(price, 1, what), LARGEST_EPSILON)
    person, domain = person_of(column, price, public_size=public_size), column.numbers
    ranks = RankQuestion(wanted, domain, epsilon, person, steps, smoothing, spacing)
    drawing, subject = ranks.method_named(method), asked(column.table, column)
    reader = question_about(column.table, partial(measures.quantiles, probabilities=wanted), column).reader
    labels = tuple(f"{float(p):g}" for p in wanted)
    public = {"probabilities": [str(p) for p in wanted], "spacing": spacing, **drawing.details, **subject}

    def read(rng: np.random.Generator) -> Cells:
        cells = reader.integers(rng) - domain.lowest  # zero at the low bound
        return ranks.candidates.cells(in_order(cells, domain.size))

    def send(records: Cells, n: int, rng: np.random.Generator) -> Cells:
        return np.array([drawing.draw_once(records, rng) for _ in range(n)])

    def interpret(cells: Cells) -> Outcome[NDArray[np.float64]]:
        values = ranks.candidates.values(cells)
        return Outcome(value=values, method=drawing.method, labels=labels, details=public)

    assumes = (Assumption.PUBLIC_SIZE,) if person.fixed_size else ()
    return Mechanism(what, Pure(epsilon, neighbours=price.neighbours), read, send, interpret, assumes)
