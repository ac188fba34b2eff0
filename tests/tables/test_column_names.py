"""Columns of any name are read as themselves; what engines could mistake is refused before anything is paid."""

from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

from bruit import tables
from bruit.central.column_questions import question_about
from bruit.central.questions import Limit, measures
from bruit.errors import InvalidArgument, OutOfDomain
from bruit.tables import open_table
from bruit.tables.expressions.nodes import extent
from bruit.tables.plan.expressions import DEEPEST
from bruit.tables.plan.operators import Plan
from bruit.tables.plan.reading import Part, Reader
from bruit.tables.plan.steps import With
from bruit.tables.schema import Schema, category, found, number, whole

ODD = [
    "person", "part", "place", "copies", "row number", "key 0", "value 0", "group number", "packed", "copy", "rows",
    "cell", "c", "c0", "text_0", "number 0", "leaf_0", "FROM leaf_0", "step_0", "has x", "sum x", "n x", "l", "select",
    "é", "a b", "x.y", 'quo"ted', "back`tick", "'", "{}", "%s", "unused",
]  # fmt: skip
ROWS = [
    {"id": 1, "number": 1.0, "label": "a", "text": "Lyon"},
    {"id": 1, "number": 3.0, "label": "b", "text": "Nice"},
    {"id": 10**12, "number": 2.0, "label": "a", "text": "Lyon"},
    {"id": -5, "number": None, "label": "b", "text": None},
]


def in_duckdb(frame: pl.DataFrame) -> Any:
    connection = duckdb.connect()
    connection.register("arrived", frame.to_arrow())
    connection.execute("create table held as select * from arrived")
    return connection.table("held")


def opened(names: dict[str, str], *, engine: str = "polars") -> Plan:
    """The rows with columns under other names."""
    frame = pl.DataFrame(ROWS).rename(names)
    kinds: dict[str, Any] = {
        "id": whole(), "number": number(0, 3, grid=1), "label": category(["a", "b"]), "text": found(longest=9),
    }  # fmt: skip
    schema = Schema(names.get("id", "id"), {names.get(name, name): kind for name, kind in kinds.items()})
    return open_table(in_duckdb(frame) if engine == "duckdb" else frame, schema)


def integers(plan: Plan, key: str, value: str) -> Any:
    reader = Reader(plan, (plan[key],), (Part("sum", plan[value]), Part("people")), Limit(rows=3))
    read = reader.read(np.random.default_rng(1))
    return [each.tolist() for each in read.parts], read.found


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_rule_12_a_column_of_any_name_is_read_as_itself(engine: str) -> None:
    """A question with a choice inside a join, a summary and found texts holds the most columns of an engine's own."""
    for first in range(0, len(ODD), 3):
        names = dict(zip(("number", "label", "text"), ODD[first : first + 3], strict=True))
        plan, plain = opened(names, engine=engine), opened({})
        assert integers(plan, names["label"], names["number"]) == integers(plain, "label", "number"), names
        assert integers(plan, names["text"], names["number"]) == integers(plain, "text", "number"), names
        summed = plan.per_person(most=2, **{"a of them": ("sum", names["number"])})
        both = plan.join(summed, most=(3, 1))
        other = plain.join(plain.per_person(most=2, total=("sum", "number")), most=(3, 1))
        assert integers(both, names["text"], "a of them") == integers(other, "text", "total"), names


def test_rule_12_a_column_called_person_is_not_the_person() -> None:
    table = tables.read(pl.DataFrame({"id": [-(10**12), 10**12, 3], "person": [1, 2, 3]}), person="id").limit(rows=1)
    for column in (table["person"].within(0, 5, grid=1), table["person"].within(0, 2**31, grid=1)):
        question = question_about(column.table, measures.total, column)
        assert question.reader.read(np.random.default_rng(1)).parts[0].tolist() == [6]


def test_a_name_with_blanks_at_its_ends_is_pointed_at() -> None:
    """A header line of Excel such as `Patient ; Service` looks as if it held the name that was declared."""
    frame = pl.DataFrame({"id ": [1], "x": [2]})
    with pytest.raises(InvalidArgument, match=r"; .id . has blanks at its ends: write them too$"):
        open_table(frame, Schema("id", {"id": whole(), "x": number(0, 9, grid=1)}))


