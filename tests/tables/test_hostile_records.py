"""Rule 12 over every source and type of column: one hostile record, added or exchanged, changes nothing but integers.

Each holder of `tests/holders.py` is given six friendly rows and one row of a long hostile list, in its cells or as its
id. Between the two tables every exact integer may move by its sensitivity; error, warning, log line, type, order and
charge are the same.
"""

from __future__ import annotations

import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from holders import FRIENDLY, HOSTILE, Holder, Table, holders
from hostile import LISTED, LONGEST

from bruit import ADD_OR_REMOVE_ONE, REPLACE_ONE, Ledger
from bruit.central.questions import (
    Limit,
    Question,
    count,
    distinct,
    mean,
    non_missing,
    people,
    quantiles,
    total,
    variance,
)
from bruit.core.neighbours import Neighbours
from bruit.tables.plan.operators import open_table
from bruit.tables.plan.reading import ExactIntegers, Reader
from bruit.tables.schema import Schema, category, date, found, number, text, time, whole, yesno

CELLS = {
    "number": number(-10, 1000, grid="0.25"),
    "category": category(["a", "1", "7", "true"]),
    "yesno": yesno(yes=["oui", "1", "true"], no=["non", "0"]),
    "date": date(format="dd/mm/yyyy", first="2025-01-01", last="2025-12-31"),
    "time": time(first="2025-01-01", last="2025-12-31", zone="Europe/Paris", outside="drop"),
    "found": found(longest=8),
}
HOLDERS = list(holders())
EXCHANGED = 2
"""The row that is exchanged for a hostile one."""

IN_THE_GATE = 2
"""Hostile cells that the gate tries in each holder; `make stress` tries them all."""

EVERY = {"duckdb": 6, "csv": 2}
"""The gate tries every fourth holder of a library, or every so-manyth: `make stress` tries them all."""


@dataclass(frozen=True)
class Seen:
    """Everything an observer sees of a release, and what only the test sees: the exact integers."""

    error: str
    warned: tuple[str, ...]
    logged: tuple[str, ...]
    shape: str
    spent: str
    exact: ExactIntegers | None

    @property
    def outside(self) -> tuple[Any, ...]:
        return self.error, self.warned, self.logged, self.shape, self.spent


def questions(table: Table, person: Any) -> Iterator[Question]:
    """Every statistic by declared groups, and counts of found ones."""
    schema = Schema("id", {"id": person, **CELLS}, file=table.facts)  # type: ignore[dict-item]
    plan = open_table(table.source, schema, **({"connection": table.connection} if table.connection else {}))
    x = plan["number"]
    asked = {
        "rows": count(),
        "people": people(),
        "sum": total(x),
        "mean": mean(x),
        "variance": variance(x),
        "days": non_missing(plan["date"]),
        "labels": distinct(plan["yesno"]),
        "hours": distinct(plan["time"].part("hour")),
        "median": quantiles(x, [0.5]),
    }
    yield Question(plan, asked, {"category": plan["category"]}, Limit(rows=2))
    yield Question(plan, {"rows": count(), "sum": total(x)}, {"found": plan["found"]}, Limit(groups=1, each=1))


def observe(make: Callable[[], Table], person: Any, neighbours: Neighbours) -> list[Seen]:
    """What is seen of each question; whatever is raised is seen as well."""
    lines: list[str] = []
    listener = logging.Handler()
    listener.emit = lambda record: lines.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger().addHandler(listener)
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            table = make()
            caught.clear()
            try:
                asked = list(questions(table, person))
            except BaseException as error:
                return [Seen(repr(error), (), (), "", "", None)]
            seen = [_release(question, neighbours, caught, lines) for question in asked]
    finally:
        logging.getLogger().removeHandler(listener)
    return seen


