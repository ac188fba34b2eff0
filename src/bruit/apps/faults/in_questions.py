"""Faults of questions: wrong levels, ranks, bounds, thresholds, parts and persons."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.apps.faults.fault import Done, Fault, audit_fault
from bruit.apps.faults.in_sensitivity import sensitivity_fault
from bruit.central.questions import Limit, Question, RowRange, count, rollup, sensitivity, total
from bruit.central.questions.noises import BudgetShare, threshold, upper_tail
from bruit.central.questions.quantile_draws import rank_question
from bruit.central.ranks.records import Person
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE
from bruit.ledger import Ledger
from bruit.tables import Within, open_table
from bruit.tables.plan.expressions import Expression
from bruit.tables.plan.operators import Plan
from bruit.tables.plan.parts import Parts, parts_of
from bruit.tables.schema import Schema, category, number, whole
from bruit.tables.versions.curator_file import Registration

WARDS = ("A", "B", "C")
SCHEMA = Schema("id", {"id": whole(), "ward": category(WARDS, others="drop"), "x": number(0, 9, grid=1)}, name="stays")
TWO_GROUPS, THREE_ROWS = Limit(groups=2, each=1), Limit(rows=3)
MODULUS = 2**31 - 1
"""The modulus of the row hash: people whose numbers differ by it collide under every key."""

SIZE = 60
"""Cells of the column whose median is drawn."""


def faults() -> Iterator[Fault]:
    """The planted faults, each beside the question done right."""
    story = "The total of a rollup gets the noise of its groups, though a person's groups fall together in it."
    yield sensitivity_fault("a coarser level noised like the finest", story, _total_as_fine, _total, _one_more, 1)
    story = "People who have one number under the hash share one choice of rows."
    yield sensitivity_fault("a person's number for the person", story, _by_number, _by_name, _colliding, 3)
    story = "A sum gets the bounds that another table states for a column of the same name."
    yield sensitivity_fault("the bounds of another table's column", story, _foreign_bounds, _own_bounds, _row_more, 1)
    story = "Cells are charged side by side, but a person's rows stay in all of them."
    yield sensitivity_fault("parts without a choice of cells", story, _all_cells, _kept_cells, _one_more, 1)
    story = "A list of who keeps which cell names the places of cells, which change with the labels of a later version."
    yield sensitivity_fault("a list of places for one of labels", story, _kept_places, _kept_labels, _one_more, 1)
    story = "An exchanged row is priced like one that comes or goes, as if a rank could be netted."
    yield audit_fault(
        "quantiles priced by a netted count",
        story,
        _netted_median,
        _median,
        ([0, 0], [SIZE - 1, SIZE - 1]),
        small=30_000,
    )
    story = "A found group is shown one below its threshold, where the noise may be equal to it."
    yield Fault("a threshold that is one too low", story, "audit", _shows_too_often, 1, 1)


def _one_more(rng: np.random.Generator) -> tuple[polars.DataFrame, polars.DataFrame]:
    """Rows of some people, and the same with one person more who has a row in every ward."""
    people = {"id": rng.integers(0, 5, 20), "ward": rng.choice(WARDS, 20).tolist(), "x": rng.integers(0, 10, 20)}
    rows = polars.DataFrame(people)
    own = polars.DataFrame({"id": [9] * 3, "ward": list(WARDS), "x": [1, 2, 3]}, schema=rows.schema)
    return rows, polars.concat([rows, own])


def _opened(frame: polars.DataFrame) -> Plan:
    return open_table(frame, SCHEMA)


def _totals(frame: polars.DataFrame) -> tuple[Question, NDArray[np.float64]]:
    table = _opened(frame)
    question = Question(table, {"n": count()}, {"ward": table["ward"]}, TWO_GROUPS, levels=rollup("ward"))
    levels = [level.places for level in question.levels_asked]
    return question, question.reader.read_levels(np.random.default_rng(1), levels)[-1].parts[0].astype(float)


def _total_as_fine(frame: polars.DataFrame) -> NDArray[np.float64]:
    """The grand total in units of the groups' l2 sensitivity, which is too small for it (the planted fault)."""
    question, total = _totals(frame)
    return np.asarray(total / question.sensitivity("n", ADD_OR_REMOVE_ONE).l2_squared ** 0.5)


def _total(frame: polars.DataFrame) -> NDArray[np.float64]:
    question, total = _totals(frame)
    stated = question.sensitivity("n", ADD_OR_REMOVE_ONE, question.levels_asked[-1])
    return np.asarray(total / stated.l2_squared**0.5)


def _colliding(rng: np.random.Generator) -> tuple[polars.DataFrame, polars.DataFrame]:
    """Two tables: one person with three rows, and the same with a second person whose identity collides."""
    rows = polars.DataFrame({"id": [5] * 3, "ward": ["A"] * 3, "x": rng.permutation(3)})
    many = {"id": [5 + MODULUS] * 60, "ward": ["B"] * 60, "x": rng.integers(0, 10, 60)}
    return rows, polars.concat([rows, polars.DataFrame(many, schema=rows.schema)])


def _by_name(frame: polars.DataFrame) -> float:
    """Rows of the second ward less those of the first: one person moves it by at most the l1 sensitivity."""
    table = _opened(frame)
    question = Question(table, {"n": count()}, {"ward": table["ward"]}, THREE_ROWS)
    counts = question.reader.read(np.random.default_rng(1)).parts[0]
    return float(counts @ [-1, 1, 0])


