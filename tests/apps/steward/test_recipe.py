"""Recipes: one price shared out, errors that are reached, and refusals that name the next step before any charge."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hospital import schema_text, stays, write_french_csv

from bruit import ADD_OR_REMOVE_ONE, REPLACE_ONE, Ledger
from bruit.apps.steward.queries import Query, half_widths, short
from bruit.apps.steward.recipe import check_outputs, open_recipe, read_recipe, release_recipe, write_outputs
from bruit.apps.steward.recipe.written_questions import key_sql, select_of
from bruit.errors import BruitError, BudgetExceeded, InvalidArgument
from bruit.privacy import epsilon as epsilon_of
from bruit.synthetic import load

HEAD = 'book = "h"\nepsilon = 1.5\ndelta = 1e-6\nlimit = { rows = 3 }\n'
TABLES = '[tables.stays]\nsource = "stays.csv"\nschema = "stays.toml"\n'
BY_WARD = '[[question]]\ntitle = "By ward"\nask = "rows"\nby = ["ward"]\n'
LENGTH = '[[question]]\ntitle = "Length"\nask = { days = "mean" }\nby = ["ward"]\n'


@pytest.fixture
def recipe(tmp_path: Path) -> Any:
    write_french_csv(tmp_path / "stays.csv", stays())
    (tmp_path / "stays.toml").write_text(schema_text(), encoding="utf-8")

    def write(text: Any) -> Any:
        (tmp_path / "recipe.toml").write_text(text, encoding="utf-8")
        return read_recipe(tmp_path / "recipe.toml")

    return write


def book(neighbours: Any = ADD_OR_REMOVE_ONE, person: str = "patient", by: str = "basic", **terms: Any) -> Any:
    return Ledger("h", epsilon=3, delta="1e-5", neighbours=neighbours, person=person, by=by, **terms)


@pytest.mark.parametrize("by", ["basic", "zcdp"])
@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_one_charge_pays_for_all_and_is_what_the_preview_said(recipe: Any, neighbours: Any, by: Any) -> None:
    ledger = book(neighbours, by=by)
    opened = open_recipe(recipe(HEAD + TABLES + BY_WARD + "weight = 2\n" + LENGTH), ledger)
    found = opened.preview()
    assert [each["share"] for each in found["questions"]] == pytest.approx([2 / 3, 1 / 3])
    assert ledger.entries == ()
    published = release_recipe(opened)
    (entry,) = ledger.entries
    assert float(ledger.spent.total) == pytest.approx(found["price"])
    assert str(published.release.guarantee) == found["promise"]
    assert entry.release.labels == published.release.labels
    assert len(published.release.labels) == sum(len(answer.frame) for answer in published.answers)
    assert ledger.spent.epsilon <= Fraction("1.5")


def test_people_are_asked_for_by_name(recipe: Any) -> None:
    people = '[[question]]\ntitle = "People"\nask = "people"\nby = ["ward"]\n'
    opened = open_recipe(recipe(HEAD + TABLES + people), book())
    assert opened.preview()["questions"][0]["question"].startswith("people of stays by ward")
    with pytest.raises(InvalidArgument, match="no such table; there are stays"):
        recipe(HEAD + TABLES + people + 'from = "gone"\n')


def test_weights_share_the_epsilon(recipe: Any) -> None:
    opened = open_recipe(recipe(HEAD + TABLES + BY_WARD + "weight = 2\n" + LENGTH), book())
    assert [epsilon_of(each.loss, delta=0, by="basic") for each in opened.prepared] == [1, Fraction(1, 2)]


def test_errors_are_reached_at_the_least_price(recipe: Any) -> None:
    text = HEAD.replace("limit", 'split = "errors"\nlimit') + TABLES
    asked = recipe(text + BY_WARD + "within = 40\n" + LENGTH + "within = 3\nfor_groups_of = 400\n")
    opened = open_recipe(asked, book())
    for priced, rows in zip(opened.priced, (1, 400), strict=True):
        (width,) = half_widths(priced.prepared, "m0", rows)
        assert 0.9 * priced.entry.within <= width <= priced.entry.within
    assert opened.preview()["price"] == pytest.approx(
        float(sum(each.share for each in opened.priced) * Fraction("1.5"))
    )
    with pytest.raises(BudgetExceeded, match=r"nothing was charged\. About these errors fit: 'By ward' ±"):
        open_recipe(recipe(text + BY_WARD + "within = 1\n" + LENGTH + "within = 3\nfor_groups_of = 400\n"), book())


WRONG = {
    "no book": (TABLES + BY_WARD, "states book"),
    "no question": (HEAD + TABLES, "states question"),
    "no title": (HEAD + TABLES + "[[question]]\nask = 'rows'\n", "states a title"),
    "titles twice": (HEAD + TABLES + BY_WARD + BY_WARD, "give each its own title"),
    "an unknown option": (HEAD + "colour = 1\n" + TABLES + BY_WARD, "a recipe has no 'colour'"),
    "sql and ask": (HEAD + TABLES + BY_WARD + "sql = 'select 1'\n", "here are sql and ask"),
    "a statistic nobody knows": (HEAD + TABLES + BY_WARD.replace("rows", "mode"), "choose among rows"),
    "a weight of nothing": (HEAD + TABLES + BY_WARD + "weight = 0\n", "whole number from 1"),
    "errors without within": ("split = 'errors'\n" + HEAD + TABLES + BY_WARD, "needs within"),
    "a mean without its size": ("split = 'errors'\n" + HEAD + TABLES + LENGTH + "within = 1\n", "state for_groups_of"),
    "quantiles within": (
        "split = 'errors'\n" + HEAD + TABLES + "[[question]]\ntitle='q'\nask={cost='median'}\nwithin=1\n",
        "split = 'weights'",
    ),
    "another name": (HEAD + TABLES.replace("tables.stays", "tables.visits") + BY_WARD, "use one name"),
    "a refused query": (HEAD + TABLES + "[[question]]\ntitle='m'\nsql='select max(cost) from stays'\n", "MAX is"),
    "totals without levels": (HEAD + TABLES + BY_WARD + "totals = 'consistent'\n", "group by cube"),
    "a price above the book": (HEAD.replace("1.5", "3.5") + TABLES + BY_WARD, "nothing was charged"),
    "an output nobody knows": (HEAD + TABLES + BY_WARD + "[output]\nfigure = 'gif'\n", "choose among svg, png"),
    "an output that is no choice": (HEAD + TABLES + BY_WARD + "[output]\ncsv = 'yes'\n", "must be true or false"),
    "a part of nothing registered": (
        HEAD + TABLES + "part = { column = 'ward', cells = 1, cell = 'Urgences' }\n" + BY_WARD,
        "registered table",
    ),
    "a part half stated": (HEAD + TABLES + "part = { column = 'ward' }\n" + BY_WARD, "cells, how many"),
    "no TOML": ("book = ", "not a recipe in TOML"),
    "no limit": (HEAD.replace("limit = { rows = 3 }", "") + TABLES + BY_WARD, "give limit"),
    "both limits": (HEAD.replace("rows = 3", "rows = 3, groups = 2, each = 1") + TABLES + BY_WARD, "two different"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_recipe_is_one_sentence_and_nothing_is_charged(recipe: Any, what: Any) -> None:
    ledger, (text, sentence) = book(), WRONG[what]
    with pytest.raises(BruitError) as told:
        open_recipe(recipe(text), ledger)
    assert sentence in str(told.value)
    assert ledger.entries == ()


def test_people_of_another_book_are_refused(recipe: Any) -> None:
    with pytest.raises(BruitError, match="protects 'somebody'"):
        open_recipe(recipe(HEAD + TABLES + BY_WARD), book(person="somebody"))


def test_the_table_is_read_once(recipe: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from bruit.tables.sources import csv_lines

    opened = open_recipe(recipe(HEAD + TABLES + BY_WARD + LENGTH), book())
    reads, real = [], csv_lines._lines
    monkeypatch.setattr(csv_lines, "_lines", lambda *about: reads.append(about) or real(*about))  # type: ignore[func-returns-value]
    release_recipe(opened)
    assert len(reads) == 1


def test_every_file_is_written_and_titles_that_make_one_name_are_refused(recipe: Any, tmp_path: Path) -> None:
    every = "[output]\ncsv = true\nparquet = true\nexcel = true\njson = true\nfigure = 'svg'\nstatement = 'html'\n"
    asked = recipe(HEAD + TABLES + BY_WARD + every)
    check_outputs(asked, tmp_path / "out")
    written = write_outputs(release_recipe(open_recipe(asked, book())), tmp_path / "out")
    assert sorted(path.name for path in written) == [
        "by-ward.csv", "by-ward.parquet", "by-ward.svg", "recipe-statement.html", "recipe.json", "recipe.xlsx",
    ]  # fmt: skip
    with pytest.raises(InvalidArgument, match="give them other titles"):
        check_outputs(recipe(HEAD + TABLES + BY_WARD + LENGTH.replace("Length", "By, ward!")), tmp_path)


def test_names_in_a_question_cannot_add_sql(tmp_path: Path) -> None:
    sql = select_of('a" b', ['x"; drop', "when.month", "age/10"], [("mean", "c'd")], person="p")
    assert sql == (
        'select "x""; drop" as "x""; drop", date_trunc(\'month\', "when") as "when.month", floor("age" / 10) * 10 as '
        '"age by 10", avg("c\'d") as "c\'d mean" from "a"" b" group by 1, 2, 3'
    )
    assert key_sql("when.hour") == ('extract(hour from "when")', "when.hour")
    assert Query(sql, {}, None).sql == sql


SECTIONS = """
[synthetic]
table = "stays"
columns = ["ward", "sex", "age"]
epsilon = 0.5
delta = 1e-6
[[running]]
name = "stays by ward"
ask = "rows"
by = ["ward"]
times = 12
periods = 12
period = "2025-01"
epsilon = 0.5
delta = 1e-6
"""


NOT_MADE = (
    'columns = ["ward", "name"]',
    'columns = ["admitted"]',
    'mode = "slow"',
    "edges = { age = [60, 30] }",
    "edges = { age = 30 }",
    "edges = 3",
    "impossible = [3]",
    "size = 0",
)


@pytest.mark.parametrize("wrong", NOT_MADE)
def test_rule_13_a_synthetic_table_that_cannot_be_made_is_refused_before_any_charge(recipe: Any, wrong: str) -> None:
    ledger = book()
    text = "[synthetic]\ntable = 'stays'\nepsilon = 0.5\ndelta = 1e-6\n" + wrong
    with pytest.raises(InvalidArgument):
        release_recipe(open_recipe(recipe(HEAD.replace("1.5", "0.25") + TABLES + BY_WARD + text), ledger))
    assert ledger.entries == ()


def test_a_recipe_says_how_a_synthetic_table_is_made(recipe: Any, tmp_path: Path) -> None:
    ledger = book()
    text = "[synthetic]\ntable = 'stays'\nepsilon = 0.5\ndelta = 1e-6\nmode = 'tree'\nedges = { age = [30, 60] }\n"
    text += "columns = ['age', 'sex']\nimpossible = [{ age = [0, 29], sex = 'M' }]\n[output]\nexcel = true\n"
    published = release_recipe(open_recipe(recipe(HEAD.replace("1.5", "0.25") + TABLES + BY_WARD + text), ledger))
    made = published.synthetic.value
    assert made.columns[0].firsts == (0, 30, 60)
    assert made.count({"age": (0, 29), "sex": "M"}).value == 0
    assert ledger.entries[-1].release.method == "marginals, tree"
    written = {path.name: path for path in write_outputs(published, tmp_path)}
    assert "recipe-synthetic.xlsx" in written
    asked = {"sex": "M"}
    assert load(written["recipe-synthetic.npz"]).count(asked).interval == made.count(asked).interval


def test_invented_rows_and_running_totals_have_charges_of_their_own(recipe: Any, tmp_path: Path) -> None:
    ledger = book(store=f"sqlite:///{tmp_path}/books.db")
    text = HEAD.replace("1.5", "0.25") + TABLES + BY_WARD + SECTIONS + "[output]\ncsv = true\nstatement = 'html'\n"
    totals = []
    for month, price in (("2025-01", 1.0), ("2025-02", 0.5)):
        asked = recipe(text.replace("2025-01", month))
        opened = open_recipe(asked, ledger)
        assert opened.sections.price == price  # the stream was paid for when it was opened
        published = release_recipe(opened)
        totals.append(published.answers[-1].frame["value"].sum())
        assert published.answers[-1].words.endswith(f"period {len(totals)} of 12")
        written = write_outputs(published, tmp_path)
        assert {"recipe-synthetic.csv", "stays-by-ward-since-the-start.csv"} <= {path.name for path in written}
        assert "Invented rows" in (tmp_path / "recipe-statement.html").read_text()
    assert [entry.what for entry in ledger.entries].count("synthetic.synthesise") == 2
    assert len(ledger.entries) == 5
    again = release_recipe(open_recipe(recipe(text.replace("2025-01", "2025-02")), ledger))
    assert again.answers[-1].frame["value"].sum() == totals[1]  # a period that is asked for again is the same
    with pytest.raises(BudgetExceeded, match="leave a section out"):
        for _ in range(5):
            release_recipe(open_recipe(asked, ledger))
    last = [entry.what for entry in ledger.entries][-1]
    assert last == "synthetic.synthesise"  # nothing was paid of a recipe that could not be paid whole


@pytest.mark.parametrize(
    ("figure", "told"),
    [(0.03036, "0.03036"), (164.82, "164.8"), (16_853.2, "16850"), (2.5e12, "2.5e+12"), (math.inf, "inf")],
)
def test_half_widths_are_read_without_powers_of_ten(figure: float, told: str) -> None:
    assert short(figure) == told
