"""The program that is handed out with a release runs and asks the same question."""

import subprocess
import sys

import numpy as np
import polars as pl
import pytest

from bruit import ADD_OR_REMOVE_ONE, Ledger
from bruit.apps.steward import Question, opened, preview, price_of, python_of
from bruit.errors import BudgetExceeded, InvalidArgument

BLANK = dict.fromkeys(("column", "within", "grid", "missing", "among", "group_by", "quantiles", "size"))
INCOME = {"column": "income", "within": ("0", "1000"), "grid": "1"}
QUESTIONS = {
    "count": {},
    "sum": INCOME,
    "mean": {**INCOME, "size": 400},
    "variance": {**INCOME, "missing": "0"},
    "histogram": {"column": "city", "among": 'Lyon, "Aix, en Provence"'},
    "quantiles": {**INCOME, "quantiles": "quartiles"},
    "group-by": {"group_by": "city", "among": "Lyon,Nice", **INCOME},
}


@pytest.fixture
def people(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    cities = rng.choice(["Lyon", "Nice", "Aix, en Provence"], 400)
    pl.DataFrame({"id": np.arange(400), "income": rng.integers(0, 1000, 400), "city": cities}).write_csv("people.csv")
    monkeypatch.setenv("BRUIT_STORE", "sqlite:///bruit.db")
    return opened("people.csv", "id", 1, 1)


def book():
    return Ledger("p", epsilon=50, neighbours=ADD_OR_REMOVE_ONE, person="id", store="sqlite:///bruit.db")


def asked(statistic, **given):
    return Question(statistic, **{**BLANK, **given}, confidence=0.9)


def test_every_statistic_as_one_program_that_releases_it(people):
    programs = []
    for statistic, given in QUESTIONS.items():
        question, price = asked(statistic, **given), {"epsilon": "1"}
        question.release(people, price_of(book(), price))
        programs.append(python_of(question, people, file="people.csv", ledger="p", price=price))
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(programs)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
    entries = book().entries
    half = len(QUESTIONS)
    assert [each.what for each in entries[half:]] == [each.what for each in entries[:half]]
    assert [each.loss for each in entries[half:]] == [each.loss for each in entries[:half]]
    assert [each.release.labels for each in entries[half:]] == [each.release.labels for each in entries[:half]]


def test_a_name_cannot_add_code(people):
    evil = 'x"]\nraise SystemExit(3)\n#\'"""'
    program = python_of(
        asked("count", column=evil, among="']); raise SystemExit(3)"),
        people,
        file=evil,
        ledger=evil,
        price={"epsilon": "1"},
    )
    assert not any(line.startswith("raise") for line in program.splitlines())
    compile(program, "made", "exec")


def test_a_preview_reads_no_row_and_charges_nothing(people, tmp_path):
    price = {"epsilon": "0.5"}
    told = preview(asked("sum", **INCOME), people, book(), price)
    assert (told["price"], told["left"], told["left_after"], told["enough"]) == (0.5, 50.0, 49.5, True)
    (tmp_path / "people.csv").write_text("id,income,city\n")
    assert preview(asked("sum", **INCOME), people, book(), price) == told
    assert book().entries == ()


@pytest.mark.parametrize("epsilon", ["50.1", "1e999"])
def test_a_price_above_the_whole_book_is_refused(people, epsilon):
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
def test_what_is_not_stated_is_asked_for(people, statistic, given):
    with pytest.raises(InvalidArgument):
        asked(statistic, **given).release(people, book().budget(epsilon=1))
