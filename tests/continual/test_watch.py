"""A folder that grows, and `bruit watch` as a person types it."""

import json
from pathlib import Path
from typing import Any

import polars
import pytest
from click.testing import CliRunner

from bruit.apps.cli import main
from bruit.continual import Count, Stream, StreamRecipe, once
from bruit.errors import BruitError, MissingData
from bruit.ledger import Ledger

STORE = "sqlite:///bruit.db"
PAID = ("--epsilon", "50", "--delta", "1e-6", "--ledger", "clinic", "--store", STORE, "--person", "id", "--rows", "1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    terms = ("--epsilon", "100", "--delta", "1e-4", "--neighbours", "add or remove one", "--person", "id")
    made = CliRunner().invoke(main, ["ledger", "create", "clinic", *terms, "--store", STORE])
    assert made.exit_code == 0
    (tmp_path / "visits").mkdir()
    return tmp_path / "visits"


def arrive(folder: Any, name: str, *ids: int, wards: str = "A") -> None:
    rows = polars.DataFrame(
        {"id": ids, "ward": [wards[i % len(wards)] for i in range(len(ids))], "stay": [2.0] * len(ids)}
    )
    rows.write_parquet(folder / name)


def watch(*typed: str) -> Any:
    return CliRunner().invoke(main, ["watch", "visits", *typed, *PAID])


def told(*typed: str) -> Any:
    done = watch(*typed, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.output)


COUNT = ("--name", "visits", "--count", "--once", "--periods", "4")


def test_each_call_publishes_what_no_period_has_read(folder: Path) -> None:
    arrive(folder, "2026-01.parquet", *range(400))
    first = told(*COUNT)
    assert abs(first["value"] - 400) < 15
    arrive(folder, "2026-02.parquet", *range(400, 600))
    arrive(folder, "2025-12.parquet", *range(600, 700))  # late: it belongs to the period that is open
    second = told(*COUNT)
    assert abs(second["value"] - 700) < 15
    third = told(*COUNT)  # nothing is new, and the period is published
    assert abs(third["value"] - 700) < 15
    assert [each["details"]["period"] for each in (first, second, third)] == [1, 2, 3]
    assert first["epsilon_so_far"] < second["epsilon_so_far"] < third["epsilon_so_far"] < third["epsilon"] <= 50
    assert len(Ledger.open("clinic", STORE).entries) == 1


def test_a_file_that_is_still_written_and_one_of_other_columns(folder: Path) -> None:
    arrive(folder, "a.parquet", *range(300))
    arrive(folder, ".b.parquet", *range(300, 600))
    assert abs(told(*COUNT)["value"] - 300) < 15
    polars.DataFrame({"id": [1], "other": [2]}).write_parquet(folder / "c.parquet")
    refused = watch(*COUNT)
    assert refused.exit_code == 2
    assert "c.parquet" in refused.stderr
    assert Stream.open("visits", Ledger.open("clinic", STORE)).period == 1


@pytest.mark.parametrize("columns", [{"patient": [1]}, None])
def test_a_folder_that_cannot_be_read_costs_nothing(folder: Path, columns: dict[str, list[int]] | None) -> None:
    """Once the stream was opened, and paid for, before its first file was looked at."""
    if columns is not None:
        polars.DataFrame(columns).write_parquet(folder / "a.parquet")
    refused = watch(*COUNT)
    assert refused.exit_code == 2
    assert len(Ledger.open("clinic", STORE).entries) == 0


def test_files_and_figures_hold_every_period(folder: Path, tmp_path: Path) -> None:
    arrive(folder, "a.parquet", *range(300), wards="AB")
    asked = ("--name", "wards", "--histogram", "--column", "ward", "--among", "A,B", "--times", "2", "--periods", "4")
    for _ in range(2):
        done = watch(*asked, "--out", "wards.csv", "--figure", "wards.png")
        assert done.exit_code == 0, done.output
    written = polars.read_csv(tmp_path / "wards.csv")
    assert written["period"].to_list() == [1, 1, 1, 2, 2, 2]
    assert written["label"].to_list()[:3] == ["A", "B", "OTHER"]
    assert (tmp_path / "wards.png").stat().st_size > 5000
    assert "period 2 of 4" in done.output
    assert "so far ε" in done.output


@pytest.mark.parametrize(
    ("question", "value"),
    [
        (("--sum", "--column", "stay", "--within", "0", "10", "--grid", "1"), 600),
        (("--mean", "--column", "stay", "--within", "0", "10", "--grid", "1"), 2),
        (("--keys", "--column", "ward"), 300),
    ],
)
def test_the_other_questions(folder: Path, question: tuple[str, ...], value: int) -> None:
    arrive(folder, "a.parquet", *range(300))
    found = told("--name", "q", *question, "--once", "--periods", "unknown" if question[0] == "--sum" else "4")
    [number] = found["value"] if isinstance(found["value"], list) else [found["value"]]
    assert number == pytest.approx(value, rel=0.35)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (("--name", "x", "--count", "--periods", "4"), "--once"),
        (("--name", "x", "--once", "--periods", "4"), "--count"),
        (("--name", "x", "--count", "--sum", "--once", "--periods", "4"), "one of"),
        (("--name", "x", "--sum", "--once", "--periods", "4"), "--column"),
        (("--name", "x", "--sum", "--column", "stay", "--once", "--periods", "4"), "--within"),
        (("--name", "x", "--count", "--once", "--periods", "many"), "unknown"),
    ],
)
def test_what_is_missing_is_named_as_it_is_typed(folder: Path, typed: tuple[str, ...], said: str) -> None:
    arrive(folder, "a.parquet", 1)
    done = watch(*typed)
    assert done.exit_code == 2
    assert said in done.stderr
    assert Ledger.open("clinic", STORE).entries == ()


