"""`bruit release` as a person types it, from `bruit ledger create` to a released decile."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from bruit.apps.cli import main
from bruit.ledger import Ledger

STORE = "sqlite:///bruit.db"
INCOME = ("--column", "income", "--within", "0", "500000", "--grid", "100")
WHOSE = ("people.parquet", "--person", "id", "--rows", "2", "--groups", "2")
PAID = ("--epsilon", "0.5", "--ledger", "payroll", "--store", STORE)


@pytest.fixture
def bruit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BRUIT_STORE", raising=False)
    monkeypatch.setenv("COLUMNS", "200")
    return lambda *typed: CliRunner().invoke(main, list(typed))


@pytest.fixture
def payroll(bruit: Callable[..., Any], tmp_path: Path) -> Callable[..., Any]:
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "id": np.repeat(np.arange(2000), 2),
            "income": rng.lognormal(10.3, 0.6, 4000),
            "city": rng.choice(["Lyon", "Paris", "Nice"], 4000),
            "born": pl.date_range(pl.date(1990, 1, 1), pl.date(2000, 12, 13), eager=True).head(4000),
        }
    )
    frame.write_parquet(tmp_path / "people.parquet")
    frame.drop("born").write_csv(tmp_path / "people.csv")
    made = bruit(
        "ledger", "create", "payroll", "--epsilon", "3", "--delta", "1e-5", "--neighbours", "add or remove one",
        "--person", "id",
    )  # fmt: skip
    assert made.exit_code == 0
    return lambda: Ledger.open("payroll", STORE)


def answer(bruit: Any, *typed: Any) -> Any:
    done = bruit("release", *typed, "--json")
    assert done.exit_code == 0, done.stderr
    return json.loads(done.stdout)


def test_a_walk_from_a_book_to_nine_deciles(bruit: Callable[..., Any], payroll: Callable[..., Any]) -> None:
    asked = (*WHOSE, *INCOME, "--quantiles", "deciles", *PAID)
    preview = answer(bruit, *asked, "--preview")
    assert (preview["left"], preview["price"], preview["left_after"], preview["enough"]) == (3, 0.5, 2.5, True)
    assert 0 < preview["expected_error"]["rank error, in rows"] < 100
    assert payroll().spent.epsilon == 0

    told = answer(bruit, *asked)
    assert told["value"] == sorted(told["value"])
    assert told["labels"][0] == "0.1"
    assert told["left"] == 2.5
    assert [entry.what for entry in payroll().entries] == ["central.quantiles"]

    shown = bruit("release", *asked)
    assert "quantiles of income" in " ".join(shown.stdout.split())
    assert "Left in payroll: ε = 2" in shown.stdout


@pytest.mark.parametrize("file", ["people.parquet", "people.csv"])
@pytest.mark.parametrize(
    "asked",
    [
        ("--count",),
        ("--count", "--column", "city", "--among", "Lyon,Paris"),
        ("--sum", *INCOME),
        ("--mean", *INCOME),
        ("--variance", *INCOME),
        ("--histogram", "--column", "city", "--among", "Lyon, Paris"),
        ("--group-by", "city", "--among", "Lyon,Paris"),
        ("--group-by", "city", "--among", "Lyon,Paris", "--sum", *INCOME),
        ("--group-by", "city", "--delta", "1e-6"),
        ("--quantiles", "0.25,0.5", *INCOME),
    ],
    ids=" ".join,
)
def test_what_a_preview_promises_is_what_a_release_costs_and_says(
    bruit: Callable[..., Any], payroll: Callable[..., Any], file: str, asked: tuple[str, ...]
) -> None:
    typed = (file, *WHOSE[1:], *asked, *PAID)
    preview = answer(bruit, *typed, "--preview")
    assert payroll().spent.epsilon == 0
    told = answer(bruit, *typed)
    assert told["guarantee"] == preview["guarantee"]
    assert told["left"] == pytest.approx(preview["left_after"])
    if "noise" in preview["expected_error"]:
        assert preview["expected_error"]["noise"] == told["noise"]
    for pretty in ((*typed, "--preview"), typed):
        assert bruit("release", *pretty).exit_code == 0


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        (("--count",), "at most 2 rows of each id"),
        (("--sum", *INCOME), "income (from 0 to 500000 in steps of 100, missing dropped); at most 2 rows of each id"),
        (
            ("--group-by", "city", "--among", "Lyon,Paris", "--sum", *INCOME),
            "income (from 0 to 500000 in steps of 100, missing dropped) by city (among Lyon, Paris, others as OTHER); "
            "at most 2 rows of each id in each of at most 2 groups",
        ),
        (
            ("--group-by", "city", "--delta", "1e-6"),
            "by city (values as found); at most 2 rows of each id in each of at most 2 groups",
        ),
    ],
    ids=" ".join,
)
def test_the_statement_says_what_was_asked(
    bruit: Callable[..., Any], payroll: Callable[..., Any], tmp_path: Path, asked: tuple[str, ...], told: str
) -> None:
    answer(bruit, *WHOSE, *asked, *PAID)
    assert bruit("ledger", "export", "payroll").exit_code == 0
    assert json.loads((tmp_path / "payroll.json").read_text())["entries"][0]["asked"] == told
    assert told in (tmp_path / "payroll.html").read_text()


@pytest.mark.parametrize(
    "asked",
    [
        ("--mean", *INCOME),
        ("--variance", *INCOME),
        ("--histogram", "--column", "income", "--within", "0", "500000", "--grid", "100000"),
        ("--quantiles", "deciles", *INCOME),
    ],
    ids=" ".join,
)
def test_every_entry_names_its_column(
    bruit: Callable[..., Any], payroll: Callable[..., Any], asked: tuple[str, ...]
) -> None:
    answer(bruit, *WHOSE, *asked, *PAID)
    assert "of income" in bruit("ledger", "entries", "payroll").stdout
    (entry,) = json.loads(bruit("ledger", "entries", "payroll", "--json").stdout)
    assert "income (from 0 to 500000 in steps of 100" in entry["asked"]


@pytest.mark.parametrize(
    ("options", "read"),
    [((), "its row is dropped"), (("--missing", "0"), "it is read as 0")],
    ids=["dropped", "filled"],
)
def test_rule_2_a_preview_says_that_numbers_are_read_from_text(
    bruit: Callable[..., Any], payroll: Callable[..., Any], options: tuple[Any, ...], read: str
) -> None:
    typed = (*WHOSE[1:], "--sum", "--column", "city", "--within", "0", "9", "--grid", "1", *options, *PAID, "--preview")
    told = f"numbers are read from text; what is no number counts as missing: {read}"
    assert answer(bruit, "people.csv", *typed)["notes"] == [told]
    assert told in bruit("release", "people.csv", *typed).stdout
    numbers = (*WHOSE, "--sum", *INCOME, *PAID, "--preview")
    assert answer(bruit, *numbers)["notes"] == []


@pytest.mark.parametrize(
    ("mark", "asked"), [(";", "is it separated by semicolons?"), ("\t", "is it separated by tabs?")]
)
def test_a_file_with_another_separator_is_recognised(
    bruit: Callable[..., Any], payroll: Callable[..., Any], tmp_path: Path, mark: str, asked: str
) -> None:
    (tmp_path / "other.csv").write_text(f"id{mark}income\n1{mark}20\n")
    assert asked in bruit("release", "other.csv", *WHOSE[1:], "--count", *PAID).stderr
    assert asked not in bruit("release", "people.csv", "--person", "name", *WHOSE[3:], "--count", *PAID).stderr


def test_a_mean_is_previewed_at_several_sizes_where_its_size_is_private(
    bruit: Callable[..., Any], payroll: Callable[..., Any]
) -> None:
    private = answer(bruit, *WHOSE, "--mean", *INCOME, *PAID, "--preview")["expected_error"]
    assert list(private) == [f"noise, at {size} rows" for size in (1_000, 10_000, 100_000, 1_000_000)]
    told = answer(bruit, *WHOSE, "--mean", *INCOME, *PAID)
    assert told["noise"] <= private["noise, at 1000 rows"]


def test_a_book_that_adds_otherwise_is_previewed_in_its_own_measure(
    bruit: Callable[..., Any], payroll: Callable[..., Any]
) -> None:
    bruit(
        "ledger", "create", "zcdp", "--epsilon", "3", "--delta", "1e-5", "--neighbours", "add or remove one",
        "--person", "id", "--by", "zcdp",
    )  # fmt: skip
    typed = (*WHOSE, "--count", "--epsilon", "0.5", "--ledger", "zcdp", "--store", STORE)
    preview = answer(bruit, *typed, "--preview")
    assert preview["measure"] == "ρ"
    assert answer(bruit, *typed)["left"] == pytest.approx(preview["left_after"])


def test_a_preview_says_when_the_book_has_too_little_and_the_release_is_refused(
    bruit: Callable[..., Any], payroll: Callable[..., Any]
) -> None:
    typed = (*WHOSE, "--count", "--epsilon", "2", "--ledger", "payroll", "--store", STORE)
    answer(bruit, *typed)
    assert answer(bruit, *typed, "--preview")["enough"] is False
    assert "not enough" in bruit("release", *typed, "--preview").stdout
    assert bruit("release", *typed).exit_code == 2


def test_a_long_histogram_is_cut_for_people_and_whole_for_machines(
    bruit: Callable[..., Any], payroll: Callable[..., Any]
) -> None:
    asked = (*WHOSE, "--histogram", "--column", "income", "--within", "0", "500000", "--grid", "1000", *PAID)
    assert "and 401 more" in bruit("release", *asked).stdout
    assert len(answer(bruit, *asked)["value"]) == 501


WRONG = {
    "another ledger": (*WHOSE, "--count", "--epsilon", "1", "--ledger", "unknown", "--store", STORE),
    "no such file": ("gone.parquet", *WHOSE[1:], "--count", *PAID),
    "no such person": ("people.parquet", "--person", "nobody", "--rows", "1", "--count", *PAID),
    "another person than the book's": ("people.parquet", "--person", "city", "--rows", "1", "--count", *PAID),
    "each row, in a book of people": ("people.parquet", "--person", "each row", "--count", *PAID),
    "no limit": ("people.parquet", "--person", "id", "--count", *PAID),
    "groups without rows": ("people.parquet", "--person", "id", "--groups", "1", "--count", *PAID),
    "rows=0": ("people.parquet", "--person", "id", "--rows", "0", "--count", *PAID),
    "missing column": (*WHOSE, "--sum", "--column", "wage", "--within", "0", "1", "--grid", "1", *PAID),
    "bounds reversed": (*WHOSE, "--sum", "--column", "income", "--within", "9", "1", "--grid", "1", *PAID),
    "bounds of words": (*WHOSE, "--sum", "--column", "income", "--within", "a", "b", "--grid", "1", *PAID),
    "no bounds": (*WHOSE, "--sum", "--column", "income", *PAID),
    "no grid": (*WHOSE, "--sum", "--column", "income", "--within", "0", "1", *PAID),
    "no column": (*WHOSE, "--sum", "--within", "0", "1", "--grid", "1", *PAID),
    "both domains": (*WHOSE, "--histogram", *INCOME, "--among", "a", *PAID),
    "no statistic": (*WHOSE, *INCOME, *PAID),
    "two statistics": (*WHOSE, "--sum", "--mean", *INCOME, *PAID),
    "group-by and mean": (*WHOSE, "--group-by", "city", "--mean", *INCOME, *PAID),
    "found groups without delta": (*WHOSE, "--group-by", "city", *PAID),
    "probabilities decreasing": (*WHOSE, "--quantiles", "0.5,0.1", *INCOME, *PAID),
    "probabilities of words": (*WHOSE, "--quantiles", "tenths", *INCOME, *PAID),
    "epsilon=0": (*WHOSE, "--count", "--epsilon", "0", *PAID[2:]),
    "epsilon of words": (*WHOSE, "--count", "--epsilon", "much", *PAID[2:]),
    "epsilon left out": (*WHOSE, "--count", *PAID[2:]),
    "person left out": ("people.parquet", "--count", *PAID),
    "confidence": (*WHOSE, "--count", "--confidence", "2", *PAID),
    "size of a count": (*WHOSE, "--count", "--size", "5", *PAID),
    "size of people": (*WHOSE, "--mean", *INCOME, "--size", "4000", *PAID),
}  # fmt: skip


@pytest.mark.parametrize("preview", [(), ("--preview",)], ids=["release", "preview"])
@pytest.mark.parametrize("typed", WRONG.values(), ids=WRONG)
def test_bad_input_is_a_sentence_and_exit_2_before_any_charge(
    bruit: Callable[..., Any], payroll: Callable[..., Any], typed: tuple[str, ...], preview: tuple[Any, ...]
) -> None:
    done = bruit("release", *typed, *preview)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert done.stderr.strip()
    assert "Traceback" not in done.stderr
    assert payroll().spent.epsilon == 0
    assert payroll().entries == ()


NAMES = {"no limit": "--rows", "no bounds": "--within", "no grid": "--grid", "no column": "--column",
         "found groups without delta": "--delta", "probabilities of words": "deciles"}  # fmt: skip


@pytest.mark.parametrize("wrong", NAMES)
def test_a_refusal_names_the_option_that_mends_it(
    bruit: Callable[..., Any], payroll: Callable[..., Any], wrong: str
) -> None:
    assert NAMES[wrong] in bruit("release", *WRONG[wrong]).stderr


@pytest.mark.parametrize("name", ["people.parquet", "people.csv"])
def test_a_file_cut_half_way_is_refused_before_any_charge(
    bruit: Callable[..., Any], payroll: Callable[..., Any], tmp_path: Path, name: str
) -> None:
    whole = (tmp_path / name).read_bytes()
    (tmp_path / name).write_bytes(whole[: len(whole) // 2])
    done = bruit("release", name, *WHOSE[1:], "--count", *PAID)
    assert done.exit_code == 2
    assert "bruit: " in done.stderr
    assert payroll().entries == ()


def test_an_answer_is_taken_away_as_every_kind_of_file(bruit: Callable[..., Any], payroll: Callable[..., Any]) -> None:
    files = [f"cities.{ending}" for ending in ("csv", "parquet", "xlsx", "json", "svg", "png")]
    outs = [part for file in files for part in ("--out", file)]
    found = answer(bruit, *WHOSE, "--group-by", "city", "--among", "Lyon,Paris,Nice", *PAID, *outs)
    frames = [pl.read_csv("cities.csv"), pl.read_parquet("cities.parquet"), pl.read_excel("cities.xlsx", sheet_id=2)]
    for frame in frames:
        assert dict(zip(frame["label"], frame["value"], strict=True)) == dict(
            zip(found["labels"], found["value"], strict=True)
        )
    assert [row["value"] for row in json.loads(Path("cities.json").read_text())["rows"]] == found["value"]
    assert Path("cities.svg").read_text().count('class="bar"') == len(found["value"])
    assert Path("cities.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("file", ["count.doc", "count", "no/such/count.csv"])
def test_a_file_that_cannot_be_written_costs_nothing(
    file: str, bruit: Callable[..., Any], payroll: Callable[..., Any]
) -> None:
    done = bruit("release", *WHOSE, "--count", *PAID, "--out", file)
    assert (done.exit_code, payroll().remaining.epsilon) == (2, 3)
