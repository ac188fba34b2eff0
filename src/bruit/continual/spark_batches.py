"""Streams over Spark Structured Streaming: the rows that arrived since the last run are one period."""

from __future__ import annotations

from typing import Any

from bruit.continual.published import CONFIDENCE
from bruit.continual.stream import Stream
from bruit.core import Release
from bruit.tables import read


def update_from_spark(stream: Stream, rows: Any, *, checkpoint: str, confidence: float = CONFIDENCE) -> Release[Any]:
    """Publishes the next period from the rows of a streaming frame that are new since the checkpoint.

    Run it by the clock, once a period: without new rows the period is published too. Spark numbers its batches in the
    `checkpoint` folder, and the stream notes each number in the transaction of its period, so a batch that Spark runs
    again after a crash gives what was published. Leave `maxFilesPerTrigger` unset: each batch is a period of its own.
    """
    given: list[Release[Any]] = []

    def publish(batch: Any, number: int) -> None:
        source = f"{checkpoint} {number}"
        given.append(stream.update(read(batch, person=stream.ledger.person), source=source, confidence=confidence))

    query = rows.writeStream.foreachBatch(publish).option("checkpointLocation", checkpoint)
    query.trigger(availableNow=True).start().awaitTermination()
    if given:
        return given[-1]
    none = rows.sparkSession.createDataFrame([], rows.schema)
    return stream.update(read(none, person=stream.ledger.person), confidence=confidence)
