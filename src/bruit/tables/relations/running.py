"""Runs operations in the engine that holds the table; engine errors are replaced, since they may show records."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

import polars

from bruit.errors import InvalidArgument, StorageError
from bruit.tables.relations.on_polars import Frames
from bruit.tables.relations.on_sql import Statement
from bruit.tables.relations.operations import Operation, Rows, Scan, substitute
from bruit.tables.sources.opening import Source


def engine_of(sources: Iterable[Source]) -> str:
    """The one engine of all sources of a plan; refuses sources of different engines."""
    engines = {source.engine for source in sources}
    if len(engines) > 1:
        raise InvalidArgument(f"tables of {' and '.join(sorted(engines))} cannot be joined: bring them into one engine")
    return engines.pop()


def run(operations: list[Operation], *, shared: Operation | None = None) -> list[polars.DataFrame]:
    """Runs the operations and returns their rows; a step `shared` by several is computed once where that helps."""
    source = _source_of(operations[0])
    with withheld():
        if source.engine == "polars":
            return _run_polars(operations, shared)
        return [_run_sql(operation, source) for operation in operations]


@contextmanager
def withheld() -> Iterator[None]:
    """Replaces any error or panic of an engine by one without its message, which may show a record."""
    try:
        yield
    except KeyboardInterrupt:
        raise
    except BaseException:
        raise StorageError(
            "the engine failed while it read the table; its own message may show records and is withheld. "
            "As the curator, run the same query in the engine to see it"
        ) from None


def _run_polars(operations: list[Operation], shared: Operation | None) -> list[polars.DataFrame]:
    frames = Frames()
    if shared is None or len(operations) == 1:
        return [frames.frame(operation).collect(engine="streaming") for operation in operations]
    kept = Rows(frames.frame(shared).collect(engine="streaming"))
    return [frames.frame(substitute(operation, shared, kept)).collect() for operation in operations]


def _run_sql(operation: Operation, source: Source) -> polars.DataFrame:
    if source.engine == "spark":
        return _run_spark(operation, source)
    own = _own_name()
    statement = Statement(source.dialect, leaf=own)
    text = statement.write(operation)
    leaves = ", ".join(f"{own}{place} AS ({leaf.frame.sql_query()})" for place, leaf in enumerate(statement.leaves))
    return source.frame.query(own, text.replace("WITH ", f"WITH {leaves}, ", 1)).pl()  # type: ignore[no-any-return]


def _run_spark(operation: Operation, source: Source) -> polars.DataFrame:
    own = _own_name()
    statement, session = Statement(source.dialect, leaf=own), source.frame.sparkSession
    text = statement.write(operation)
    views = {f"{own}{place}": leaf.frame for place, leaf in enumerate(statement.leaves)}
    for name, frame in views.items():
        frame.createOrReplaceTempView(name)
    try:
        return polars.DataFrame(polars.from_arrow(session.sql(text).toArrow()))
    finally:
        for name in views:
            session.catalog.dropTempView(name)


def _own_name() -> str:
    """How views and subqueries are called that no table of the caller's and no other question can be meant by."""
    return f"bruit_{secrets.token_hex(8)}_"


def _source_of(operation: Operation) -> Source:
    while not isinstance(operation, Scan):
        operation = getattr(operation, "input", None) or getattr(operation, "left", None) or operation.inputs[0]  # type: ignore[union-attr]
    return operation.source
