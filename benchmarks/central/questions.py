"""Questions of ten million rows of a million people beside what the engines do without privacy, and beside peers.

Each question counts and averages by 120 cells, of at most three rows of each person. The engines' own choice of rows is
`row_number` in a random order, which is not repeatable; the peers choose by their own means.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.case import Case, Peer, Prepare, Work

if TYPE_CHECKING:
    import polars

ROWS = int(os.environ.get("BRUIT_BENCHMARK_ROWS", "10_000_000"))
PEOPLE, CELLS, KEPT, HIGH = ROWS // 10, 120, 3, 100
LOCAL_ROWS = int(os.environ.get("BRUIT_BENCHMARK_LOCAL_ROWS", "200_000"))
"""Rows for PipelineDP's local runner, which reads them one by one and holds them as objects."""

CSV_SPEED = 150e6


@lru_cache(maxsize=2)
def rows(number: int = ROWS, *, texts: bool = False) -> polars.DataFrame:
    """Rows of people, a tenth as many, with a cell and a value."""
    import numpy as np
    import polars

    rng = np.random.default_rng(1)
    frame = polars.DataFrame(
        {
            "id": rng.integers(0, max(number // 10, 1), number),
            "cell": rng.integers(0, CELLS, number),
            "x": rng.integers(0, HIGH + 1, number),
        }
    )
    return frame.with_columns(polars.format("person {}", "id").alias("id")) if texts else frame


def asked(
    source: Any,
    *,
    person: str = "id",
    texts: bool = False,
    measures: int = 2,
    keys: bool = True,
    memory: int | None = None,
) -> Work:
    """Releases a question about a source again and again."""
    import bruit
    from bruit.central.questions import Limit, Question, count, distinct, mean, non_missing, people, total, variance
    from bruit.tables.schema import Schema, number, text, whole

    columns = {
        "id": text() if texts else whole(),
        "cell": number(0, CELLS - 1, grid=1),
        "x": number(0, HIGH, grid=1),
    }
    table = bruit.tables.open_table(source, Schema(person, columns), memory=memory)
    x = table["x"]
    every = [count(), mean(x), variance(x), total(x), non_missing(x), people(), distinct(x)]
    every += [mean(table["cell"]), total(table["cell"]), variance(table["cell"])]
    question = Question(
        table,
        {f"m{place}": measure for place, measure in enumerate(every[:measures])},
        {"cell": table["cell"]} if keys else {"x": x},
        None if person == bruit.EACH_ROW else Limit(rows=KEPT),
    )
    book = bruit.Ledger("benchmark", epsilon=10_000, neighbours=bruit.ADD_OR_REMOVE_ONE, person=person)
    return lambda: question.release(budget=book.budget(epsilon=1))


def on_polars(**asks: Any) -> Prepare:
    return lambda: asked(rows(texts=asks.get("texts", False)), **asks)


def on_duckdb(**asks: Any) -> Prepare:
    return lambda: asked(duckdb_table(texts=asks.get("texts", False)), **asks)


def duckdb_table(*, texts: bool = False) -> Any:
    """The rows inside DuckDB, copied there before the clock starts."""
    import duckdb

    connection = duckdb.connect()
    connection.register("arrived", rows(texts=texts).to_arrow())
    connection.execute("create table stays as select * from arrived")
    return connection.table("stays")


def on_spark(work: Callable[[Any], Work]) -> Prepare:
    def prepare() -> Work:
        from pyspark.sql import SparkSession

        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        folder = Path(tempfile.mkdtemp(prefix="bruit-benchmark-"))
        for part, frame in enumerate(rows().iter_slices(ROWS // 8)):
            frame.write_parquet(folder / f"{part}.parquet")
        builder = SparkSession.builder.master("local[2]")
        for name, value in {
            "spark.ui.enabled": "false",
            "spark.driver.memory": "3g",
            "spark.sql.shuffle.partitions": "4",
        }.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
        session.sparkContext.setLogLevel("OFF")
        return work(session.read.parquet(str(folder)))

    return prepare


# ---------------------------------------------------------------- what the engines do by themselves

CHOICE = f"""select cell, count(*), avg(x) from (
    select cell, x, row_number() over (partition by id order by drawn) as place
    from (select *, {{random}} as drawn from stays)
) where place <= {KEPT} group by cell"""


def duckdb_choice() -> Work:
    table = duckdb_table()
    return lambda: table.query("stays", CHOICE.format(random="random()")).fetchall()


def spark_choice(frame: Any) -> Work:
    frame.createOrReplaceTempView("stays")
    return lambda: frame.sparkSession.sql(CHOICE.format(random="rand()")).collect()


def polars_choice() -> Work:
    import polars

    frame = rows()

    def work() -> object:
        drawn = frame.lazy().with_columns(polars.int_range(polars.len()).shuffle().alias("drawn"))
        kept = drawn.filter(polars.col("drawn").rank("ordinal").over("id") <= KEPT)
        return kept.group_by("cell").agg(polars.len(), polars.col("x").mean()).collect(engine="streaming")

    return work


def polars_groups() -> Work:
    import polars

    query = rows().lazy().group_by("cell").agg(polars.len())
    return lambda: query.collect(engine="streaming")


def polars_histogram() -> Work:
    import polars

    steps = (polars.col("x").clip(0, HIGH) + 0.5).floor().cast(polars.Int64)
    query = rows().lazy().group_by(steps).agg(polars.len())
    return lambda: query.collect(engine="streaming")


WIDE_ROW = 78.9
"""Bytes of a row of the CSV file: the three columns that are read, a day and a note, as an export of stays has them."""


def csv_file() -> Path:
    import polars

    path = Path(tempfile.gettempdir()) / f"bruit-benchmark-{ROWS}.csv"
    if not path.exists():
        note = polars.lit("seen in the morning; to be seen again within six weeks").alias("note")
        rows().with_columns(polars.lit("2025-03-31").alias("admitted"), note).write_csv(path)
    return path


def csv_question() -> Work:
    """Each row a person: what remains is reading."""
    return asked(csv_file(), person="each row")


def large_csv_file() -> Path:
    """A file of three times the rows, written and kept in parts, so that making it takes no memory."""
    import polars

    path = Path(tempfile.gettempdir()) / f"bruit-benchmark-{3 * ROWS}.csv"
    if not path.exists():
        note = polars.lit("seen in the morning; to be seen again within six weeks").alias("note")
        part = rows(ROWS // 20).with_columns(polars.lit("2025-03-31").alias("admitted"), note)
        with path.with_suffix(".part").open("wb") as file:
            for place in range(60):
                part.with_columns(polars.col("id") + place * (ROWS // 200)).write_csv(file, include_header=place == 0)
        path.with_suffix(".part").rename(path)
    return path


def peak_memory(memory: int | None) -> Prepare:
    """The largest memory of the whole process, in MiB, of a question about people over a large file."""

    def prepare() -> Work:
        import resource

        work = asked(large_csv_file(), memory=memory)

        def peak() -> float:
            work()
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

        return peak

    return prepare


# ---------------------------------------------------------------- peers


def opendp_question() -> Work:
    """Count and mean by cell of at most three rows of each person, by OpenDP's polars context."""
    import opendp.prelude as dp
    import polars

    dp.enable_features("contrib")
    frame = rows()

    def work() -> object:
        context = dp.Context.compositor(
            data=frame.lazy(),
            privacy_unit=dp.unit_of(contributions=1, identifier=polars.col("id")),
            privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-7),
            split_evenly_over=1,
            margins=[dp.polars.Margin(by=["cell"], invariant="keys", max_length=ROWS)],
        )
        query = (
            context.query()
            .truncate_per_group(KEPT)
            .group_by("cell")
            .agg(dp.len(), polars.col("x").fill_null(0).dp.sum((0, HIGH)))  # type: ignore[attr-defined]
        )
        return query.release().collect()

    return work


def pipelinedp_question() -> Work:
    """Count and mean by cell of at most three rows of each person, by PipelineDP's local runner."""
    import pipeline_dp

    data = [tuple(row) for row in rows(LOCAL_ROWS).rows()]
    metrics = [pipeline_dp.Metrics.COUNT, pipeline_dp.Metrics.MEAN]

    def work() -> object:
        accountant = pipeline_dp.NaiveBudgetAccountant(total_epsilon=1, total_delta=1e-6)
        engine = pipeline_dp.DPEngine(accountant, pipeline_dp.LocalBackend())
        params = pipeline_dp.AggregateParams(
            noise_kind=pipeline_dp.NoiseKind.LAPLACE,
            metrics=metrics,
            max_partitions_contributed=KEPT,
            max_contributions_per_partition=1,
            min_value=0,
            max_value=HIGH,
        )
        extractors = pipeline_dp.DataExtractors(
            partition_extractor=lambda row: row[1],
            privacy_id_extractor=lambda row: row[0],
            value_extractor=lambda row: row[2],
        )
        result = engine.aggregate(data, params, extractors, public_partitions=list(range(CELLS)))
        accountant.compute_budgets()
        return list(result)

    return work


def ours_of_the_same_rows() -> Work:
    return asked(rows(LOCAL_ROWS))


# ---------------------------------------------------------------- widths at equal price


def width(kind: str | None, *, cells: int = 64) -> Prepare:
    """The half-width of counts in 64 cells that one person moves, at (1, 1e-6)."""

    def prepare() -> Work:
        from fractions import Fraction

        import bruit
        from bruit.central.questions import Limit, RowRange, sensitivity
        from bruit.central.questions.noises import BudgetShare, buy

        relation = bruit.ADD_OR_REMOVE_ONE
        moved = sensitivity(RowRange(0, 1), Limit(groups=cells, each=1), groups=1000, neighbours=relation)
        share = BudgetShare(Fraction(1), Fraction(1, 10**6), relation)
        return lambda: buy(moved, share, confidence=0.95, kind=kind).noise.half_width(0.95)

    return prepare


def count_width() -> Work:
    """The half-width of a count by cell of at most three rows of each person, at (1, 1e-7)."""
    import bruit
    from bruit.central.questions import Limit, Question, count
    from bruit.tables.schema import Schema, number, whole

    schema = Schema("id", {"id": whole(), "cell": number(0, CELLS - 1, grid=1)})
    table = bruit.tables.open_table(rows(1000), schema)
    question = Question(table, {"n": count()}, {"cell": table["cell"]}, Limit(rows=KEPT))
    book = bruit.Ledger("benchmark", epsilon=1, delta=1e-7, neighbours=bruit.ADD_OR_REMOVE_ONE, person="id")
    release = question.release(budget=book.budget(epsilon=1, delta=1e-7))
    return lambda: float(release.frame()["noise"][0])


def opendp_width() -> Work:
    """OpenDP's half-width of the same count, as its own summary of the query says."""
    import opendp.prelude as dp
    import polars

    dp.enable_features("contrib")
    context = dp.Context.compositor(
        data=rows(1000).lazy(),
        privacy_unit=dp.unit_of(contributions=1, identifier=polars.col("id")),
        privacy_loss=dp.loss_of(epsilon=1.0, delta=1e-7),
        split_evenly_over=1,
        margins=[dp.polars.Margin(by=["cell"], invariant="keys", max_length=ROWS)],
    )
    query = context.query().truncate_per_group(KEPT).group_by("cell").agg(dp.len())
    return lambda: float(query.summarize(alpha=0.05)["accuracy"][0])


def question_case(name: str, ours: Prepare, peer: Peer, **more: Any) -> Case:
    return Case(name, "s", "lower", ours, (peer,), threads=None, calls=2, rounds=2, **more)


CASES = [
    question_case(
        "count and mean by 120 cells, rows=3, polars",
        on_polars(),
        Peer("polars, random choice", polars_choice, times=1 / 2.5, here=True),
    ),
    question_case(
        "count and mean by 120 cells, rows=3, DuckDB",
        on_duckdb(),
        Peer("DuckDB, random choice", duckdb_choice, times=1 / 1.5, here=True),
    ),
    question_case(
        "count by 101 values, each row a person",
        on_polars(person="each row", measures=1, keys=False),
        Peer("polars, clamp, round and group", polars_histogram, times=1 / 1.3, here=True),
    ),
    question_case(
        "count by 120 keys, each row a person",
        on_polars(person="each row", measures=1),
        Peer("polars, group by", polars_groups, times=1 / 3, here=True),
    ),
    question_case(
        "ten statistics, rows=3, polars",
        on_polars(measures=10),
        Peer("one", on_polars(measures=1), times=1 / 1.5, ours=True),
    ),
    question_case(
        "ten statistics, rows=3, DuckDB",
        on_duckdb(measures=10),
        Peer("one", on_duckdb(measures=1), times=1 / 1.5, ours=True),
    ),
    question_case(
        "people named by texts, polars", on_polars(texts=True), Peer("numbers", on_polars(), times=1 / 1.7, ours=True)
    ),
    question_case(
        "people named by texts, DuckDB", on_duckdb(texts=True), Peer("numbers", on_duckdb(), times=1 / 1.7, ours=True)
    ),
    Case(
        "a CSV file of 79 bytes a row, each row a person",
        "bytes/s",
        "higher",
        csv_question,
        amount=ROWS * WIDE_ROW,
        goal=CSV_SPEED,
        threads=None,
        calls=2,
        rounds=2,
    ),
    Case(
        "peak memory of the process: a CSV file of three times the rows, rows=3, memory=256 MiB",
        "MiB",
        "lower",
        peak_memory(2**28),
        (Peer("memory not stated", peak_memory(None), ours=True),),
        returned=True,
        threads=None,
        calls=1,
        rounds=1,
    ),
    question_case(
        "beside OpenDP: count and mean by 120 cells, rows=3",
        on_polars(),
        Peer("OpenDP, polars", opendp_question, times=1.0),
    ),
    Case(
        "beside OpenDP: half-width of a count, rows=3, at (1, 1e-7)",
        "rows",
        "lower",
        count_width,
        (Peer("OpenDP, polars", opendp_width, times=1.0),),
        returned=True,
        calls=1,
        rounds=1,
    ),
    question_case(
        f"beside PipelineDP: {LOCAL_ROWS} rows",
        ours_of_the_same_rows,
        Peer("PipelineDP, local", pipelinedp_question, times=20.0),
    ),
    Case(
        "half-width of 64 cells at (1, 1e-6)",
        "rows",
        "lower",
        width(None),
        (Peer("discrete Laplace", width("laplace"), times=2.0, ours=True),),
        goal=71,
        returned=True,
        calls=1,
        rounds=1,
    ),
]
if find_spec("pyspark") is not None:
    CASES.append(
        question_case(
            "count and mean by 120 cells, rows=3, Spark",
            on_spark(asked),
            Peer("Spark, random choice", on_spark(spark_choice), times=1 / 2, here=True),
        )
    )
