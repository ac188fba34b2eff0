"""`bruit learn` as a steward types it: from a file and its schema to a model that is loaded elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from bruit.apps.cli import main
from bruit.apps.cli.learn.task import Task
from bruit.learning import load
from bruit.learning.estimator.records import person_numbers
from bruit.ledger import Ledger
from bruit.tables.schema import Schema, number, text, whole, yesno

STORE = "sqlite:///bruit.db"
SCHEMA = """
person = "id"
[columns.id]
type = "text"
[columns.age]
type = "number"
low = 0
high = 100
grid = 1
missing = 50
[columns.job]
type = "category"
values = ["clerk", "cook"]
others = "OTHER"
[columns.ill]
type = "yesno"
yes = ["oui", "yes"]
no = ["non"]
[columns.days]
type = "number"
low = 0
high = 50
grid = 1
"""
PAID = ("--schema", "people.toml", "--ledger", "town", "--store", STORE)


@pytest.fixture
def bruit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    rng, n = np.random.default_rng(1), 3000
    age, job = rng.integers(0, 101, n), rng.choice(["clerk", "cook", "spy"], n)
    ill = np.where(age > 60, rng.choice(["oui", "yes"], n), "non")
    columns = {"id": [f"p{row}" for row in range(n)], "age": age, "job": job, "ill": ill, "days": age // 2}
    pl.DataFrame(columns).write_csv("people.csv")
    (tmp_path / "people.toml").write_text(SCHEMA)

    def typed(*words: str) -> Any:
        return CliRunner().invoke(main, list(words))

    made = typed("ledger", "create", "town", "--epsilon", "3", "--delta", "1e-4", "--neighbours", "add or remove one",
                 "--person", "id", "--store", STORE)  # fmt: skip
    assert made.exit_code == 0, made.stderr
    return typed


def test_a_model_is_fitted_evaluated_and_written(bruit: Callable[..., Any]) -> None:
    asked = ("--predict", "ill", "--epsilon", "1.5", "--delta", "1e-5", "--evaluate", "1", "--out", "ill.bruit")
    done = bruit("learn", "people.csv", *PAID, *asked, "--use", "Planning beds.", "--json")
    assert done.exit_code == 0, done.stderr
    said = json.loads(done.stdout)
    model = load("ill.bruit")
    rows = pl.DataFrame({"age": [10, 95], "job": ["cook", "spy"], "days": [5, 47]})
    assert model.predict(rows).tolist() == ["no", "yes"]
    assert model.card_.intended_use == "Planning beds."
    assert {figure["name"] for figure in said["card"]["figures"]} >= {"accuracy"}
    (accuracy,) = (each for each in said["card"]["figures"] if each["name"] == "accuracy")
    assert accuracy["value"] > 0.8
    spent = Ledger.open("town", STORE).spent
    assert float(spent.epsilon) == pytest.approx(2.5, abs=0.01)
    assert [entry.what for entry in Ledger.open("town", STORE).entries] == [
        "learning.AdditiveModel",
        "learning.evaluate",
    ]


QUICK = ("--predict", "ill", "--model", "NaiveBayes", "--epsilon", "1.5", "--delta", "1e-5", "--out", "ill.bruit")


@pytest.mark.parametrize("by", ["basic", "zcdp", "rdp:8"])
@pytest.mark.parametrize("neighbours", ["add or remove one", "replace one"])
def test_every_book_pays_for_fit_and_figures(by: str, neighbours: str, bruit: Callable[..., Any]) -> None:
    terms = ("--epsilon", "9", "--delta", "1e-4", "--neighbours", neighbours, "--person", "id", "--by", by)
    assert bruit("ledger", "create", "other", *terms, "--store", STORE).exit_code == 0
    paid = ("--schema", "people.toml", "--ledger", "other", "--store", STORE)
    done = bruit("learn", "people.csv", *paid, *QUICK, "--evaluate", "1")
    assert done.exit_code == 0, done.stderr
    book = Ledger.open("other", STORE)
    fit, figures = book.entries
    assert (fit.what, figures.what) == ("learning.NaiveBayes", "learning.evaluate")
    assert float(figures.guarantee.epsilon) == pytest.approx(1, abs=1e-9)
    assert figures.guarantee.delta == 0
    if by == "basic":
        assert book.spent.delta == fit.guarantee.delta


@pytest.mark.parametrize("by", ["basic", "zcdp"])
def test_a_fit_whose_figures_are_not_left_is_refused_uncharged(by: str, bruit: Callable[..., Any]) -> None:
    terms = ("--epsilon", "4", "--delta", "1e-4", "--neighbours", "add or remove one", "--person", "id", "--by", by)
    assert bruit("ledger", "create", "other", *terms, "--store", STORE).exit_code == 0
    paid = ("--schema", "people.toml", "--ledger", "other", "--store", STORE)
    first = bruit("learn", "people.csv", *paid, "--predict", "ill", "--model", "NaiveBayes", "--epsilon", "1",
                  "--out", "first.bruit")  # fmt: skip
    assert first.exit_code == 0, first.stderr
    left = "2.5" if by == "basic" else "0.2"
    asked = ("learn", "people.csv", *paid, "--predict", "ill", "--model", "NaiveBayes", "--epsilon", left)
    done = bruit(*asked, "--evaluate", "1", "--out", "ill.bruit")
    assert done.exit_code == 2
    assert "nothing was charged" in done.stderr
    assert len(Ledger.open("other", STORE).entries) == 1
    assert not Path("ill.bruit").exists()
    assert bruit(*asked, "--out", "ill.bruit").exit_code == 0  # the fit alone


@pytest.mark.parametrize("name", ["people.parquet", "people.xlsx", "people.sqlite", "people.duckdb"])
def test_a_table_is_opened_as_questions_open_it(name: str, bruit: Callable[..., Any]) -> None:
    rows = pl.read_csv("people.csv")
    kind = {"people.parquet": "parquet", "people.xlsx": "excel"}.get(name)
    if name == "people.parquet":
        rows.write_parquet(name)
    elif name == "people.xlsx":
        rows.write_excel(name)
    elif name == "people.sqlite":
        rows.write_database("people", f"sqlite:///{name}")
    else:
        duckdb = pytest.importorskip("duckdb")
        with duckdb.connect(name) as file:
            file.execute("CREATE TABLE people AS SELECT * FROM rows")
    Path("people.toml").write_text(SCHEMA + ("" if kind is None else f'[file]\nkind = "{kind}"\n'))
    done = bruit("learn", name, "--table", "people", *PAID, *QUICK)
    assert done.exit_code == 0, done.stderr
    told = pl.DataFrame({"age": [10, 95], "job": ["cook", "spy"], "days": [5, 47]})
    assert load("ill.bruit").predict(told).tolist() == ["no", "yes"]


@pytest.mark.parametrize("model", ["LinearRegression", "AdditiveModel"])
def test_numbers_are_predicted_too(bruit: Callable[..., Any], model: str) -> None:
    asked = ("--predict", "days", "--model", model, "--epsilon", "2", "--delta", "1e-5", "--out", "days.bruit")
    done = bruit("learn", "people.csv", *PAID, *asked)
    assert done.exit_code == 0, done.stderr
    assert "Left in town" in done.stdout
    rows = pl.DataFrame({"age": [10, 90], "job": ["cook", "cook"], "ill": ["non", "oui"]})
    low, high = load("days.bruit").predict(rows)
    assert high - low > 20


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        (("--predict", "id"), "no such column"),
        (("--predict", "days", "--model", "NaiveBayes"), "does not predict days"),
        (("--predict", "days", "--evaluate", "1"), "for classes"),
        (("--predict", "ill", "--model", "LinearRegression"), "does not predict ill"),
        (("--predict", "ill", "--evaluate", "2.5"), "asked ε = 2.5; left ε = 2"),
        (("--predict", "ill", "--out", "nowhere/ill.bruit"), "no folder"),
    ],
)
def test_what_cannot_be_learned_is_refused_uncharged(bruit: Callable[..., Any], asked: Any, says: str) -> None:
    out = () if "--out" in asked else ("--out", "ill.bruit")
    done = bruit("learn", "people.csv", *PAID, "--epsilon", "1", "--delta", "1e-5", *out, *asked)
    assert done.exit_code == 2
    assert says in done.stderr
    assert not Ledger.open("town", STORE).entries
    assert not Path("ill.bruit").exists()


@pytest.mark.parametrize(("kind", "names"), [("text", ["p1", " p1", "p1\t"]), ("whole", ["7", "07", " 7", "+7"])])
def test_a_person_is_whom_the_schema_reads(kind: str, names: list[str], tmp_path: Path) -> None:
    """However the name is written: the rows that count, and the half that is held back, are those of one person."""
    path = tmp_path / "people.csv"
    path.write_text("id,age,ill\n" + "".join(f"{name},30,oui\n" for name in [*names, "", "8"]))
    columns: dict[str, Any] = {"id": {"text": text, "whole": whole}[kind](), "age": number(0, 100, grid=1)}
    schema = Schema("id", columns | {"ill": yesno(yes=["oui"], no=["non"])})
    people = Task(schema, "ill", "NaiveBayes").read(str(path)).groups
    assert person_numbers(people).tolist() == [*[0] * len(names), -1, 1]


@pytest.mark.parametrize(
    "wrong", [("--out", "x" * 300), ("--evaluate", "1e-18", "--out", "ill.bruit"), ("--rows", "9" * 17, "--out", "a")]
)
def test_what_cannot_be_finished_is_refused_before_it_is_paid(
    wrong: tuple[str, ...], bruit: Callable[..., Any]
) -> None:
    done = bruit("learn", "people.csv", *PAID, "--predict", "ill", "--model", "NaiveBayes", "--epsilon", "1", *wrong)
    assert done.exit_code == 2
    assert Ledger.open("town", STORE).entries == ()
    assert {"people.csv", "people.toml"} == {path.name for path in Path().iterdir() if "bruit.db" not in path.name}
