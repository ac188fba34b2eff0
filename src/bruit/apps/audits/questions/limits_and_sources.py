"""Audits of questions: every limit, both noises and every engine, with several rows per person.

A person of four rows at one end of the bounds is there or not, or is exchanged for one at the other end. What is drawn
is the noise that the price bought, around integers read from the source, as the score that tells the two tables best
apart: for Laplace noise the difference of the distances to either, for Gaussian the projection on their difference.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from functools import cache, cached_property
from importlib.util import find_spec
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.apps.audits.case import EPSILON, Case, GaussianCase, fresh_budget
from bruit.apps.steward.sources import open_plan
from bruit.central.questions import Limit, Prepared, Question, total
from bruit.central.questions.noises import PricedNoise
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours
from bruit.tables.plan.operators import Plan, open_table
from bruit.tables.schema import File, Schema, category, number, whole

LIMITS = {"rows=1": Limit(rows=1), "rows=3": Limit(rows=3), "groups=2, each=2": Limit(groups=2, each=2)}
PRICES = {"laplace": (EPSILON, 0.0, 10_000), "gaussian": (8.0, 0.01, 2_000)}
"""Of each noise: ε, δ and how often it is drawn at small size; a large ε shows in fewer draws."""

FULL = {"laplace": 500_000, "gaussian": 50_000}
"""Draws of each noise in a full audit of polars frames; Gaussian noise is slower to draw."""

FULL_ELSEWHERE = {"laplace": 100_000, "gaussian": 20_000}
"""Draws in a full audit of other engines: fewer, since they add the same noise and only their integers could differ."""

SCHEMA = Schema("id", {"id": whole(), "group": category(["a", "b"]), "x": number(-10, 10, grid=1)})

Rows = tuple[tuple[int, str, int], ...]
OTHERS: Rows = ((2, "a", 3), (3, "b", -4))
GROUPS = {"rows=1": "aaaa", "rows=3": "aaaa", "groups=2, each=2": "aabb"}
"""The groups of the four rows of the person who moves the sums furthest under each limit."""


def in_polars(frame: polars.DataFrame, _folder: Path) -> Plan:
    """The rows as a polars frame."""
    return open_table(frame, SCHEMA)


def in_pandas(frame: polars.DataFrame, _folder: Path) -> Plan:
    """The rows as a pandas frame with NumPy and object columns."""
    import pandas

    return open_table(pandas.DataFrame(frame.to_dict(as_series=False)), SCHEMA)


def in_duckdb(frame: polars.DataFrame, _folder: Path) -> Plan:
    """The rows as a DuckDB relation."""
    import duckdb

    return open_table(duckdb.connect().from_arrow(frame.to_arrow()), SCHEMA)


def in_arrow(frame: polars.DataFrame, _folder: Path) -> Plan:
    """The rows as an Arrow table."""
    return open_table(frame.to_arrow(), SCHEMA)


def in_csv(frame: polars.DataFrame, folder: Path) -> Plan:
    """The rows as a file of lines, opened as the command line opens it."""
    frame.write_csv(folder / "rows.csv")
    return open_plan(str(folder / "rows.csv"), SCHEMA)


def in_parquet(frame: polars.DataFrame, folder: Path) -> Plan:
    """The rows as a Parquet file."""
    frame.write_parquet(folder / "rows.parquet")
    return open_plan(str(folder / "rows.parquet"), replace(SCHEMA, file=File(kind="parquet")))


def in_excel(frame: polars.DataFrame, folder: Path) -> Plan:
    """The rows as a sheet of an Excel file."""
    frame.write_excel(folder / "rows.xlsx")
    return open_plan(str(folder / "rows.xlsx"), replace(SCHEMA, file=File(kind="excel")))


def in_database(frame: polars.DataFrame, folder: Path) -> Plan:
    """The rows as a table of a SQLite file."""
    with closing(sqlite3.connect(folder / "rows.db")) as database, database:
        database.execute('CREATE TABLE rows (id INTEGER, "group" TEXT, x INTEGER)')
        database.executemany("INSERT INTO rows VALUES (?, ?, ?)", frame.rows())
    return open_plan(str(folder / "rows.db"), SCHEMA, table="rows")


SOURCES: dict[str, Callable[[polars.DataFrame, Path], Plan]] = {
    "polars": in_polars,
    "pandas": in_pandas,
    "arrow": in_arrow,
    "duckdb": in_duckdb,
    "csv": in_csv,
    "parquet": in_parquet,
    "excel": in_excel,
    "database": in_database,
}

PACKAGES = {
    "pandas": ("pandas",),
    "arrow": ("pyarrow",),
    "duckdb": ("duckdb", "pyarrow"),
    "excel": ("fastexcel", "xlsxwriter"),
}
"""What a source needs beyond bruit's own dependencies: it is audited where that is installed."""


