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
        (("--predict", "ill", "--evaluate", "2.5"), "ε = 3.5 is above"),
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
    people = Task(schema, "ill", "NaiveBayes")._read(str(path))[2]
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