def _release(question: Question, neighbours: Neighbours, caught: list[Any], lines: list[str]) -> Seen:
    book = Ledger("hostile", epsilon=4, delta=1e-6, neighbours=neighbours, person="id")
    kept: list[ExactIntegers] = []
    error = shape = ""
    right = Reader.read
    Reader.read = lambda self, rng: kept.append(right(self, rng)) or kept[-1]  # type: ignore[method-assign,func-returns-value]
    try:
        done = question.release(budget=book.budget(epsilon=4, delta=1e-6), rng=np.random.default_rng(7))
        shown = done.labels if question.groups is not None else ()
        shape = f"{type(done.value)} {np.asarray(done.value).dtype} {shown} {done.guarantee} {done.method}"
    except BaseException as failure:
        error = repr(failure)
    finally:
        Reader.read = right  # type: ignore[method-assign]
    found = tuple(str(each.message) for each in caught), tuple(lines)
    caught.clear()
    lines.clear()
    return Seen(error, *found, shape, str(book.spent), kept[0] if kept else None)


def too_far(asked: list[Question], one: list[Seen], other: list[Seen], neighbours: Neighbours) -> list[str]:
    """The measures whose integers moved further than is stated."""
    far = []
    for question, before, after in zip(asked, one, other, strict=True):
        if before.exact is None or after.exact is None:
            continue
        for name, (l1, squares, linf) in _distances(question, before.exact, after.exact).items():
            stated = question.sensitivity(name, neighbours)
            if l1 > stated.l1 or squares > stated.l2_squared or linf > stated.linf:
                far.append(f"{name}: {l1} {linf} beyond {stated.l1} {stated.linf}")
        for place, tally in before.exact.tallies.items():
            rows = 2 * (1 if neighbours is ADD_OR_REMOVE_ONE else 2)
            if _tally_distance(tally, after.exact.tallies[place]) > rows:
                far.append("tally")
    return far


def _distances(question: Question, one: ExactIntegers, other: ExactIntegers) -> dict[str, tuple[int, int, int]]:
    parts = [_by_label(each) for each in (one, other)]
    labels = list(dict.fromkeys([*parts[0], *parts[1]]))
    width = len(one.parts)
    stacked = [np.array([each.get(label, [0] * width) for label in labels]).reshape(-1, width) for each in parts]
    change = np.abs(stacked[0] - stacked[1])
    place = width - sum(len(each.parts) for each in question.measures.values())
    found = {}
    for name, measure in question.measures.items():
        if measure.what != "quantiles":
            mine = change[:, place : place + len(measure.parts)]
            found[name] = (int(mine.sum()), int((mine**2).sum()), int(mine.max(initial=0)))
        place += len(measure.parts)
    return found


def _by_label(exact: ExactIntegers) -> dict[Any, list[int]]:
    labels = range(len(exact.parts[0])) if exact.found is None else exact.found
    return {label: [int(part[i]) for part in exact.parts] for i, label in enumerate(labels)}


def _tally_distance(one: Any, other: Any) -> int:
    keys = [name for name in one.columns if name != "rows"]
    both = one.join(other, on=keys, how="full", coalesce=True, suffix=" other")
    return int((both["rows"].fill_null(0).cast(int) - both["rows other"].fill_null(0).cast(int)).abs().sum())


@dataclass(frozen=True)
class Pair:
    """A hostile cell in one place of a table."""

    change: str
    cell: Any


def tables_with(holder: Holder, pair: Pair, ids: list[Any], folder: Path) -> Callable[[], Table]:
    cells, names = list(FRIENDLY[holder.kind]), list(ids)
    if pair.change == "add":
        cells, names = [*cells, pair.cell], [*names, _new(holder)]
    elif pair.change == "exchange":
        cells[EXCHANGED] = pair.cell
    else:
        cells, names = [*cells, cells[0]], [*names, pair.cell]
    return lambda: holder.hold(names, cells, folder)


def _ids(holder: Holder) -> tuple[list[Any], Any]:
    if holder.named and holder.kind in ("texts", "objects", "bytes"):
        return [f"p{i}" for i in range(6)], text()
    return list(range(1001, 1007)), whole()


def _new(holder: Holder) -> Any:
    return "new" if holder.named and holder.kind in ("texts", "objects", "bytes") else 2000