def test_names_that_engines_could_mistake_are_refused() -> None:
    plan = opened({})
    one: dict[object, Any] = {"a": 1, "b": 2}
    for make in (
        lambda: plan.with_(Number=plan["number"]),
        lambda: plan.with_(new=plan["number"], NEW=plan["number"]),
        lambda: plan.lookup({"Label": one}, on="label"),
        lambda: plan.lookup({"id": one}, on="label"),
        lambda: plan.lookup({"bruit: person": one}, on="label"),
        lambda: plan.per_person(most=1, n="count", N="count"),
        lambda: plan.per_person(most=1, id="count"),
        lambda: Schema("id", {"id": whole(), "Bruit: person": whole()}),
    ):
        with pytest.raises(
            InvalidArgument, match=r"one name to some engines|says whose row it is|no column name may begin"
        ):
            make()


def test_rule_13_what_would_leave_64_bits_is_refused_before_it_is_paid() -> None:
    """An engine fails on it, or wraps around, for some records and not for others."""
    columns = {"id": whole(), "x": number(0, 4 * 10**9, grid=1), "y": number(0, "0.001", grid="1e-12")}
    plan = open_table(pl.DataFrame({"id": [1], "x": [4e9], "y": [0.0]}), Schema("id", columns))
    for make in (
        lambda: plan["x"] > plan["y"],
        lambda: (plan["x"] * "1.2345678901234567").floor(),
        lambda: plan.lookup({"z": {1: 10**30, 2: 1}}, on="x"),
    ):
        with pytest.raises(OutOfDomain, match=r"64 bits|2\^32"):
            make()
    frame = pl.DataFrame({"id": [1, 2], "x": [0.0, 4e9], "y": [0.0, 0.0]})
    for source in (frame, in_duckdb(frame)):
        plan = open_table(source, Schema("id", columns))
        for bound, above in ((10**30, 0), (-(10**30), 2), (4 * 10**9, 0), (0, 1), ("0.5", 1)):
            reader = Reader(plan.where(plan["x"] > bound), (), (Part("rows"),), Limit(rows=1))
            assert reader.read(np.random.default_rng(1)).parts[0].tolist() == [above]


def test_rule_13_expressions_that_an_engine_could_not_follow_are_refused() -> None:
    plan = opened({})
    condition = plan["number"] > 0
    for _ in range(1000):
        condition = condition & (plan["number"] > 0)
    with pytest.raises(InvalidArgument, match="too many steps"):
        plan.where(condition)
    wide = plan["number"]
    with pytest.raises(InvalidArgument, match="too many steps"):
        for _ in range(15):
            wide = wide.within(0, 3)


def test_a_long_public_table_is_looked_up_by_halves() -> None:
    columns = {"id": whole(), "x": number(0, 500, grid=1)}
    frame = pl.DataFrame({"id": range(500), "x": [float(each) for each in range(500)]})
    plan = open_table(frame, Schema("id", columns))
    found_in = plan.lookup({"z": {place: 7 * place + 1 for place in range(400)}}, on="x")
    assert isinstance(found_in.step, With)
    assert extent(found_in.step.columns[0][1])[0] < 15, "a chain of 400 cases is more than some engines follow"
    reader = Reader(found_in, (), (Part("sum", found_in["z"]),), Limit(rows=1))
    assert reader.read(np.random.default_rng(1)).parts[0].tolist() == [sum(7 * place + 1 for place in range(400))]


@pytest.mark.parametrize("name", ["unused", "leaf_0", "step_0"])
def test_a_table_in_duckdb_may_have_any_name(name: str) -> None:
    connection = duckdb.connect()
    connection.execute(f"create table {name} as select 1 as id, 1 as x union all select 2, 1")
    relation = connection.sql(f"select id, x + 1 as x from {name}")
    plan = open_table(relation, Schema("id", {"id": whole(), "x": number(0, 9, grid=1)}))
    reader = Reader(plan, (), (Part("sum", plan["x"]),), Limit(rows=1))
    assert reader.read(np.random.default_rng(1)).parts[0].tolist() == [4]


@pytest.mark.parametrize("half", ["\ud800", "a\udfff"])
def test_rule_13_half_of_a_character_in_a_schema_is_refused(half: str) -> None:
    for columns in ({"id": whole(), "w": category(["a", half])}, {"id": whole(), half: found(longest=9)}):
        with pytest.raises(InvalidArgument, match="half of a character"):
            Schema("id", columns)


@pytest.mark.parametrize("engine", ["polars", "duckdb"])
def test_rule_13_a_plan_of_too_many_steps_is_refused_before_it_is_paid(engine: str) -> None:
    """DuckDB fails on nine hundred filters one over the other; what is accepted is read."""
    once = opened({}, engine=engine)
    plan = once = once.where(once["number"] >= 0)
    for _ in range(DEEPEST - 2):
        plan = plan.where(plan["number"] >= 0)
    with pytest.raises(InvalidArgument, match="too long for an engine"):
        plan.where(plan["number"] >= 0)
    assert integers(plan, "label", "number") == integers(once, "label", "number")
