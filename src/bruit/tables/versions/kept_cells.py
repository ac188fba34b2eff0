"""The list of each person's cells, kept beside a table so that its parts stay disjoint across versions.

People keep the cells that stand in the list, whatever becomes of their rows, and get further ones, in the order of the
labels, only while they have fewer than may be kept. So nobody is ever in more cells than are paid for, in all versions
together. The list is the curator's: it names people, and never enters a book.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import polars

from bruit.errors import BadFile
from bruit.randomness import generator
from bruit.tables.choice.hashing import draw_row_key
from bruit.tables.expressions.nodes import Field, IsMissing, Node
from bruit.tables.plan.lowering import CELL, Lowering
from bruit.tables.plan.operators import Plan
from bruit.tables.plan.steps import With
from bruit.tables.relations.operations import PERSON, Filter, Group, Project, same
from bruit.tables.relations.running import run

COLUMNS = ("person", "part")
"""A person, and the label of a cell, which stays what it is where another version lists other labels before it."""

IDENTITY = "bruit list"
"""The name under which a list keeps what tells it from every other: a list that was lost opens a new partition."""


@dataclass(frozen=True, eq=False)
class KeptCells:
    """Pairs of a person and a cell, with the identity of the list they come from."""

    identity: str
    pairs: polars.DataFrame


def fill_list(source: Path, plan: Plan, column: str, node: Node, labels: Sequence[str], cells: int) -> KeptCells:
    """Updates the file that lists which cells each person counts in: adds cells up to the limit, returns all."""
    path = _beside(source, column, cells)
    present = _present(plan, node, labels)
    with _hold(path):
        whole = _add_cells(*_read(path, present), present, cells)
        _write(path, whole)
    return whole


@contextmanager
def _hold(path: Path) -> Iterator[None]:
    """Holds a list while nobody else adds to it: two who both read it first could give a person more cells."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        yield
        return
    descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _add_cells(identity: str, before: polars.DataFrame, present: polars.DataFrame, cells: int) -> KeptCells:
    """Adds further cells of those who have fewer than may be kept."""
    had = before.group_by("person").agg(polars.len().alias("had"))
    new = present.join(before, on=list(COLUMNS), how="anti").sort("person", CELL)
    numbered = new.with_columns(polars.int_range(polars.len()).over("person").alias("place"))
    room = numbered.join(had, on="person", how="left").with_columns(polars.col("had").fill_null(0))
    kept = room.filter(polars.col("place") + polars.col("had") < cells).select(*COLUMNS)
    return KeptCells(identity, polars.concat([before, kept]))


def _beside(source: Path, column: str, cells: int) -> Path:
    whole = source.resolve()
    return whole.with_name(f"{whole.name}.{column.replace('/', ' ')}.{cells}.cells.parquet")


def _present(plan: Plan, node: Node, labels: Sequence[str]) -> polars.DataFrame:
    """Every pair of a person and a cell that person has rows in, with the place of the cell among the labels."""
    lowering = Lowering(plan.named, lambda: draw_row_key(generator(None)))
    rows = lowering.lower(With(plan.step, ((CELL, node),)), (CELL,))
    pairs = Group(Project(Filter(rows, ~IsMissing(Field(CELL))), same((PERSON, CELL))), (PERSON, CELL), ())
    (frame,) = run([pairs])
    named = polars.Int64 if frame.schema[PERSON] == polars.Int64 else polars.String
    part = polars.Series("part", labels, dtype=polars.String).gather(frame[CELL])
    return frame.select(polars.col(PERSON).cast(named).alias("person"), part, CELL)


def _read(path: Path, present: polars.DataFrame) -> tuple[str, polars.DataFrame]:
    like = present.select(*COLUMNS)
    if not path.exists():
        return secrets.token_hex(8), like.clear()
    try:
        identity, known = polars.read_parquet_metadata(path)[IDENTITY], polars.read_parquet(path)
    except (polars.exceptions.PolarsError, KeyError, OSError):
        identity, known = "", polars.DataFrame()
    if known.schema != like.schema:
        raise BadFile(f"{path}: this is no list of people and their cells; move it away, which opens a new partition")
    return identity, known


def _write(path: Path, kept: KeptCells) -> None:
    """Replaces the list as a whole; nobody but its owner may read it."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600))
    kept.pairs.write_parquet(draft, metadata={IDENTITY: kept.identity})
    draft.replace(path)