def _by_number(frame: polars.DataFrame) -> float:
    return _by_name(frame.with_columns(polars.col("id") % MODULUS))


def _sum_of_x(frame: polars.DataFrame, stated: Expression) -> float:
    """The sum of x in units of its sensitivity, where each row is a person."""
    alone = open_table(frame, Schema(EACH_ROW, {"x": number(0, 9, grid=1)}))
    node = alone["x"].node  # what the check of a question asks for, beside bounds that may not be its own
    question = Question(alone, {"s": total(replace(stated, node=node))})
    exact = question.reader.read(np.random.default_rng(1)).parts[0][0]
    return float(exact / question.sensitivity("s", ADD_OR_REMOVE_ONE).l1)


def _own_bounds(frame: polars.DataFrame) -> float:
    own = open_table(frame, Schema(EACH_ROW, {"x": number(0, 9, grid=1)}))
    return _sum_of_x(frame, own["x"])


def _foreign_bounds(frame: polars.DataFrame) -> float:
    other = open_table(frame, Schema(EACH_ROW, {"x": number(0, 1, grid=1)}))
    return _sum_of_x(frame, other["x"])


def _row_more(rng: np.random.Generator) -> tuple[polars.DataFrame, polars.DataFrame]:
    """A table of rows, and the same with one row more."""
    rows = polars.DataFrame({"x": rng.integers(0, 10, 20)})
    return rows, polars.concat([rows, polars.DataFrame({"x": [9]})])


def _kept_cells(frame: polars.DataFrame) -> NDArray[np.float64]:
    """Whether the person 9 counts in each cell of a partition of which a person keeps one."""
    plan, book = _opened(frame), Ledger("planted", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person="id")
    leaf = replace(plan.leaves[0], registration=Registration("stays", 1, "planted"))
    parts = parts_of(replace(plan, step=leaf, leaves=(leaf,)), book, "ward", 1)
    return np.array([_people(parts[label]) for label in parts.labels])


def _cells_of_two_versions(frame: polars.DataFrame, kept: Callable[[Parts], str]) -> NDArray[np.float64]:
    """Whether the person 9, who keeps one cell, counts in each cell of a version or of a later one with more wards."""
    book, found = Ledger("planted", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person="id"), dict.fromkeys(WARDS, 0.0)
    for wards in (WARDS[:2], WARDS):
        plan = open_table(frame, Schema("id", {**SCHEMA.columns, "ward": category(wards)}, name="stays"))
        leaf = replace(plan.leaves[0], registration=Registration("stays", 1, "planted"))
        parts = parts_of(replace(plan, step=leaf, leaves=(leaf,)), book, "ward", 1)
        parts = replace(parts, kept=polars.DataFrame({"person": [9], "part": [kept(parts)]}))
        for label in parts.labels:
            found[label] = max(found.get(label, 0.0), _people(parts[label]))
    return np.array(list(found.values()))


def _kept_labels(frame: polars.DataFrame) -> NDArray[np.float64]:
    return _cells_of_two_versions(frame, lambda _parts: "OTHER")


def _kept_places(frame: polars.DataFrame) -> NDArray[np.float64]:
    return _cells_of_two_versions(frame, lambda parts: parts.labels[2])


def _all_cells(frame: polars.DataFrame) -> NDArray[np.float64]:
    table = _opened(frame)
    return np.array([_people(table.where(table["ward"].equals(label))) for label in WARDS])


def _people(plan: Plan) -> float:
    question = Question(plan, {"n": count()}, {}, Limit(rows=1))
    return float(question.reader.read(np.random.default_rng(1)).parts[0][0])


def _draws(person: Person, rows: list[int], samples: int, rng: np.random.Generator) -> NDArray[Any]:
    drawing = rank_question(
        Within(Fraction(0), Fraction(SIZE - 1), Fraction(1), None), (Fraction(1, 2),), Fraction(1), person
    ).method_named(None)
    cells = np.array([*rows, 0, 0, 2, 2, SIZE - 1, SIZE - 1], np.int64)
    return np.array([drawing.draw_once(cells, rng)[0] for _ in range(samples)])


def _median(rows: list[int], samples: int, rng: np.random.Generator) -> NDArray[Any]:
    return _draws(Person(2, exchanged=True, fixed_size=False), rows, samples, rng)


def _netted_median(rows: list[int], samples: int, rng: np.random.Generator) -> NDArray[Any]:
    return _draws(Person(2, exchanged=False, fixed_size=False), rows, samples, rng)


def _shows_too_often(done: Done, _samples: int, _alarm: float, _rng: np.random.Generator) -> bool:
    """Whether, by the exact law, a group of one person is shown more often than the failure allows."""
    failure, groups = Fraction(1, 10**6), 3
    moved = sensitivity(RowRange(0, 1, once=True), Limit(groups=groups, each=1), groups=None, neighbours=REPLACE_ONE)
    bought = threshold(moved, BudgetShare(Fraction(1), failure, REPLACE_ONE), failure, groups=groups, kind="laplace")
    least = bought.least - (done == "wrong")
    return bool(-np.expm1(groups * np.log1p(-upper_tail(bought.noise, least - 1))) > failure)
