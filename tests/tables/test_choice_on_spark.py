"""The choice of rows and the readers of cells on a real Spark cluster, beside polars on the same rows."""

from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import numpy as np
import polars as pl
import pytest
from hostile import FLOATS, TEXTS
from spark import Cluster

from bruit.privacy import EACH_ROW
from bruit.tables.choice.limits import Limit
from bruit.tables.plan.operators import open_table
from bruit.tables.plan.reading import Part, Reader
from bruit.tables.relations.operations import Scan
from bruit.tables.relations.running import run
from bruit.tables.schema import Schema, category, csv, date, found, number, text, whole, yesno
from bruit.tables.sources.opening import open_source

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("spark")]

CELLS: dict[str, Any] = {
    "number": number(-10, 1000, grid="0.25", strip=["€"]),
    "category": category(["a", "é", "1", "7", "true", "Lyon", "'"]),
    "yesno": yesno(yes=["oui", "1", "true"], no=["non", "0"]),
    "date": date(format="dd/mm/yyyy", first="2025-01-01", last="2025-12-31"),
    "serial": date(format="excel", first="2025-01-01", last="2025-12-31"),
    "whole": whole(),
    "text": text(),
    "found": found(longest=3),
}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rng, n = np.random.default_rng(3), 4000
    frame = pl.DataFrame(
        {
            "id": pl.Series(rng.integers(-200, 400, n)).set(pl.int_range(n, eager=True) % 50 == 3, None),
            "name": [f"é{i}" for i in rng.integers(0, 400, n)],
            "ward": rng.choice(["A", "B", "x", None], n).tolist(),
            "days": pl.Series(rng.normal(5, 3, n)).set(pl.int_range(n, eager=True) % 7 == 0, np.nan),
            "city": rng.choice(["Lyon", "Åre", None], n).tolist(),
        }
    )
    folder = tmp_path_factory.mktemp("people")
    for part, rows in enumerate(frame.iter_slices(n // 4)):
        rows.write_parquet(folder / f"{part}.parquet")
    return folder


def schema(person: str) -> Schema:
    columns: dict[str, Any] = {
        "id": whole(),
        "name": text(),
        "ward": category(["A", "B"]),
        "days": number(0, 10, grid="0.5"),
    }
    return Schema(person, columns | {"city": found(longest=4)})


@pytest.mark.parametrize("limit", [Limit(rows=2), Limit(groups=2, each=2), None])
@pytest.mark.parametrize("person", ["id", "name", EACH_ROW])
def test_spark_gives_the_integers_that_polars_gives(
    spark: Any,
    people: Path,
    person: str,
    limit: Limit | None,
) -> None:
    if (limit is None) != (person == EACH_ROW):
        pytest.skip("each row is a person, or people have a limit")
    read = []
    for source in (spark.read.parquet(str(people)), pl.scan_parquet(str(people / "*.parquet"))):
        table = open_table(source, schema(person))
        days = table["days"]
        parts = (Part("rows"), Part("people"), Part("above", days), Part("between", days), Part("distinct", days))
        for keys in ((table["ward"],), (table["ward"], table["city"])):
            exact = Reader(table, keys, parts, limit).read(np.random.default_rng(5))
            read.append(([part.tolist() for part in exact.parts], exact.found))
    assert read[:2] == read[2:]


@pytest.mark.parametrize("cells", [[cell for cell in TEXTS if "\x00" not in cell], FLOATS], ids=["texts", "doubles"])
def test_spark_reads_each_cell_as_polars_does(cells: list[Any], spark: Any) -> None:
    """Doubles beyond 2^63 too, on which Spark's own floor raises: after the charge, and for that record alone."""
    stated = Schema(EACH_ROW, CELLS, file=csv(decimal=",", thousands=" ", missing=["", "NA"]))
    frame = pl.DataFrame({name: cells for name in CELLS})  # noqa: C420  a list for each
    rows = spark.createDataFrame([(cell,) * len(CELLS) for cell in cells], list(CELLS)).coalesce(1)
    scans = [Scan(open_source(source, stated), stated, tuple(CELLS), person=False) for source in (frame, rows)]
    ours, theirs = (run([scan])[0].rows() for scan in scans)
    assert sorted(ours, key=repr) == sorted(theirs, key=repr)


def test_a_worker_killed_in_the_middle_of_a_question_changes_no_integer(
    spark: Any,
    cluster: Cluster,
    people: Path,
) -> None:
    """People named by texts, chosen again by the tasks that are run again, the same rows; a third worker stands in."""
    cluster.start_worker()
    slow = "case when id % 40 = 0 then reflect('java.lang.Thread', 'sleep', cast(120 as bigint)) end"
    frame = spark.read.parquet(str(people)).where(f"coalesce({slow}, 'awake') is not null").repartition(16, "name")
    asked = [Part("rows"), Part("people")]

    def read(source: Any) -> list[Any]:
        table = open_table(source, schema("name"))
        reader = Reader(table, (table["ward"],), (*asked, Part("above", table["days"])), Limit(rows=2))
        return [part.tolist() for part in reader.read(np.random.default_rng(5)).parts]

    answers: list[Any] = []
    job = Thread(target=lambda: answers.append(read(frame)))
    job.start()
    tracker, until = spark.sparkContext.statusTracker(), monotonic() + 60
    while not any(_is_half_done(tracker.getStageInfo(stage)) for stage in tracker.getActiveStageIds()):
        assert job.is_alive(), "the question was answered before a worker was killed"
        assert monotonic() < until
        sleep(0.02)
    cluster.kill_worker()
    job.join(120)
    assert answers[0] == read(pl.scan_parquet(str(people / "*.parquet")))


def _is_half_done(stage: Any) -> bool:
    return stage is not None and stage.numActiveTasks > 0 and stage.numCompletedTasks > 0
