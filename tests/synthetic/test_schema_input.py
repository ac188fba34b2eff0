"""A table under its schema is synthesised from the same cells as one whose columns are declared one by one."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from synthetic_people import COLUMNS, people

import bruit
from bruit.core import Assumption
from bruit.errors import InvalidArgument, NotPrivate
from bruit.synthetic import compare, synthesise
from bruit.synthetic.files.statement import together
from bruit.synthetic.planned_rows import rows_of
from bruit.synthetic.synthesis import prepare
from bruit.tables import read
from bruit.tables.choice.limits import Limit
from bruit.tables.plan.operators import open_table
from bruit.tables.schema import Schema, category, date, number, whole

STATED = {
    "age": number(0, 99, grid=1, missing=0),
    "licence": category(["yes", "no"], others="drop"),
    "region": category(["north", "south"]),
    "income": number(0, 1000, grid=10),
}
EDGES = {"age": [16, 40, 70]}


def test_both_ways_read_the_same_cells() -> None:
    frame = people(500)
    plan = open_table(frame.drop("id"), Schema(bruit.EACH_ROW, STATED))
    mine = rows_of(plan, None, EDGES, None)
    theirs = rows_of(read(frame, person=bruit.EACH_ROW), COLUMNS, EDGES, None)
    assert [each.labels for each in mine.coded] == [each.labels for each in theirs.coded]
    cells = [each.read(np.random.default_rng(0)).columns.T.tolist() for each in (mine, theirs)]
    assert sorted(cells[0]) == sorted(cells[1])


def test_no_more_rows_of_a_person_count_than_the_limit_says(budget: Callable[..., bruit.Budget]) -> None:
    frame = pl.concat([people(300), people(300, 1), people(300, 2)])
    plan = open_table(frame, Schema("id", {"id": whole(), **STATED}))  # type: ignore[dict-item]
    rows = rows_of(plan, ["age", "licence"], None, Limit(rows=2))
    found = rows.read(np.random.default_rng(0))
    assert found.columns.shape == (2, 600)
    assert found.person.value_counts()["count"].max() == 2
    price = budget(2, person="id")
    made = synthesise(plan, ["age", "licence"], budget=price, limit=Limit(rows=2), mode="tree").value
    assert made.frame().columns == ["age", "licence"]
    assert 0 < price.ledger.spent.epsilon <= 2


def test_a_filtered_plan_with_a_derived_column(budget: Callable[..., bruit.Budget]) -> None:
    plan = open_table(people(2000).drop("id"), Schema(bruit.EACH_ROW, STATED))
    adults = plan.where(plan["age"] >= 18).with_(decade=plan["age"].bins(10))
    made = synthesise(adults, ["decade", "licence"], budget=budget(10), rng=np.random.default_rng(0)).value
    assert made.count({"licence": "yes"}).value == pytest.approx(0.8 * 2000 * 0.82, rel=0.1)


def test_the_guarantee_says_that_tables_it_looked_up_in_are_public(budget: Callable[..., bruit.Budget]) -> None:
    plan = open_table(people(30).drop("id"), Schema(bruit.EACH_ROW, STATED))
    rain = plan.lookup({"rain": {"north": 3, "south": 1}}, on="region")
    asked: dict[str, Any] = {"limit": None, "edges": None, "mode": "tree", "size": None}
    asked |= {"budget": budget(1), "expected_rows": None, "impossible": ()}
    for table, column, assumed in ((plan, "region", ()), (rain, "rain", (Assumption.PUBLIC_TABLES,))):
        assert prepare(table, [column, "licence"], **asked).quote().guarantee.assumes == assumed


def test_what_a_schema_cannot_give_is_refused_unpaid(budget: Callable[..., bruit.Budget]) -> None:
    price = budget(1)
    days = date(first="2026-01-01", last="2026-12-31", outside="drop")
    plan = open_table(pl.DataFrame({"day": ["2026-01-02"]}), Schema(bruit.EACH_ROW, {"day": days}))
    with pytest.raises(InvalidArgument, match="part"):
        synthesise(plan, budget=price)
    with pytest.raises(InvalidArgument, match="declares its columns"):
        synthesise(plan, COLUMNS, budget=price)
    with pytest.raises(InvalidArgument, match="domain of each column"):
        synthesise(read(people(9), person=bruit.EACH_ROW), ["age"], budget=price)
    assert price.ledger.spent.epsilon == 0


def test_the_curator_compares_by_name_only(budget: Callable[..., bruit.Budget]) -> None:
    plan = open_table(people(3000).drop("id"), Schema(bruit.EACH_ROW, STATED))
    made = synthesise(plan, edges=EDGES, budget=budget(10), rng=np.random.default_rng(0)).value
    found = compare(plan, made, budget=bruit.WITHOUT_PRIVACY)
    assert found["order"].to_list() == [1] * 4 + [2] * 6
    assert found.filter(pl.col("order") == 1)["measured"].all()
    assert found["total_variation"].max() < 0.1
    assert (found["largest"] <= 2 * found["total_variation"] + 1e-12).all()
    table = compare(read(people(3000), person=bruit.EACH_ROW), made, budget=bruit.WITHOUT_PRIVACY)
    assert table["total_variation"].to_list() == pytest.approx(found["total_variation"].to_list())
    with pytest.raises(NotPrivate, match="WITHOUT_PRIVACY"):
        compare(plan, made, budget=budget(1))


def test_a_statement_names_all_pairs_at_once_and_sixty_combinations_at_most() -> None:
    names = [f"c{i}" for i in range(20)]
    singles, pairs = [(name,) for name in names], list(combinations(names, 2))
    assert together([*singles, *pairs, ("c1", "c2", "c3")]) == "all pairs of columns; c1 and c2 and c3"
    assert together([*singles, *pairs[:70]]).split("; ")[-2:] == ["c3 and c9", "10 more"]
    assert together([("c1",), ("c2",), ("c1", "c2")]) == "c1 and c2"
    assert "independent" in together(singles)


def test_the_statement_goes_with_the_rows(budget: Callable[..., bruit.Budget], tmp_path: Path) -> None:
    plan = open_table(people(300).drop("id"), Schema(bruit.EACH_ROW, STATED))
    made = synthesise(plan, budget=budget(1), mode="tree").value
    for ending in ("csv", "parquet", "xlsx"):
        made.write(tmp_path / f"made.{ending}")
        assert (tmp_path / "made.statement.md").read_text("utf-8") == made.statement
    assert str(made.guarantee) in made.statement
    sheet = pl.read_excel(tmp_path / "made.xlsx", sheet_name="statement", has_header=False)
    assert sheet[0, 0] == "# A synthetic table"
    with pytest.raises(InvalidArgument, match="parquet"):
        made.write(tmp_path / "made.ods")