def test_it_can_go_on_by_the_clock_to_the_last_period(folder: Path) -> None:
    arrive(folder, "a.parquet", *range(300))
    done = watch(*COUNT, "--every", "0")
    assert done.exit_code == 0
    assert "period 4 of 4" in done.output
    assert watch(*COUNT).exit_code == 2


def test_two_that_watch_one_folder_publish_its_files_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bruit.continual import stream as module

    arrive(folder, "a.parquet", *range(300))
    told(*COUNT)
    arrive(folder, "b.parquet", *range(300, 500))
    real = module.read_rows  # type: ignore[attr-defined]

    def slow(*asked: Any) -> Any:
        with monkeypatch.context() as patched:
            patched.setattr(module, "read_rows", real)
            told(*COUNT)  # another process is faster
        return real(*asked)

    monkeypatch.setattr(module, "read_rows", slow)
    late = watch(*COUNT)
    assert late.exit_code == 2
    assert "meanwhile" in late.stderr
    assert Stream.open("visits", Ledger.open("clinic", STORE)).period == 2


def test_an_empty_folder_tells_no_columns(folder: Path) -> None:
    ledger = Ledger.open("clinic", STORE)
    stream = Stream(
        "visits", Count(rows=1), participation=once(), periods=4, budget=ledger.budget(epsilon=1, delta="1e-6")
    )
    with pytest.raises(MissingData, match="first one tells"):
        stream.update_from(folder)
    assert stream.period == 0


RECIPE = """
[stream]
name = "wards"
periods = 4
epsilon = 50
delta = "1e-6"
[stream.question]
kind = "Histogram"
rows = 1
column = "ward"
domain = {domain = "among", values = ["A", "B"], drop_others = true}
[stream.participation]
times = 1
"""


def test_a_recipe_publishes_each_month_once(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "wards.toml").write_text(RECIPE)
    line = ["watch", "visits", "--recipe", "wards.toml", "--ledger", "clinic", "--store", STORE, "--json"]
    arrive(folder, "1.parquet", *range(400), wards="AB")
    march = json.loads(CliRunner().invoke(main, [*line, "--source", "2026-03"]).output)
    arrive(folder, "2.parquet", *range(400, 600), wards="B")
    again = json.loads(CliRunner().invoke(main, [*line, "--source", "2026-03"]).output)
    april = json.loads(CliRunner().invoke(main, [*line, "--source", "2026-04"]).output)
    assert march["value"] == again["value"]
    assert [each["details"]["period"] for each in (march, again, april)] == [1, 1, 2]
    assert max(abs(a - b) for a, b in zip(april["value"], (200, 400), strict=True)) < 20
    assert CliRunner().invoke(main, [*line, "--rows", "1"]).exit_code == 2
    assert CliRunner().invoke(main, [*line, "--source", "x", "--every", "1"]).exit_code == 2


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[stream", "no TOML"),
        ("[other]", "no table"),
        ("[stream]\nname = 'a'\nhorizon = 3", "unknown: horizon"),
        (RECIPE.replace('column = "ward"', ""), "not complete"),
    ],
)
def test_a_recipe_that_states_too_little_is_refused(text: Any, words: Any) -> None:
    with pytest.raises(BruitError, match=words):
        StreamRecipe.from_toml(text)


def test_a_recipe_that_is_no_text_is_refused_in_a_sentence(folder: Path) -> None:
    Path("odd.toml").write_bytes(b"\xff\xfe\x00")
    done = CliRunner().invoke(
        main, ["watch", str(folder), "--recipe", "odd.toml", "--ledger", "clinic", "--store", STORE]
    )
    assert (done.exit_code, done.stderr.startswith("bruit: odd.toml: not a recipe in TOML")) == (2, True), (
        done.exception
    )


def test_without_a_recipe_every_option_is_asked_for(folder: Path) -> None:
    done = CliRunner().invoke(main, ["watch", "visits", "--count", "--ledger", "clinic", "--store", STORE])
    assert done.exit_code == 2
    assert "--name" in done.stderr
    assert "--recipe" in done.stderr
