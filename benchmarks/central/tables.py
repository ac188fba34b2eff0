"""Counts and histograms of ten million rows beside the engine's own exact aggregation; noise for a million groups.

The peer is what a person would write for polars without privacy: clamp, round, group, count. On Spark the figure is
rows a second on this machine, with its session already started.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sys
import tempfile
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.case import Case, Peer, Prepare, Work

if TYPE_CHECKING:
    import polars

ROWS = 10_000_000
PEOPLE = 1_000_000
CITIES = 100
KEYS = 1_000_000
DEAREST = 1 / 1.3
"""Ours may cost at most 1.3 times the exact aggregation."""

SPARK_ROWS = 10_000_000


@lru_cache(maxsize=1)
def rows() -> polars.DataFrame:
    """Ten million rows of a million people."""
    import numpy as np
    import polars

    rng = np.random.default_rng(1)
    numbers = {"x": rng.random(ROWS) * 1000, "id": rng.integers(0, PEOPLE, ROWS), "k": rng.integers(0, CITIES, ROWS)}
    return polars.DataFrame(numbers).with_columns(polars.format("city {}", "k").alias("city")).drop("k")


def paid(source: Any, person: str) -> tuple[Any, Any]:
    """The table, and a budget of epsilon 1 that is never used up."""
    import bruit

    book = bruit.Ledger("benchmark", epsilon=10_000, neighbours=bruit.ADD_OR_REMOVE_ONE, person=person)
    table = bruit.tables.read(source, person=person)
    return table if person == bruit.EACH_ROW else table.limit(rows=1), book.budget(epsilon=1)


def histogram(person: str) -> Prepare:
    def prepare() -> Work:
        from bruit import central

        table, budget = paid(rows(), person)
        x = table["x"].within(0, 1000, grid=1)
        return lambda: central.histogram(x, budget=budget)

    return prepare


def grouped_count(person: str) -> Prepare:
    def prepare() -> Work:
        from bruit import central

        table, budget = paid(rows(), person)
        city = table["city"].among([f"city {i}" for i in range(CITIES)])
        return lambda: central.group_by(city, budget=budget)

    return prepare


def exact_histogram() -> Work:
    import polars

    steps = (polars.col("x").clip(0, 1000) + 0.5).floor().cast(polars.Int64)
    query = rows().lazy().group_by(steps).agg(polars.len())
    return lambda: query.collect(engine="streaming")


def exact_grouped_count() -> Work:
    import polars

    query = rows().lazy().group_by("city").agg(polars.len())
    return lambda: query.collect(engine="streaming")


def noise() -> Work:
    """What a million group keys need beside their exact counts."""
    from fractions import Fraction

    import bruit
    from bruit.channels import IntegerNoise
    from bruit.randomness import generator

    noise = IntegerNoise.laplace(Fraction(1), sensitivity=1, neighbours=bruit.ADD_OR_REMOVE_ONE)
    return lambda: noise.draw(KEYS, rng=generator(None))


def million_cells() -> Work:
    """The whole release, with its labels, its interval and its entry in the book."""
    from bruit import central

    table, budget = paid(rows().head(1000), "each row")
    cells = table["x"].within(0, KEYS - 1, grid=1)
    return lambda: central.histogram(cells, budget=budget)


def on_spark(person: str) -> Prepare:
    def prepare() -> Work:
        from pyspark.sql import SparkSession

        from bruit import central

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        folder = Path(tempfile.mkdtemp(prefix="bruit-benchmark-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for part, frame in enumerate(rows().head(SPARK_ROWS).iter_slices(SPARK_ROWS // 8)):
            frame.write_parquet(folder / f"{part}.parquet")
        settings = {"spark.ui.enabled": "false", "spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "4"}
        builder = SparkSession.builder.master("local[2]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        table, budget = paid(session.read.parquet(str(folder)), person)
        x = table["x"].within(0, 1000, grid=1)
        return lambda: central.histogram(x, budget=budget)

    return prepare


ENGINE = "polars, exact"
CASES = [
    Case(
        "histogram of 10M rows, each row a person",
        "s",
        "lower",
        histogram("each row"),
        (Peer(ENGINE, exact_histogram, times=DEAREST, here=True),),
        threads=None,
    ),
    Case(
        "count by 100 groups of 10M rows, each row a person",
        "s",
        "lower",
        grouped_count("each row"),
        (Peer(ENGINE, exact_grouped_count, times=DEAREST, here=True),),
        threads=None,
    ),
    Case(
        "histogram of 10M rows of 1M people",
        "s",
        "lower",
        histogram("id"),
        (Peer(ENGINE, exact_histogram, here=True),),
        threads=None,
    ),
    Case(
        "count by 100 groups of 10M rows of 1M people",
        "s",
        "lower",
        grouped_count("id"),
        (Peer(ENGINE, exact_grouped_count, here=True),),
        threads=None,
    ),
    Case("noise for 1M group keys", "s", "lower", noise, goal=1.0),
    Case("histogram of 1M cells, the whole release", "s", "lower", million_cells, goal=2.0),
]
if find_spec("pyspark") is not None:
    CASES += [
        Case(
            f"histogram on Spark, {who}", "rows/s", "higher", on_spark(person), amount=SPARK_ROWS, calls=3, threads=None
        )
        for who, person in (("each row a person", "each row"), ("1M people", "id"))
    ]
