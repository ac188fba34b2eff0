"""A growing Parquet folder through Spark Structured Streaming: every run is a period, and no batch is counted twice."""

from pathlib import Path
from typing import Any

import polars
import pytest

from bruit.continual import Histogram, Stream, once, update_from_spark
from bruit.tables import among, read

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("spark")]

SURE = 1 - 1e-9


def test_a_growing_folder_is_read_by_spark_batch_by_batch(spark: Any, book: Any, tmp_path: Path) -> None:
    folder, checkpoint = tmp_path / "visits", str(tmp_path / "checkpoint")
    folder.mkdir()
    stream = Stream(
        "wards",
        Histogram("ward", among(["A", "B"], drop_others=True), rows=1),
        participation=once(),
        periods=6,
        budget=book().budget(epsilon=50, delta="1e-6"),
    )

    def arrive(name: str, first: int, ward: str) -> None:
        ids = list(range(first, first + 100))
        polars.DataFrame({"id": ids, "ward": [ward] * 100}).write_parquet(folder / f"{name}.parquet")

    arrive("january", 0, "A")
    rows = spark.readStream.schema("id long, ward string").parquet(str(folder))
    released = [update_from_spark(stream, rows, checkpoint=checkpoint, confidence=SURE)]
    arrive("february", 50, "B")  # fifty of them came before
    released.append(update_from_spark(stream, rows, checkpoint=checkpoint, confidence=SURE))
    released.append(update_from_spark(stream, rows, checkpoint=checkpoint, confidence=SURE))  # nothing came
    assert [release.details["period"] for release in released] == [1, 2, 3]
    for release, exact in zip(released, ([100, 0], [100, 50], [100, 50]), strict=True):
        assert max(abs(release.value - exact)) <= release.noise

    # Spark runs a batch again that it did not commit: the stream knows its number.
    again = stream.update(read(spark.createDataFrame([(999, "B")], rows.schema), person="id"), source=f"{checkpoint} 1")
    assert again.details["period"] == 2
    assert again.value.tolist() == released[1].value.tolist()
    assert stream.period == 3
