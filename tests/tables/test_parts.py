"""Parts of a registered table: bounded cells a person, the same in every release, and no row from elsewhere."""

from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import bruit
from bruit import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE
from bruit.central.questions import Limit, Question, count
from bruit.errors import BadFile, InvalidArgument, PrivacyError
from bruit.tables import register
from bruit.tables.choice.hashing import draw_row_key
from bruit.tables.plan.lowering import Lowering
from bruit.tables.plan.operators import Plan, open_table
from bruit.tables.plan.parts import place_of
from bruit.tables.relations.operations import PERSON
from bruit.tables.relations.running import run
from bruit.tables.schema import Schema, category, date, found, number, text, whole
from bruit.tables.versions import kept_cells

COLUMNS = {
    "id": whole(),
    "ward": category(["A", "B", "C", "D"]),
    "days": number(0, 9, grid=1),
    "admitted": date(first="2025-01-01", last="2025-12-31"),
}
TESTS = {"id": whole(), "result": number(0, 9, grid=1)}


def stays(n: int = 400, *, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": rng.integers(0, n // 8, n),
            "ward": rng.choice(["A", "B", "C", "x", None], n).tolist(),
            "days": rng.integers(0, 10, n),
            "admitted": [f"2025-{month:02}-03" for month in rng.integers(1, 13, n)],
        }
    )


def book(neighbours: Any = ADD_OR_REMOVE_ONE, person: str = "id") -> bruit.Ledger:
    return bruit.Ledger("h", epsilon=20, delta=1e-3, neighbours=neighbours, person=person)


def rows_of(plan: Plan, *columns: str) -> list[tuple[Any, ...]]:
    lowering, read = (
        Lowering(plan.named, lambda: draw_row_key(np.random.default_rng(1))),
        columns or ("days", "admitted"),
    )
    (frame,) = run([lowering.lower(plan.step, read)])
    return sorted(frame.select(PERSON, *read).rows())


def kept(table: Any, column: str, cells: int) -> dict[int, dict[str, list[Any]]]:
    parts, people = table.part(column, cells=cells), defaultdict(dict)  # type: ignore[var-annotated]
    for label in parts.labels:
        for who, *row in rows_of(parts[label]):
            people[who].setdefault(label, []).append(tuple(row))
    return people


@pytest.mark.parametrize(("column", "cells"), [("ward", 1), ("ward", 2), ("admitted.quarter", 2)])
def test_a_person_keeps_rows_in_so_many_cells_the_same_each_time(column: str, cells: int) -> None:
    frame, ledger = stays(), book()
    table = register(frame, Schema("id", COLUMNS, name="stays"), ledger=ledger)
    people = kept(table, column, cells)
    assert max(map(len, people.values())) == cells
    shuffled = frame.sample(fraction=1, shuffle=True, seed=2)
    one = {"id": [10**6] * 9, "ward": "A", "days": 1, "admitted": "2025-05-01"}
    more = pl.concat([shuffled, pl.DataFrame(one, schema=frame.schema)])
    source = duckdb.connect().from_arrow(more.to_arrow())
    again = kept(type(table)(replaced(table, source), ledger), column, cells)
    assert again.pop(10**6)
    assert again == people
    if column == "ward":
        wards = frame.with_columns(pl.col("ward").fill_null("x").replace("x", "OTHER"))
        for who, rows in people.items():
            for label, held in rows.items():
                assert len(held) == wards.filter((pl.col("id") == who) & (pl.col("ward") == label)).height


def replaced(table: Any, source: Any) -> Plan:
    leaf = table.plan.leaves[0]
    other = replace(open_table(source, leaf.schema).leaves[0], registration=leaf.registration)
    return replace(table.plan, step=other, leaves=(other,))


def test_each_row_lies_in_one_cell() -> None:
    table = register(stays(), Schema(EACH_ROW, COLUMNS, name="stays"), ledger=book(person=EACH_ROW))
    parts = table.part("ward", cells=1)
    wards = stays()["ward"].fill_null("x").replace("x", "OTHER").to_list()
    for label in parts.labels:
        exact = Question(parts[label], {"n": count()}).reader.read(np.random.default_rng(1))
        assert exact.parts[0][0] == wards.count(label)
    with pytest.raises(InvalidArgument, match="lies in one cell"):
        table.part("ward", cells=2)


