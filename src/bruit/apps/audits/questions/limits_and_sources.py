"""Audits of questions: every limit, both noises and every engine, with several rows per person.

A person of four rows at one end of the bounds is there or not, or is exchanged for one at the other end. What is drawn
is the noise that the price bought, around integers read from the source, projected on the way the person moves them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.apps.audits.case import EPSILON, Case, GaussianCase, fresh_budget
from bruit.central.questions import Limit, Prepared, Question, total
from bruit.central.questions.noises import PricedNoise
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours
from bruit.tables.plan.operators import open_table
from bruit.tables.schema import Schema, category, number, whole

LIMITS = {"rows=1": Limit(rows=1), "rows=3": Limit(rows=3), "groups=2, each=2": Limit(groups=2, each=2)}
PRICES = {"laplace": (EPSILON, 0.0, 10_000, 500_000), "gaussian": (8.0, 0.01, 2_000, 50_000)}
"""Of each noise: ε, δ and how often it is drawn; Gaussian noise takes longer to draw, and a large ε shows in less."""

SCHEMA = Schema("id", {"id": whole(), "group": category(["a", "b"]), "x": number(-10, 10, grid=1)})

Rows = tuple[tuple[int, str, int], ...]
OTHERS: Rows = ((2, "a", 3), (3, "b", -4))
HERE: Rows = tuple((1, group, 10) for group in "aabb")
INSTEAD: Rows = tuple((1, group, -10) for group in "aabb")


def in_polars(frame: polars.DataFrame) -> Any:
    """The rows as a polars frame."""
    return frame


def in_pandas(frame: polars.DataFrame) -> Any:
    """The rows as a pandas frame with NumPy and object columns."""
    import pandas

    return pandas.DataFrame(frame.to_dict(as_series=False))


def in_duckdb(frame: polars.DataFrame) -> Any:
    """The rows as a DuckDB relation."""
    import duckdb

    return duckdb.connect().from_arrow(frame.to_arrow())


def in_arrow(frame: polars.DataFrame) -> Any:
    """The rows as an Arrow table."""
    return frame.to_arrow()


SOURCES: dict[str, Callable[[polars.DataFrame], Any]] = {
    "polars": in_polars,
    "pandas": in_pandas,
    "arrow": in_arrow,
    "duckdb": in_duckdb,
}


def cases(neighbours: Neighbours) -> Iterator[Case]:
    """Each limit with each noise and each source."""
    pair = ((*OTHERS, *HERE), OTHERS if neighbours is ADD_OR_REMOVE_ONE else (*OTHERS, *INSTEAD))
    for limit in LIMITS:
        for noise, (_, _, small, full) in PRICES.items():
            for source in SOURCES:
                drawn = _Drawn(limit, noise, source, neighbours, pair)
                settings: dict[str, Any] = {"small": small, "full": full, "variant": f"{limit} {noise} {source}"}
                if noise == "laplace":
                    yield Case("sql.ask", neighbours, pair, drawn.many, claimed=EPSILON, **settings)
                else:
                    yield GaussianCase("sql.ask", neighbours, pair, drawn.many, claimed=drawn.shift, **settings)


class _Drawn:
    """Draws of the sums of a question, projected on the way in which the pair moves them."""

    def __init__(self, limit: str, noise: str, source: str, neighbours: Neighbours, pair: tuple[Rows, Rows]) -> None:
        self.limit, self.noise, self.source, self.neighbours, self.pair = limit, noise, source, neighbours, pair

    def prepared(self, rows: Rows) -> Prepared:
        kinds = {"id": polars.Int64, "group": polars.String, "x": polars.Int64}
        frame = polars.DataFrame(list(rows), schema=kinds, orient="row")
        plan = open_table(SOURCES[self.source](frame), SCHEMA)
        asked = Question(plan, {"s": total(plan["x"])}, {"group": plan["group"]}, LIMITS[self.limit], noise=self.noise)
        epsilon, delta, _, _ = PRICES[self.noise]
        return Prepared.of(asked, fresh_budget(self.neighbours, epsilon, delta, person="id"))

    @property
    def shift(self) -> float:
        """The shift that was paid for, in standard deviations of the Gaussian noise."""
        squares, variance = _paid_shift(self.limit, self.neighbours)
        return sqrt(squares / variance)

    def many(self, rows: Rows, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        prepared = self.prepared(rows)
        bought = prepared.levels[0].bought["s"]
        assert isinstance(bought, PricedNoise)
        exact, *ends = (
            self.prepared(each).read(np.random.default_rng(1))[0].parts[0] for each in (rows, *self.pair)
        )  # one key: the rows that are chosen show the way
        way = np.sign(ends[0] - ends[1])
        return np.asarray(bought.noise.send(np.tile(exact, (samples, 1)), rng) @ way)


@cache
def _paid_shift(limit: str, neighbours: Neighbours) -> tuple[float, float]:
    prepared = _Drawn(limit, "gaussian", "polars", neighbours, (OTHERS, OTHERS)).prepared(OTHERS)
    bought = prepared.levels[0].bought["s"]
    assert isinstance(bought, PricedNoise)
    moved = prepared.question.sensitivity("s", neighbours)
    return float(moved.l2_squared), float(bought.noise.loss.variance)  # type: ignore[union-attr]
