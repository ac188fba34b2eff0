"""Checks by brute force over small tables that no person moves what noise is added to beyond what was paid.

`walks` lists one walk for every public callable that takes `budget=`, with every limit on a person's rows that it has;
a test finds those that miss. What has no walk stands in `EXEMPT` with the reason and with what holds it instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any
from unittest.mock import patch

import numpy as np
import polars

from bruit import synthetic, tables
from bruit.apps.audits.case import fresh_budget
from bruit.apps.audits.central import WALKED
from bruit.apps.audits.side_by_side import side_by_side
from bruit.apps.findings import Size
from bruit.audit import SensitivityCheck, check_sensitivity
from bruit.audit.zero_noise import TAPES
from bruit.central.questions import Limit, Question
from bruit.central.questions import count as counting
from bruit.central.questions import mean as averaging
from bruit.central.questions import people as counting_people
from bruit.central.questions import total as adding
from bruit.channels.choices import Exponential
from bruit.core.losses import Loss
from bruit.core.neighbours import Neighbours
from bruit.ledger import Budget
from bruit.synthetic.curator import Curator
from bruit.tables.plan.operators import open_table
from bruit.tables.schema import Schema, category, number, whole

Row = tuple[Any, ...]

EXEMPT = {
    "central.quantiles": "chooses among ranks with weights of its own: tests/central/ranks sums its whole law",
    "central.inverse_sensitivity": "its score is a path length: tests/central holds it against all tables",
    "central.AboveThreshold": "interactive; what it is asked is the caller's number, which is clamped by nobody",
    "central.bounds": "its threshold is a sparse vector: the audit measures it",
    "synthetic.synthesise_linked": "two syntheses under one charge",
    "deep.train": "adds floating noise to clipped gradients: tests/deep measures every norm",
    "deep.privatise": "the same steps as deep.train",
    "deep.train_head": "the same steps as deep.train",
    "deep.RecipeSearch": "trains with deep.train and deep.train_head; the audit measures its released score",
    "deep.plan_head": "plans, and reads nothing",
    "learning.Student": "asks NearestNeighbours",
    "learning.select": "halves of the people are drawn for each try: the audit measures it",
    "learning.PrivateSearch": "asks learning.select",
    "synthetic.compare": "takes no budget but WITHOUT_PRIVACY: a page for the curator",
    "synthetic.compare_cells": "takes no budget but WITHOUT_PRIVACY: a page for the curator",
    "continual.Stream": "its noise is correlated over periods: tests/continual walks everything a person may do",
}
"""What is not walked, why, and what holds it."""

OTHERS: tuple[Row, ...] = ((101, "a", 1), (102, "b", 0))
"""Rows of people who stay: a person, a group, a number from -1 to 2."""


@dataclass(frozen=True)
class Walk:
    """A brute-force check of one release under one limit; `most` is the number of different people tried."""

    name: str
    variant: str
    walk: Callable[[int], list[SensitivityCheck]]

    def run(self, *, most: int) -> list[SensitivityCheck]:
        """The results of the check, one line per neighbouring relation."""
        return [replace(line, name=f"{self.name}[{self.variant}]") for line in self.walk(most)]


MOST_PEOPLE: dict[Size, int] = {"small": 2, "full": 12}
"""How many different people are walked."""


def run(
    size: Size, *, on_progress: Callable[[int, int], None] | None = None, workers: int = 1
) -> list[SensitivityCheck]:
    """Runs every check; two lines each, one per neighbouring relation. Several `workers` walk side by side."""
    asked = [(walk.name, walk.variant, size) for walk in walks()]
    found: list[SensitivityCheck] = []
    for place, lines in enumerate(side_by_side(_walk_named, asked, workers), 1):
        found += lines
        if on_progress is not None:
            on_progress(place, len(asked))
    return found


def _walk_named(asked: tuple[str, str, Size]) -> list[SensitivityCheck]:
    """One check, found by its name: a walk holds functions that cannot be sent to another process."""
    name, variant, size = asked
    (walk,) = (each for each in walks() if (each.name, each.variant) == (name, variant))
    return walk.run(most=MOST_PEOPLE[size])


def walks() -> Iterator[Walk]:
    """Every check of the packages that are installed."""
    for name, ask in WALKED.items():
        for limit in LIMITS:
            yield Walk(f"central.{name}", f"rows={limit}", partial(_statistic, name, ask, limit))
    for bound in (Limit(rows=1), Limit(rows=2), Limit(groups=1, each=2), Limit(groups=2, each=1)):
        yield Walk("sql.ask", str(bound), partial(_question, bound))
    for limit in LIMITS:
        yield Walk("synthetic.synthesise", f"rows={limit}", partial(_synthesis, limit))
        yield Walk("synthetic.synthesise", f"rows={limit}, predict", partial(_synthesis, limit, predict="x"))
    if find_spec("sklearn") is not None:
        from bruit.apps.audits.small_tables.fitted_sums import estimator_walks

        yield from estimator_walks()


def small_people(rows: Sequence[Row], most: int) -> list[tuple[Row, ...]]:
    """The persons to try, at most `most`, as tuples of rows: none, one row twice, one row, two different rows."""
    single = [(row,) for row in rows]
    pairs = [(one, other) for place, one in enumerate(rows) for other in rows[place + 1 :]]
    return [(), *((row, row) for row in rows), *single, *pairs][: most + 1]


LIMITS = (1, 2)
ROWS: tuple[Row, ...] = tuple((7, group, x) for group in ("a", "b", "else") for x in (2, -1, None))


def _statistic(name: str, ask: Callable[..., Any], limit: int, most: int) -> list[SensitivityCheck]:
    def release(rows: Sequence[Row], neighbours: Neighbours) -> Loss:
        kinds = {"id": polars.Int64, "group": polars.String, "x": polars.Int64}
        frame = polars.DataFrame(list(rows), schema=kinds, orient="row")
        budget = fresh_budget(neighbours, person="id")
        ask(tables.read(frame, person="id").limit(rows=limit), budget=budget, rng=np.random.default_rng(1))
        return charged(budget)

    return check_sensitivity(f"central.{name}", release, small_people(ROWS, most), others=OTHERS)


def _question(limit: Limit, most: int) -> list[SensitivityCheck]:
    def release(rows: Sequence[Row], neighbours: Neighbours) -> Loss:
        kinds = {"id": polars.Int64, "group": polars.String, "x": polars.Int64}
        columns: dict[str, Any] = {"id": whole(), "group": category(["a", "b"]), "x": number(-1, 2, grid=1)}
        plan = open_table(polars.DataFrame(list(rows), schema=kinds, orient="row"), Schema("id", columns))
        asked = {"n": counting(), "who": counting_people(), "s": adding(plan["x"]), "m": averaging(plan["x"])}
        budget = fresh_budget(neighbours, person="id")
        question = Question(plan, asked, {"group": plan["group"]}, limit)
        question.release(budget=budget, rng=np.random.default_rng(1))
        return charged(budget)

    return check_sensitivity("sql.ask", release, small_people(ROWS, most), others=OTHERS)


def _synthesis(limit: int, most: int, *, predict: str | None = None) -> list[SensitivityCheck]:
    @patch.object(Curator, "_draw", _choose_marginal)
    def release(rows: Sequence[Row], neighbours: Neighbours) -> Loss:
        kinds = {"id": polars.Int64, "group": polars.String, "x": polars.Int64}
        frame = polars.DataFrame(list(rows), schema=kinds, orient="row").with_columns(z=polars.col("x"))
        table = tables.read(frame, person="id").limit(rows=limit)
        budget = fresh_budget(neighbours, 1.0, 1e-6, person="id")
        column = tables.within(-1, 2, grid=1, missing=0)
        columns: dict[str, Any] = {"group": tables.among(["a", "b"]), "x": column, "z": column}
        synthetic.synthesise(table, columns, budget=budget, predict=predict, rng=np.random.default_rng(1))
        return charged(budget)

    return check_sensitivity("synthetic.synthesise", release, small_people(ROWS, most), others=OTHERS)


def _choose_marginal(_curator: Curator, scores: Any, exponent: Any) -> int:
    """The choice of a marginal, which the curator draws with weights of its own."""
    return TAPES[-1].choose(Exponential.kind, exponent, np.asarray(scores))


def charged(budget: Budget) -> Loss:
    """The loss charged to the budget's ledger."""
    return next(iter(budget.ledger.entries)).loss