@pytest.mark.parametrize(("neighbours", "charged"), [(ADD_OR_REMOVE_ONE, 2), (REPLACE_ONE, 4)])
def test_cells_are_paid_for_side_by_side_and_versions_add(neighbours: Any, charged: int) -> None:
    ledger, schema = book(neighbours), Schema("id", COLUMNS, name="stays")
    parts = register(stays(), schema, ledger=ledger).part("admitted.quarter", cells=2)
    for label in parts.labels:
        asked = Question(parts[label], {"n": count()}, limit=Limit(rows=2))
        release = asked.release(budget=parts.budget(label, epsilon=1))
    assert ledger.spent.epsilon == charged
    assert str(release.guarantee).endswith("assumes content unchanged since its version was registered)")
    assert asked.words.startswith("rows of stays in OTHER, of at most 2")
    second = register(stays(seed=2), schema, ledger=ledger).part("admitted.quarter", cells=2)
    asked = Question(second["2025-Q1"], {"n": count()}, limit=Limit(rows=2))
    asked.release(budget=second.budget("2025-Q1", epsilon=1))
    assert ledger.spent.epsilon == charged + 1
    with pytest.raises(PrivacyError, match="some row may come from elsewhere"):
        asked.release(budget=parts.budget("2025-Q1", epsilon=1))


def test_a_cells_price_pays_only_for_rows_of_that_cell() -> None:
    """A6: a stack with another table, a part on the right side of a join, another cell or the whole are refused."""
    ledger = book()
    table = register(stays(), Schema("id", COLUMNS, name="stays"), ledger=ledger)
    tests = register(
        pl.DataFrame({"id": [1, 2], "result": [3, 4]}), Schema("id", TESTS, name="tests"), ledger=ledger
    ).plan
    parts = table.part("ward", cells=1)
    one, price = parts["A"], parts.budget("A", epsilon=1)
    limit = Limit(rows=2)
    fine = [
        one.where(one["days"] > 3),
        one.join(tests, most=(2, 2)),
        one.stack(parts["A"].where(one["days"] > 3)),
        one.per_person(most=2, k="count"),
    ]
    wrong = [
        table.plan,
        parts["B"],
        one.stack(parts["B"]),
        one.stack(table.plan),
        tests.join(one, most=(2, 2)),
        tests.join(one, most=(2, 2), outer=True),
    ]
    for plan in fine:
        assert place_of(plan.step) == (parts.name, "A", 1)
        Question(plan, {"n": count()}, limit=limit).release(budget=price)
    two = table.part("ward", cells=2)
    wrong.append(two["A"])
    spent = ledger.spent.epsilon
    for plan in wrong:
        with pytest.raises(PrivacyError, match="start from that part"):
            Question(plan, {"n": count()}, limit=limit).release(budget=price)
    with pytest.raises(PrivacyError, match="start from that part"):  # a partition by hand that counts fewer cells
        Question(two["A"], {"n": count()}, limit=limit).release(
            budget=ledger.partition(two.name, cells=1).budget("A", epsilon=1)
        )
    assert ledger.spent.epsilon == spent
    assert Question(one, {"n": count()}, limit=limit).release(budget=ledger.budget(epsilon=1)).guarantee.epsilon == 1


def test_what_is_no_part_is_refused() -> None:
    columns = COLUMNS | {"city": found(longest=3)}
    frame = stays().with_columns(city=pl.lit("x"))
    table = register(frame, Schema("id", columns, name="stays"), ledger=book())
    for column, message in (
        ("admitted", "too many cells"),
        ("city", "has no labels"),
        ("id", "says whose row it is"),
        ("ward.month", "is no date or time"),
    ):
        with pytest.raises(InvalidArgument, match=message):
            table.part(column, cells=1)
    with pytest.raises(InvalidArgument, match="is no cell of stays version 1 by ward, 1 a person"):
        table.part("ward", cells=1)["Z"]
    with pytest.raises(InvalidArgument, match="cells"):
        table.part("ward", cells=0)


def test_people_named_by_texts_keep_cells_too() -> None:
    columns = COLUMNS | {"id": text()}
    frame = stays().with_columns(pl.format("é{}", "id").alias("id"))
    table = register(frame, Schema("id", columns, name="stays"), ledger=book())
    people = kept(table, "ward", 1)
    assert {len(cells) for cells in people.values()} == {1}
    source = duckdb.connect().from_arrow(frame.to_arrow())
    assert kept(type(table)(replaced(table, source), table.ledger), "ward", 1) == people


