"""What is handed out with a release runs and asks the same question; previews of one statistic read no row."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hospital import schema_text, stays, write_french_csv

from bruit import ADD_OR_REMOVE_ONE, Ledger
from bruit.apps.steward import FileStatistic, open_table, preview, price_of
from bruit.apps.steward.code import python_of, recipe_of
from bruit.apps.steward.queries import Query
from bruit.apps.steward.recipe import open_recipe, read_recipe
from bruit.apps.steward.sources import open_plan
from bruit.central.questions import Limit
from bruit.errors import BudgetExceeded, InvalidArgument
from bruit.tables import Table
from bruit.tables.schema import Schema

BLANK = dict.fromkeys(("column", "within", "grid", "missing", "among", "group_by", "quantiles", "size"))
INCOME = {"column": "income", "within": ("0", "1000"), "grid": "1"}
ASKED: dict[str, Any] = {
    "sql": "select ward, count(*) as n from stays group by ward",
    "limit": {"rows": 3},
    "most": None,
    "confidence": 0.9,
    "book": "p",
    "price": {"epsilon": "0.5"},
}


@pytest.fixture
def people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    cities = rng.choice(["Lyon", "Nice", "Aix, en Provence"], 400)
    pl.DataFrame({"id": np.arange(400), "income": rng.integers(0, 1000, 400), "city": cities}).write_csv("people.csv")
    return open_table("people.csv", "id", 1, 1)


def book(person: str = "id") -> Ledger:
    return Ledger("p", epsilon=50, neighbours=ADD_OR_REMOVE_ONE, person=person, store="sqlite:///bruit.db")


def asked(statistic: Any, **given: Any) -> Any:
    return FileStatistic(statistic, **{**BLANK, **given}, confidence=0.9)


def test_the_program_and_the_recipe_ask_the_same_question(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BRUIT_STORE", "sqlite:///bruit.db")
    write_french_csv(tmp_path / "stays.csv", stays())
    (tmp_path / "stays.toml").write_text(schema_text(), encoding="utf-8")
    schema = Schema.from_toml(schema_text())
    query = Query(ASKED["sql"], {"stays": open_plan("stays.csv", schema)}, Limit(rows=3), confidence=0.9)
    query.release(book("patient"), ASKED["price"])
    (tmp_path / "again.toml").write_text(recipe_of(ASKED, {"stays.csv": schema.to_toml()}), encoding="utf-8")
    (again,) = open_recipe(read_recipe(tmp_path / "again.toml"), book("patient")).priced
    assert again.query.question.digest == query.question.digest
    program = python_of(ASKED, {"stays.csv": schema.to_toml()})
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    first, second = book("patient").entries
    assert (first.loss, first.release.labels) == (second.loss, second.release.labels)
    assert first.release.details["asked"] == second.release.details["asked"]


def test_a_name_cannot_add_code() -> None:
    evil = 'x"]\nraise SystemExit(3)\n#\'"""'
    schema = Schema.from_toml(schema_text()).to_toml()
    made = {**ASKED, "sql": evil, "book": evil}
    program = python_of(made, {evil: schema})
    assert not any(line.startswith("raise") for line in program.splitlines())
    compile(program, "made", "exec")
    recipe = recipe_of(made, {evil: schema})
    assert not any(line.startswith("raise") for line in recipe.splitlines())


def test_a_preview_reads_no_row_and_charges_nothing(people: Table, tmp_path: Path) -> None:
    price = {"epsilon": "0.5"}
    told = preview(asked("sum", **INCOME), people, book(), price)
    assert (told["price"], told["left"], told["left_after"], told["enough"]) == (0.5, 50.0, 49.5, True)
    (tmp_path / "people.csv").write_text("id,income,city\n")
    assert preview(asked("sum", **INCOME), people, book(), price) == told
    assert book().entries == ()


@pytest.mark.parametrize("epsilon", ["50.1", "1e999"])
def test_a_price_above_the_whole_book_is_refused(people: Table, epsilon: str) -> None:
    with pytest.raises(BudgetExceeded, match="nothing was charged"):
        preview(asked("sum", **INCOME), people, book(), {"epsilon": epsilon})
    assert book().entries == ()


@pytest.mark.parametrize(
    ("statistic", "given"),
    [
        ("median", {}),
        ("count", {"size": 3}),
        ("sum", {"within": ("0", "1"), "grid": "1"}),
        ("sum", {"column": "income"}),
        ("histogram", {**INCOME, "among": "a"}),
        ("histogram", {"column": "city", "among": "a\nb"}),
    ],
)
def test_what_is_not_stated_is_asked_for(people: Table, statistic: str, given: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        asked(statistic, **given).release(people, price_of(book(), {"epsilon": "1"}))
