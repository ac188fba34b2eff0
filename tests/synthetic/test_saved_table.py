"""A synthetic table that was saved answers as before; a preview of one costs nothing, and its own book alone pays."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

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


@pytest.fixture
def saved(budget: Callable[..., bruit.Budget], tmp_path: Path) -> Path:
    known = [{"age": (0, 15), "licence": "yes"}]
    edges = {"age": [16, 40, 70]}
    table = read(people(300), person=bruit.EACH_ROW)
    made = synthesise(table, COLUMNS, budget=budget(), edges=edges, mode="tree", impossible=known).value
    return save(made, tmp_path / "made.npz")


def _changed(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """The same file with another content, as a stranger could write it."""
    with np.load(path) as held:
        arrays = dict(held)
    about = json.loads(arrays["about"].tobytes())
    change(arrays, about)
    arrays["about"] = np.frombuffer(json.dumps(about).encode(), np.uint8)
    np.savez(path, **arrays)
    return path


WRONG: dict[str, Callable[[dict[str, Any], dict[str, Any]], None]] = {
    "a cell that its column has not": lambda arrays, about: arrays["rows"].fill(200),
    "rows of another type": lambda arrays, about: arrays.update(rows=arrays["rows"].astype(float)),
    "a column too few": lambda arrays, about: arrays.update(rows=arrays["rows"][:, 1:]),
    "counts too few": lambda arrays, about: arrays.update(noisy=arrays["noisy"][1:]),
    "counts as fractions": lambda arrays, about: arrays.update(noisy=arrays["noisy"] / 2),
    "code instead of counts": lambda arrays, about: arrays.update(noisy=np.array([print], object)),
    "a marginal of no column": lambda arrays, about: about["measured"][-1].__setitem__(0, [0, 9]),
    "a marginal turned round": lambda arrays, about: about["measured"][-1].__setitem__(0, [2, 1]),
    "a variance of 0": lambda arrays, about: about["measured"][0].__setitem__(1, 0),
    "nobody": lambda arrays, about: about.update(people=float("nan")),
    "an impossible cell of none": lambda arrays, about: about["impossible"][0].__setitem__(1, [10**6]),
    "cells out of order": lambda arrays, about: about["columns"][0].update(firsts=[0, 70, 40, 16]),
    "another plan": lambda arrays, about: about["public"].update(sizes=[2, 2]),
    "a number that fills the memory": lambda arrays, about: about["noise"].update(pairs="1e999999999"),
    "an epsilon that fills the memory": lambda arrays, about: about["guarantee"].update(epsilon="1e999999999"),
    "a bound that fills the memory": lambda arrays, about: about["columns"][0]["domain"].update(high="1e999999999"),
    "no coins": lambda arrays, about: about.update(state=0),
    "an earlier version": lambda arrays, about: about.update(format="bruit synthetic table 1"),
    "no description": lambda arrays, about: about.clear(),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_file_of_a_stranger_is_refused_in_one_sentence(wrong: str, saved: Path) -> None:
    load(_changed(saved, lambda arrays, about: None))
    with pytest.raises(BadFile, match="no synthetic table"):
        load(_changed(saved, WRONG[wrong]))


def test_a_damaged_file_is_refused_or_reads_as_before(saved: Path) -> None:
    whole_file, rng, refused = saved.read_bytes(), np.random.default_rng(3), 0
    rows = load(saved).rows
    for _ in range(200):
        damaged = bytearray(whole_file)
        damaged[rng.integers(len(damaged))] ^= 1 << int(rng.integers(8))
        saved.write_bytes(damaged)
        try:
            assert (load(saved).rows == rows).all()
        except BadFile:
            refused += 1
    assert refused > 100


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
