"""Audits of SQL: a count and a mean, on a table with and without one row, or with one row replaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit import sql
from bruit.apps.audits.case import EPSILON, SHARP, Case, fresh_budget
from bruit.central.questions import Prepared
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW, Neighbours
from bruit.tables.plan.operators import open_table
from bruit.tables.schema import Schema, number

SCHEMA = Schema(EACH_ROW, {"x": number(0, 10, grid=1)}, name="rows")
QUERIES = {
    "count": ("select count(*) as n from rows where x >= 5", [9, 9, 9], 0, EPSILON, 10_000),
    "mean": ("select avg(x) as n from rows", [5, 0, 10], 0, SHARP, 10_000),
}
"""For each query: its SQL, the values of the rows, the first row's replacement, the claimed ε, the number of draws."""


def cases(neighbours: Neighbours) -> Iterator[Case]:
    """Each query, on a table and its neighbour."""
    for variant, (query, values, instead, claimed, small) in QUERIES.items():
        pair = (values, values[1:] if neighbours is ADD_OR_REMOVE_ONE else [instead, *values[1:]])
        asked = _Asked(query, neighbours, claimed)
        yield Case(
            "sql.ask",
            neighbours,
            pair,
            asked.many,
            asked.once,
            claimed=claimed,
            small=small,
            full=50_000,
            variant=variant,
        )


class _Asked:
    """A query over values, answered once by the public call or often by what it prepares."""

    def __init__(self, query: str, neighbours: Neighbours, epsilon: float) -> None:
        self.query, self.neighbours, self.epsilon = query, neighbours, epsilon

    def once(self, values: list[int], rng: np.random.Generator) -> float:
        budget = fresh_budget(self.neighbours, self.epsilon)
        return float(np.sum(sql.ask(self.query, tables=_tables(values), budget=budget, rng=rng).frame["n"].to_numpy()))

    def many(self, values: list[int], samples: int, rng: np.random.Generator) -> NDArray[Any]:
        question = sql.translate(self.query, _tables(values), limit=None).question
        prepared = Prepared.of(question, fresh_budget(self.neighbours, self.epsilon))
        exact = prepared.read(rng)
        return np.array([float(np.sum(prepared.interpret(prepared.send(exact, rng)).value)) for _ in range(samples)])


def _tables(values: list[int]) -> dict[str, Any]:
    return {"rows": open_table(polars.DataFrame({"x": values}), SCHEMA)}
