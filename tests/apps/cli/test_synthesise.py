"""`bruit synthesise` as a steward types it, from a schema in TOML to rows in a file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from synthetic_people import people

from bruit.apps.cli import main
from bruit.ledger import Ledger
from bruit.synthetic import load
from bruit.tables.schema import Schema, category, csv, number, whole

STORE = "sqlite:///bruit.db"
SCHEMA = """
person = "each row"
[columns.age]
type = "number"
low = 0
high = 99
grid = 1
missing = 0
edges = [16, 40, 70]
[columns.licence]
type = "category"
values = ["yes", "no"]
others = "drop"
[columns.income]
type = "number"
low = 0
high = 1000
grid = 100
[[impossible]]
age = [0, 15]
licence = "yes"
"""
PAID = ("--epsilon", "1", "--delta", "1e-5", "--ledger", "town", "--store", STORE)


@pytest.fixture
def bruit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BRUIT_STORE", raising=False)
    people(2000).write_csv("people.csv")
    (tmp_path / "people.toml").write_text(SCHEMA)

    def typed(*words: str) -> Any:
        return CliRunner().invoke(main, list(words))

    made = typed("ledger", "create", "town", "--epsilon", "2", "--delta", "1e-4", "--neighbours", "add or remove one",
                 "--person", "each row", "--store", STORE)  # fmt: skip
    assert made.exit_code == 0, made.stderr
    return typed


@pytest.mark.parametrize("ending", ["csv", "parquet", "xlsx"])
def test_rows_are_written_and_what_they_are_for_is_said(bruit: Callable[..., Any], ending: str) -> None:
    done = bruit("synthesise", "people.csv", "--schema", "people.toml", "--out", f"made.{ending}", *PAID)
    assert done.exit_code == 0, done.stderr
    assert "may not be used" in done.stdout
    assert "may not be used" in Path("made.statement.md").read_text("utf-8")
    readers = {"csv": pl.read_csv, "parquet": pl.read_parquet, "xlsx": pl.read_excel}
    made = readers[ending](f"made.{ending}")
    assert made.columns == ["age", "licence", "income"]
    assert made.filter(pl.col("age") < 16, pl.col("licence") == "yes").height == 0
    assert 0.99 < Ledger.open("town", STORE).spent.epsilon <= 1


def test_json_tells_what_was_measured_and_what_is_left(bruit: Callable[..., Any]) -> None:
    done = bruit(
        "synthesise", "people.csv", "--schema", "people.toml", "--out", "made.csv", "--mode", "tree", *PAID, "--json"
    )
    told = json.loads(done.stdout)
    assert ["age"] in told["measured"]
    assert told["rows"] > 1000
    assert told["left"] == pytest.approx(1, abs=0.01)


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ("person = 1 2", "not a schema in TOML"),
        ("person = 'each row'", "a schema states person"),
        ("person = 'each row'\n[columns.age]\ntype = 'number'", "age"),
        ("person = 'id'\n[columns.licence]\ntype = 'category'\nvalues = ['yes']", "rows ="),
        (None, "no such file"),
    ],
)
def test_a_schema_that_states_too_little_is_refused_unpaid(
    bruit: Callable[..., Any], tmp_path: Path, schema: str | None, words: str
) -> None:
    name = "gone.toml" if schema is None else "wrong.toml"
    if schema is not None:
        (tmp_path / name).write_text(schema)
    done = bruit("synthesise", "people.csv", "--schema", name, "--out", "made.csv", *PAID)
    assert done.exit_code == 2
    assert words in done.stderr
    assert Ledger.open("town", STORE).spent.epsilon == 0


def test_another_ending_is_refused_unpaid(bruit: Callable[..., Any]) -> None:
    done = bruit("synthesise", "people.csv", "--schema", "people.toml", "--out", "made.xls", *PAID)
    assert (done.exit_code, Ledger.open("town", STORE).spent.epsilon) == (2, 0)


def test_what_is_kept_answers_with_intervals(bruit: Callable[..., Any]) -> None:
    asked = ("synthesise", "people.csv", "--schema", "people.toml", "--out", "made.csv", "--mode", "tree", *PAID)
    for refused in ("made.txt", "nowhere/made.npz"):
        assert bruit(*asked, "--save", refused).exit_code == 2
    assert Ledger.open("town", STORE).spent.epsilon == 0
    done = bruit(*asked, "--save", "made.npz", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["save"] == "made.npz"
    answer = load("made.npz").count({"licence": "yes"})
    assert answer.interval.low < pl.read_csv("people.csv")["licence"].eq("yes").sum() < answer.interval.high


def test_a_folder_that_is_not_there_is_refused_unpaid(bruit: Callable[..., Any]) -> None:
    done = bruit("synthesise", "people.csv", "--schema", "people.toml", "--out", "nowhere/made.csv", *PAID)
    assert "nowhere" in done.stderr
    assert (done.exit_code, Ledger.open("town", STORE).spent.epsilon) == (2, 0)


def test_a_folder_in_the_place_of_a_file_is_refused_unpaid(bruit: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "made.csv").mkdir()
    done = bruit("synthesise", "people.csv", "--schema", "people.toml", "--mode", "tree", "--out", "made.csv", *PAID)
    assert "cannot be written over" in done.stderr
    assert (done.exit_code, Ledger.open("town", STORE).spent.epsilon) == (2, 0)


@pytest.mark.parametrize("ending", ["parquet", "xlsx"])
def test_the_ending_of_the_source_says_its_format_where_the_schema_does_not(
    bruit: Callable[..., Any], ending: str
) -> None:
    source, table = f"people.{ending}", pl.read_csv("people.csv")
    _ = table.write_parquet(source) if ending == "parquet" else table.write_excel(source)
    done = bruit("synthesise", source, "--schema", "people.toml", "--out", "made.csv", "--mode", "tree", *PAID)
    assert done.exit_code == 0, done.stderr
    assert pl.read_csv("made.csv").height > 1000


ENGINE = Schema(
    "id",
    {"id": whole(), "licence": category(["yes", "no"]), "income": number(0, 1000, grid=10, strip=["€"])},
    name="people",
    file=csv(),
)
"""The schema of a table as `bruit ask` reads it."""


@pytest.mark.parametrize(
    ("line", "options"), [("rows = 1\n", ()), ("", ("--rows", "1")), ("rows = 1\n", ("--rows", "1"))]
)
def test_the_schema_of_the_question_engine_is_read_as_it_is_written(
    bruit: Callable[..., Any], tmp_path: Path, line: str, options: tuple[str, ...]
) -> None:
    (tmp_path / "engine.toml").write_text(line + ENGINE.to_toml())
    made = bruit("ledger", "create", "ids", "--epsilon", "2", "--delta", "1e-4", "--neighbours", "add or remove one",
                 "--person", "id", "--store", STORE)  # fmt: skip
    assert made.exit_code == 0, made.stderr
    paid = (*PAID[:5], "ids", *PAID[6:], *options)
    done = bruit("synthesise", "people.csv", "--schema", "engine.toml", "--out", "made.csv", "--mode", "tree", *paid)
    assert done.exit_code == 0, done.stderr
    assert pl.read_csv("made.csv").columns == ["licence", "income"]


@pytest.mark.parametrize(
    ("line", "options", "told"),
    [
        ("", (), "say how many rows of one person count: rows = 1 there, or --rows 1"),
        ("rows = 2\n", ("--rows", "1"), "says rows = 2: give one of them"),
    ],
)
def test_rows_of_one_person_are_stated_once(
    bruit: Callable[..., Any], tmp_path: Path, line: str, options: tuple[str, ...], told: str
) -> None:
    (tmp_path / "engine.toml").write_text(line + ENGINE.to_toml())
    done = bruit("synthesise", "people.csv", "--schema", "engine.toml", "--out", "made.csv", *PAID, *options)
    assert (done.exit_code, told in done.stderr) == (2, True), done.stderr
    assert Ledger.open("town", STORE).spent.epsilon == 0


def test_rows_are_not_limited_where_each_row_is_a_person(bruit: Callable[..., Any]) -> None:
    done = bruit("synthesise", "people.csv", "--schema", "people.toml", "--out", "made.csv", *PAID, "--rows", "1")
    assert (done.exit_code, "leave it out" in done.stderr) == (2, True), done.stderr
