"""A synthetic table that was saved answers as before; a preview of one costs nothing, and its own book alone pays."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from synthetic_people import COLUMNS, people

import bruit
from bruit.errors import BadFile, MissingData, NotPrivate, PrivacyError
from bruit.synthetic import compare_cells, load, save, synthesise
from bruit.synthetic.synthesis import Rehearsal, prepare
from bruit.tables import Table, read
from bruit.tables.choice.limits import Limit
from bruit.tables.schema import Schema, category, number, whole

WHOLE = {"limit": None, "edges": None, "mode": "tree", "size": None, "expected_rows": None, "impossible": ()}


@pytest.mark.parametrize(("mode", "size"), [("adaptive", None), ("tree", 800)])
def test_a_saved_table_gives_the_same_answers(
    mode: str, size: int | None, budget: Callable[..., bruit.Budget], tmp_path: Path
) -> None:
    table = read(people(800), person=bruit.EACH_ROW)
    known = [{"age": (0, 15), "licence": "yes"}]
    edges = {"age": [16, 40, 70]}
    made = synthesise(table, COLUMNS, budget=budget(), edges=edges, mode=mode, size=size, impossible=known).value
    again = load(save(made, tmp_path / "made.npz"))
    assert again.frame().equals(made.frame())
    assert (again.statement, again.measured, again.guarantee) == (made.statement, made.measured, made.guarantee)
    assert isinstance(again.again, Rehearsal)
    assert isinstance(made.again, Rehearsal)
    assert again.again.plan == made.again.plan
    for where in ({"age": (16, 69)}, {"age": (0, 39), "licence": "no", "region": "north"}):
        assert again.count(where).to_json() == made.count(where).to_json()
    assert [path.name for path in tmp_path.iterdir()] == ["made.npz"]


def test_what_is_no_saved_table_is_refused(tmp_path: Path) -> None:
    with pytest.raises(MissingData, match="no such file"):
        load(tmp_path / "none.npz")
    np.savez(tmp_path / "other.npz", rows=np.zeros((2, 2)))
    (tmp_path / "cut.npz").write_bytes((tmp_path / "other.npz").read_bytes()[:50])
    (tmp_path / "text.npz").write_text("rows")
    for name in ("other", "cut", "text"):
        with pytest.raises(BadFile, match="no synthetic table"):
            load(tmp_path / f"{name}.npz")


def test_a_preview_charges_nothing_and_the_release_costs_what_it_said(
    table: Table, budget: Callable[..., bruit.Budget]
) -> None:
    price, seen = budget(), []
    prepared = prepare(table, COLUMNS, budget=price, **WHOLE)
    quote = prepared.quote()
    assert not price.ledger.entries
    release = prepared.release(on_progress=lambda done, every: seen.append((done, every)))
    assert release.guarantee == quote.guarantee
    assert price.ledger.spent.total == quote.total
    assert seen == [(done, seen[0][1]) for done in range(1, seen[0][1] + 1)]
    assert release.details["asked"] == {"words": "synthetic table of age, licence, region, income", "tables": []}


def test_a_registered_table_is_paid_from_its_own_book_alone() -> None:
    frame = people(300).select("id", "age", "region")
    schema = Schema("id", {"id": whole(), "age": number(0, 99, grid=1), "region": category(["north", "south"])})
    own, other = (
        bruit.Ledger(name, epsilon=3, delta="1e-5", neighbours=bruit.ADD_OR_REMOVE_ONE, person="id")
        for name in ("own", "other")
    )
    plan = bruit.tables.register(frame, schema, ledger=own).plan
    limit = Limit(rows=1)
    with pytest.raises(PrivacyError, match="registered in another book"):
        synthesise(plan, ["age"], limit=limit, mode="tree", budget=other.budget(epsilon=1, delta="1e-6"))
    with pytest.raises(PrivacyError, match="some row may come from elsewhere"):
        part = own.partition("region").budget("north", epsilon=1, delta="1e-6")
        synthesise(plan, ["age"], limit=limit, mode="tree", budget=part)
    assert not other.entries
    release = synthesise(plan, ["age"], limit=limit, mode="tree", budget=own.budget(epsilon=1, delta="1e-6"))
    assert [each["version"] for each in release.details["asked"]["tables"]] == [1]


def test_cells_are_compared_exactly_and_by_name_only(table: Table, budget: Callable[..., bruit.Budget]) -> None:
    made = synthesise(table, COLUMNS, budget=budget(), mode="tree").value
    found = compare_cells(table, made, budget=bruit.WITHOUT_PRIVACY)
    sums = found.group_by("column").agg(pl.col("true", "synthetic").sum())
    assert sums["true"].to_list() == pytest.approx([1] * 4)
    assert sums["synthetic"].to_list() == pytest.approx([1] * 4)
    north = found.row(by_predicate=pl.col("value") == "north", named=True)
    assert north["true"] == (people(4000)["region"] == "north").mean()
    assert north["synthetic"] == (made.frame()["region"] == "north").mean()
    with pytest.raises(NotPrivate, match="WITHOUT_PRIVACY"):
        compare_cells(table, made, budget=budget(1))