def installed_sources() -> list[str]:
    """The sources that can be read here."""
    return [name for name in SOURCES if all(find_spec(package) for package in PACKAGES.get(name, ()))]


def cases(neighbours: Neighbours) -> Iterator[Case]:
    """Each limit with each noise and each source that can be read here."""
    for limit in LIMITS:
        here, instead = (tuple((1, group, value) for group in GROUPS[limit]) for value in (10, -10))
        pair = ((*OTHERS, *here), OTHERS if neighbours is ADD_OR_REMOVE_ONE else (*OTHERS, *instead))
        for noise, (_, _, small) in PRICES.items():
            for source in installed_sources():
                drawn = _Drawn(limit, noise, source, neighbours, pair)
                full = (FULL if source == "polars" else FULL_ELSEWHERE)[noise]
                settings: dict[str, Any] = {"small": small, "full": full, "variant": f"{limit} {noise} {source}"}
                if noise == "laplace":
                    yield Case("sql.ask", neighbours, pair, drawn.many, claimed=EPSILON, **settings)
                else:
                    yield GaussianCase("sql.ask", neighbours, pair, drawn.many, claimed=drawn.shift, **settings)


class _Drawn:
    """Draws of the sums of a question, each as a score that tells the two tables of the pair apart."""

    def __init__(self, limit: str, noise: str, source: str, neighbours: Neighbours, pair: tuple[Rows, Rows]) -> None:
        self.limit, self.noise, self.source, self.neighbours, self.pair = limit, noise, source, neighbours, pair

    def prepared(self, rows: Rows, folder: Path) -> Prepared:
        kinds = {"id": polars.Int64, "group": polars.String, "x": polars.Int64}
        frame = polars.DataFrame(list(rows), schema=kinds, orient="row")
        plan = SOURCES[self.source](frame, folder)
        asked = Question(plan, {"s": total(plan["x"])}, {"group": plan["group"]}, LIMITS[self.limit], noise=self.noise)
        epsilon, delta, _ = PRICES[self.noise]
        return Prepared.of(asked, fresh_budget(self.neighbours, epsilon, delta, person="id"))

    @cached_property
    def ends(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The integers that the question reads from either table of the pair."""
        here, instead = map(self.exact, self.pair)
        return here, instead

    def exact(self, rows: Rows) -> NDArray[Any]:
        """The integers that the question reads from the source."""
        with TemporaryDirectory() as folder:
            # one key for all tables: the rows that are chosen show the way
            return self.prepared(rows, Path(folder)).read(np.random.default_rng(1))[0].parts[0]

    @cached_property
    def bought(self) -> PricedNoise:
        """The noise that the price buys."""
        with TemporaryDirectory() as folder:
            found = self.prepared(OTHERS, Path(folder)).levels[0].bought["s"]
        assert isinstance(found, PricedNoise)
        return found

    @property
    def shift(self) -> float:
        """The shift that was paid for, in standard deviations of the Gaussian noise."""
        squares, variance = _paid_shift(self.limit, self.neighbours)
        return sqrt(squares / variance)

    def many(self, rows: Rows, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        here, instead = self.ends
        exact = here if rows == self.pair[0] else instead
        sent = self.bought.noise.send(np.tile(exact, (samples, 1)), rng)
        if self.noise == "laplace":
            return np.asarray(np.abs(sent - instead).sum(axis=1) - np.abs(sent - here).sum(axis=1))
        return np.asarray(sent @ (here - instead))


@cache
def _paid_shift(limit: str, neighbours: Neighbours) -> tuple[float, float]:
    drawn = _Drawn(limit, "gaussian", "polars", neighbours, (OTHERS, OTHERS))
    with TemporaryDirectory() as folder:
        prepared = drawn.prepared(OTHERS, Path(folder))
    moved = prepared.question.sensitivity("s", neighbours)
    return float(moved.l2_squared), float(drawn.bought.noise.loss.variance)  # type: ignore[union-attr]
