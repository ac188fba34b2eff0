"""Checks a question's stated sensitivity by brute force: how far one person moves its integers in small tables.

A question is anything with `plan`, `measures`, `reader` and `sensitivity`, such as `bruit.central.questions.Question`.
Its plan is run on every small person in the place of its table: rows of the lowest, the highest and middle values of
each column that is read and of missing ones. Nothing of the question's own table is read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from itertools import combinations_with_replacement, islice, product
from typing import Any, Protocol

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE, Neighbours
from bruit.errors import InvalidArgument
from bruit.tables.cells.texts import Reading
from bruit.tables.expressions.nodes import Node
from bruit.tables.plan.operators import Plan
from bruit.tables.plan.steps import Leaf
from bruit.tables.schema import Category, ColumnType, Date, Found, Number, Time, Whole, YesNo
from bruit.tables.sources.opening import Source

TEXTS = ("a", "b", "c")


class Asked(Protocol):
    """The interface that a question needs for its sensitivity to be checked on small tables."""

    @property
    def plan(self) -> Plan: ...

    @property
    def keys(self) -> Mapping[str, Any]: ...

    @property
    def measures(self) -> Mapping[str, Any]: ...

    @property
    def reader(self) -> Any: ...

    def sensitivity(self, name: str, neighbours: Neighbours) -> Any: ...


@dataclass(frozen=True)
class Walked:
    """The stated sensitivity of a measure beside the largest change found: l1, squared l2, linf and moved entries."""

    measure: str
    neighbours: Neighbours
    stated: tuple[int, int, int, int]
    reached: tuple[int, int, int, int]
    tables: int

    @property
    def holds(self) -> bool:
        """Whether no pair of small tables differed by more than the stated sensitivity."""
        return all(far <= allowed for far, allowed in zip(self.reached, self.stated, strict=True))


def sensitivity(question: Asked, *, most_rows: int = 2, most_people: int = 400) -> list[Walked]:
    """Compares stated sensitivities with brute force over small tables: one line per measure and relation.

    `most_rows` is how many rows a small person has at most, `most_people` how many different people are walked.
    """
    if len(question.plan.leaves) != 1:
        raise InvalidArgument("sensitivity(...) walks a question of one table; this one reads several")
    leaf = question.plan.leaves[0]
    everyone = list(islice(_people(_rows(question, leaf), most_rows), most_people))
    labels: dict[Any, int] = {}
    exact = [_integers(question, leaf, rows, labels) for rows in everyone]
    found = []
    for name in question.measures:
        vectors = _dense([each[name] for each in exact], len(labels))
        for neighbours in (ADD_OR_REMOVE_ONE, REPLACE_ONE):
            bound = question.sensitivity(name, neighbours)
            stated = (bound.l1, bound.l2_squared, bound.linf, bound.entries)
            reached = _farthest(vectors, exchanged=neighbours is REPLACE_ONE)
            found.append(Walked(name, neighbours, stated, reached, len(everyone)))
    return found


def _rows(question: Asked, leaf: Leaf) -> list[dict[str, Any]]:
    """The rows of small tables: every combination of the telling values of the columns that are read."""
    read = {
        field
        for node in _nodes((question.plan.step, list(question.keys.values()), list(question.measures.values())))
        for field in node.fields()
    }
    columns = {
        name: column for name, column in leaf.schema.columns.items() if name in read and name != leaf.schema.person
    }
    values = [_telling_values(column) for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in product(*values)]


def _telling_values(column: ColumnType) -> Sequence[int | str | None]:
    """The lowest, the highest and a middle integer of a declared column, and none; of texts a few."""
    if isinstance(column, Number | Category | YesNo | Date | Time):
        middle = (column.lowest + column.highest) // 2
        return [*dict.fromkeys((column.lowest, column.highest, middle)), None]
    return [*TEXTS, None] if isinstance(column, Found) else [None]


def _people(rows: list[dict[str, Any]], most_rows: int) -> Iterator[tuple[dict[str, Any], ...]]:
    """Nobody, then everybody with one row, with two, ...; rows at the ends of their columns come first."""
    for number in range(most_rows + 1):
        yield from combinations_with_replacement(rows, number)


def _integers(
    question: Asked, leaf: Leaf, rows: tuple[dict[str, Any], ...], labels: dict[Any, int]
) -> dict[str, dict[int, NDArray[np.int64]]]:
    """The exact integers of each measure for a table of one person, by group; groups are numbered as they are met."""
    columns = leaf.schema.columns
    kinds = {name: polars.String if _is_text(column) else polars.Int64 for name, column in columns.items()}
    person = "p" if _is_text(columns.get(leaf.schema.person)) else 1
    data = [{name: row.get(name) for name in columns} | {leaf.schema.person: person} for row in rows]
    frame = polars.DataFrame([{name: row[name] for name in kinds} for row in data], schema=kinds)
    source = Source("polars", frame.lazy(), dict(frame.schema), Reading(leaf.schema.file), frozenset(kinds))
    small = Leaf(source, leaf.schema)
    plan = replace(question.plan, step=_replace(question.plan.step, leaf, small), leaves=(small,))
    reader = replace(question.reader, plan=plan)
    exact = reader.read(np.random.default_rng(1))
    groups = range(reader.cells) if exact.found is None else exact.found
    places = [labels.setdefault(group, len(labels)) for group in groups]
    parts = iter(exact.parts[len(exact.parts) - sum(len(each.parts) for each in question.measures.values()) :])
    found: dict[str, dict[int, NDArray[np.int64]]] = {}
    for name, measure in question.measures.items():
        stacked = np.stack([next(parts) for _ in measure.parts])
        found[name] = {place: stacked[:, i] for i, place in enumerate(places)}
    return found


def _dense(found: list[dict[int, NDArray[np.int64]]], groups: int) -> NDArray[np.int64]:
    width = next((len(each) for person in found for each in person.values()), 1)
    dense = np.zeros((len(found), groups, width), np.int64)
    for row, person in enumerate(found):
        for place, values in person.items():
            dense[row, place] = values
    return dense.reshape(len(found), -1)


def _farthest(vectors: NDArray[np.int64], *, exchanged: bool) -> tuple[int, int, int, int]:
    best = np.zeros(4, np.int64)
    for vector in vectors if exchanged else vectors[:1] * 0:
        moved = np.abs(vectors - vector)
        reached = moved.sum(1).max(), (moved**2).sum(1).max(), moved.max(), (moved > 0).sum(1).max()
        best = np.maximum(best, reached)
    return tuple(map(int, best))  # type: ignore[return-value]


def _is_text(column: ColumnType | None) -> bool:
    return column is not None and not isinstance(column, Number | Category | YesNo | Date | Time | Whole)


def _nodes(value: Any) -> Iterator[Node]:
    """Every expression inside a plan, its keys and its measures."""
    if isinstance(value, Node):
        yield value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from _nodes(each)
    elif is_dataclass(value) and not isinstance(value, Leaf | type):
        for field in fields(value):
            yield from _nodes(getattr(value, field.name))


def _replace(step: Any, old: Leaf, new: Leaf) -> Any:
    if step is old:
        return new
    if isinstance(step, tuple):
        return tuple(_replace(each, old, new) for each in step)
    if not is_dataclass(step) or isinstance(step, Node | Leaf | type):
        return step
    return replace(step, **{field.name: _replace(getattr(step, field.name), old, new) for field in fields(step)})