@pytest.mark.parametrize("named", ["id", "name"])
def test_a_list_keeps_people_in_their_first_cells_across_versions(named: str, tmp_path: Path) -> None:
    """A7: a late row of January comes in version 2; no one is in more than two cells over both versions."""
    path, ledger = tmp_path / "stays.csv", book(person=named)
    columns = {"id": whole(), "name": text(), "ward": category(["A", "B", "C"]), "days": number(0, 9, grid=1)}
    schema = Schema(named, columns | {"admitted": date(first="2025-01-01", last="2025-03-31")}, name="stays")
    header = "id,name,ward,days,admitted\n"
    path.write_text(header + "1,p,B,1,2025-02-01\n1,p,C,2,2025-02-01\n2,q,C,3,2025-02-01\n")
    first = register(path, schema, ledger=ledger)
    seen: dict[Any, set[str]] = defaultdict(set)
    names = []
    later = [
        "1,p,A,4,2025-01-01",
        "1,p,C,2,2025-02-01",
        "2,q,A,3,2025-02-01",
        "2,q,B,3,2025-02-01",
        "3,r,x,1,2025-02-01",
    ]
    for content in ([], later):
        if content:
            path.write_text(header + "\n".join([*content, ""]))
            first = register(path, schema, ledger=ledger)
        parts = first.part("ward", cells=2, keep="first")
        names.append(parts.name)
        for label in parts.labels:
            for who, *_ in rows_of(parts[label]):
                seen[who].add(label)
    one, two, three = (1, 2, 3) if named == "id" else ("p", "q", "r")
    assert seen == {one: {"B", "C"}, two: {"C", "A"}, three: {"OTHER"}}
    assert names[0] == names[1], "one partition for both versions"
    release = Question(parts["C"], {"n": count()}, limit=Limit(rows=1)).release(budget=parts.budget("C", epsilon=1))
    assert release.guarantee.assumes == ()
    listed = next(tmp_path.glob("*.cells.parquet"))
    assert listed.stat().st_mode & 0o077 == 0
    listed.unlink()
    assert first.part("ward", cells=2, keep="first").name != names[0], "a lost list opens a new partition"
    listed.write_bytes(b"x")
    with pytest.raises(BadFile, match="no list of people and their cells"):
        first.part("ward", cells=2, keep="first")
    with pytest.raises(InvalidArgument, match="needs a registered file"):
        register(stays(), Schema("id", COLUMNS, name="frame"), ledger=book()).part("ward", cells=1, keep="first")


def test_rule_5_a_list_keeps_people_in_their_cells_whatever_labels_come_later(tmp_path: Path) -> None:
    """The list held the places of cells: of a longer list of wards, the place of OTHER was that of a new ward."""
    path, ledger, names = tmp_path / "stays.csv", book(), set()
    path.write_text("id,ward\n1,C\n2,B\n")
    seen: dict[Any, set[str]] = defaultdict(set)
    for wards in (["A", "B"], ["A", "B", "C"], ["B", "C", "A"]):
        schema = Schema("id", {"id": whole(), "ward": category(wards)}, name="stays")
        parts = register(path, schema, ledger=ledger).part("ward", cells=1, keep="first")
        names.add(parts.name)
        for label in parts.labels:
            for who, *_ in rows_of(parts[label], "ward"):
                seen[who].add(label)
    assert len(names) == 1
    assert seen == {1: {"OTHER"}, 2: {"B"}}


@pytest.mark.parametrize("keep", [None, "first"])
def test_each_number_is_the_cell_of_its_rows(tmp_path: Path, keep: str | None) -> None:
    """The cell of a label held the rows of another number, and those of the greatest numbers were in none."""
    path = tmp_path / "stays.csv"
    path.write_text("id,x\n1,-1\n2,0\n3,1\n4,2\n")
    schema = Schema("id", {"id": whole(), "x": number(-1, 2, grid=1)}, name="stays")
    parts = register(path, schema, ledger=book()).part("x", cells=1, keep=keep)
    found = {label: rows_of(parts[label], "x") for label in parts.labels}
    assert found == {"-1": [(1, -1)], "0": [(2, 0)], "1": [(3, 1)], "2": [(4, 2)]}


def test_two_who_add_to_one_list_keep_a_person_in_one_cell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both read the list before either wrote it, and a person was kept in two cells where one is paid for."""
    source, reading = tmp_path / "stays.csv", kept_cells._read
    schema = Schema("id", {"id": whole(), "ward": category(["A", "B"])})
    first, second, other = (
        open_table(pl.DataFrame({"id": [person], "ward": [ward]}), schema)
        for person, ward in ((7, "A"), (7, "B"), (8, "A"))
    )
    begun, read_too = Event(), Event()

    def read(path: Path, like: pl.DataFrame) -> tuple[str, pl.DataFrame]:
        found = reading(path, like)
        if begun.is_set():
            read_too.set()
        else:
            begun.set()
            read_too.wait(0.3)  # long enough for the other to read, were it let in
        return found

    def fill(plan: Plan) -> kept_cells.KeptCells:
        return kept_cells.fill_list(source, plan, "ward", plan["ward"].node, ("A", "B", "OTHER"), 1)

    whose = fill(other).identity
    monkeypatch.setattr(kept_cells, "_read", read)
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(fill, first)
        assert begun.wait(60)
        filled = [each.result() for each in (pool.submit(fill, second), one)]
    assert {each.identity for each in filled} == {whose}
    kept = pl.concat([each.pairs for each in filled]).unique()
    assert kept.filter(pl.col("person") == 7).height == 1
