"""Every exact part on a real Spark cluster, beside polars on the same rows."""

from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import exact_integers as exact
import numpy as np
import polars as pl
import pytest
from spark import Cluster

from bruit import tables
from bruit.privacy import EACH_ROW

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("spark")]

ROWS, FILES = 4000, 8
PARTS = {
    "count": lambda table: exact.count(table),
    "count of a column": lambda table: exact.count(numbers(table)),
    "total": lambda table: exact.total(numbers(table)),
    "tally": lambda table: exact.tally(numbers(table)),
    "histogram": lambda table: exact.histogram(cities(table), numbers(table)),
    "group totals": lambda table: exact.group_totals(cities(table), numbers(table)),
    "found groups": lambda table: exact.found_groups(table["city"]),
}


def numbers(table: tables.Table) -> tables.Column:
    return table["value"].within(0, 10, grid="0.5", missing=4)


def cities(table: tables.Table) -> tables.Column:
    return table["city"].among(["Paris", "Lyon"])


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files with nulls, NaN and infinities, people with many rows, and rows that name nobody."""
    rng = np.random.default_rng(3)
    value = pl.Series(rng.normal(5, 3, ROWS))
    place = pl.int_range(ROWS, eager=True)
    value = value.set(place % 7 == 0, np.nan).set(place % 97 == 1, np.inf).set(place % 89 == 1, -np.inf)
    frame = pl.DataFrame(
        {
            "id": pl.Series(rng.integers(-200, 400, ROWS)).set(place % 50 == 3, None),
            "value": value.set(place % 11 == 0, None),
            "city": rng.choice(["Paris", "Lyon", "elsewhere", None], ROWS).tolist(),
            "place": place,
        }
    ).with_columns(name=pl.format("person {}", "id"), short=pl.col("id").cast(pl.Int32).fill_null(2**31 - 1))
    folder = tmp_path_factory.mktemp("people")
    for part, rows in enumerate(frame.iter_slices(ROWS // FILES)):
        rows.write_parquet(folder / f"{part}.parquet")
    return folder


def opened(source: Any, person: str) -> tables.Table:
    table = tables.read(source, person=person)
    return table if person == EACH_ROW else table.limit(groups=2, each=2)


def plain(answer: Any) -> Any:
    return answer if isinstance(answer, dict) else np.asarray(answer).tolist()


EVERY_PART = [("id", part) for part in PARTS]
OTHER_PEOPLE = [(person, part) for person in ("name", EACH_ROW) for part in PARTS]
IN_THE_GATE = {("name", "histogram"), ("name", "found groups"), (EACH_ROW, "group totals")}
"""Every part for people named by integers; texts and rows as people differ in the choice alone."""


@pytest.mark.parametrize(
    ("person", "part"),
    [
        *EVERY_PART,
        *(pytest.param(*each, marks=[] if each in IN_THE_GATE else pytest.mark.stress) for each in OTHER_PEOPLE),
    ],
)
def test_spark_gives_the_integers_that_polars_gives(spark: Any, people: Path, person: str, part: str) -> None:
    ours = PARTS[part](opened(spark.read.parquet(str(people)), person))  # type: ignore[no-untyped-call]
    assert plain(ours) == plain(PARTS[part](opened(people, person)))  # type: ignore[no-untyped-call]


@pytest.mark.parametrize(
    ("person", "part"),
    [("short", "tally"), ("name", "histogram")]
    + [pytest.param(*each, marks=pytest.mark.stress) for each in (("short", "histogram"), ("name", "tally"))],
)
def test_one_row_of_each_person_is_the_same_on_spark(spark: Any, people: Path, person: str, part: str) -> None:
    sources = spark.read.parquet(str(people)), people
    ours, polars = (PARTS[part](tables.read(source, person=person).limit(rows=1)) for source in sources)  # type: ignore[no-untyped-call]
    assert plain(ours) == plain(polars)


@pytest.mark.stress  # the gate kills a worker in the middle of a question: test_choice_on_spark.py
def test_a_worker_killed_in_the_middle_of_a_job_changes_nothing(
    spark: Any,
    cluster: Cluster,
    people: Path,
) -> None:
    slow = "case when place % 125 = 0 then reflect('java.lang.Thread', 'sleep', cast(150 as bigint)) end"
    frame = spark.read.parquet(str(people)).where(f"coalesce({slow}, 'awake') is not null").repartition(16, "place")
    answers: list[Any] = []
    job = Thread(target=lambda: answers.append(PARTS["histogram"](opened(frame, "id"))))  # type: ignore[no-untyped-call]
    job.start()
    tracker, until = spark.sparkContext.statusTracker(), monotonic() + 60
    while not any(_is_half_done(tracker.getStageInfo(stage)) for stage in tracker.getActiveStageIds()):
        assert job.is_alive(), "the job ended before a worker was killed"
        assert monotonic() < until
        sleep(0.02)
    cluster.kill_worker()
    assert job.is_alive()
    job.join(120)
    assert len(tracker._jtracker.getExecutorInfos()) == 2, "the driver and the one executor that is left"
    assert plain(answers[0]) == plain(PARTS["histogram"](opened(people, "id")))  # type: ignore[no-untyped-call]


def _is_half_done(stage: Any) -> bool:
    return stage is not None and stage.numActiveTasks > 0 and stage.numCompletedTasks > 0