RELATIONS = ((ADD_OR_REMOVE_ONE, ("add", "id")), (REPLACE_ONE, ("exchange",)))


def check(holder: Holder, cells: list[Any], folder: Path, relations: Any = RELATIONS) -> tuple[int, int, list[str]]:
    """How many pairs were held, how many the library refused to hold, and what went wrong in which."""
    ids, person = _ids(holder)
    base = holder.hold(ids, list(FRIENDLY[holder.kind]), folder)
    asked = list(questions(base, person))
    held, refused, wrong = 0, 0, []
    for neighbours, changes in relations:
        before = observe(lambda: holder.hold(ids, list(FRIENDLY[holder.kind]), folder), person, neighbours)
        for change in changes:
            for cell in cells if change != "id" or holder.named else []:
                make = tables_with(holder, Pair(change, cell), ids, folder)
                try:
                    make()
                except BaseException:
                    refused += 1
                    continue
                after = observe(make, person, neighbours)
                held += 1
                said = f"{holder}, {change} {type(cell).__name__} {_shown(cell)}: "
                if [each.outside for each in after] != [each.outside for each in before]:
                    wrong.append(said + f"{_difference(before, after)}")
                else:
                    wrong += [said + each for each in too_far(asked, before, after, neighbours)]
    return held, refused, wrong


def _shown(cell: Any) -> str:
    return ascii(cell)[:40] if type(cell).__module__ in ("builtins", "datetime", "decimal", "numpy") else "object"


def _difference(before: list[Seen], after: list[Seen]) -> str:
    pairs = zip(before, after, strict=False)
    return next(
        (f"{a.outside} -> {b.outside}" for a, b in pairs if a.outside != b.outside), "another number of answers"
    )


def listed_cells(holder: Holder, place: int) -> list[Any]:
    """What the gate tries: a few cells of the holder's own kind and of the list, others for each holder."""
    own = [cell for cell in (*HOSTILE[holder.kind], *LISTED) if _could_hold(holder, cell)]
    return [own[(place + step * len(own) // IN_THE_GATE) % len(own)] for step in range(min(IN_THE_GATE, len(own)))]


def _could_hold(holder: Holder, cell: Any) -> bool:
    """Whether a column of this kind may hold such a cell: others are left to the whole list."""
    same = {type(each) for each in HOSTILE[holder.kind]}
    return type(cell) in same


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Callable[[str], None]:
    """Writes the size of the matrix where whoever runs the tests sees it."""

    def write(text: str) -> None:
        with capsys.disabled():
            sys.stdout.write(f"\n{text}")

    return write


@pytest.mark.parametrize("library", sorted({holder.library for holder in HOLDERS}))
def test_rule_12_one_hostile_record_moves_integers_by_their_sensitivity_and_nothing_else(
    library: str, tmp_path: Path, say: Callable[[str], None]
) -> None:
    chosen = [holder for holder in HOLDERS if holder.library == library][:: EVERY.get(library, 4)]
    found = [
        check(holder, listed_cells(holder, place), tmp_path, RELATIONS[place % 2 : place % 2 + 1])
        for place, holder in enumerate(chosen)
    ]
    held, refused = (sum(each[place] for each in found) for place in (0, 1))  # type: ignore[misc]
    say(f"hostile records in {library}: {len(chosen)} types, {held} tables with one record, {refused} not holdable")
    assert [fault for each in found for fault in each[2]] == []
    assert held >= len(chosen)


@pytest.mark.stress
@pytest.mark.parametrize("holder", HOLDERS, ids=str)
def test_rule_12_the_whole_hostile_list_in_every_holder(
    holder: Holder, tmp_path: Path, say: Callable[[str], None]
) -> None:
    cells = [*LISTED, *HOSTILE["objects"], *HOSTILE[holder.kind], LONGEST]
    held, refused, wrong = check(holder, cells, tmp_path)
    say(f"{holder}: {held} tables with one record, {refused} not holdable")
    assert wrong == []
