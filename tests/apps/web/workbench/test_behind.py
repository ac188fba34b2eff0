"""What stands behind the workbench's pages: the shelf, the question of a form, uncertainties, recipes and files."""

import csv
import io
import json
import re
import zipfile
from concurrent.futures import ThreadPoolExecutor

import anyio
import numpy as np
import polars as pl
import pytest
from starlette.testclient import TestClient

from bruit import ADD_OR_REMOVE_ONE, EACH_ROW, Ledger, tables
from bruit.apps.steward import price_of
from bruit.apps.web.application import application
from bruit.apps.web.settings import Settings, hashed
from bruit.apps.web.workbench.asking import asked, asked_from_json
from bruit.apps.web.workbench.downloads import files_of
from bruit.apps.web.workbench.recipes import Recipe, Recipes, entry_of
from bruit.apps.web.workbench.shelf import MOST, Session, shown_name
from bruit.apps.web.workbench.uncertainty import expected_sampling, uncertainty
from bruit.errors import BadFile, BruitError, InvalidArgument

on_postgres = pytest.param("postgres", marks=[pytest.mark.service, pytest.mark.xdist_group("postgres")])
CSV = b"id,income,city\n1,100,Lyon\n2,250.5,Nice\n3,,Lyon\n"
FORM = {"statistic": "count", "book": "p", "person": "each row", "epsilon": "1", "confidence": "0.95"}
INCOME = {"column": "income", "low": "0", "high": "1000", "grid": "1"}


async def chunks(content, size=7):
    for start in range(0, len(content), size):
        yield content[start : start + size]


def load(session, name, content, **limit):
    """In a thread of its own: a browser of another test may keep an event loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, lambda: session.load(name, chunks(content), **limit)).result()


def test_a_file_comes_in_chunks_and_its_types_are_shown(tmp_path):
    session = Session(tmp_path / "one")
    found = load(session, "C:\\secret\\people.CSV", CSV)
    assert (found.name, found.size) == ("people.CSV", len(CSV))
    assert [(one.name, one.kind, one.reads_as) for one in found.columns] == [
        ("id", "text", "whole numbers"),
        ("income", "text", "numbers"),
        ("city", "text", "text"),
    ]
    assert found.path.read_bytes() == CSV
    assert list(found.table("id").columns) == ["id", "income", "city"]
    session.remove(found.key)
    assert not found.path.exists()


def test_parquet_says_its_own_types(tmp_path):
    frame = io.BytesIO()
    pl.DataFrame({"n": [1], "x": [0.5], "t": ["a"], "b": [True]}).write_parquet(frame)
    found = load(Session(tmp_path), "people.parquet", frame.getvalue())
    assert [one.kind for one in found.columns] == ["whole numbers", "numbers", "text", "true or false"]


@pytest.mark.parametrize(
    ("name", "content", "limit"),
    [
        ("people.exe", CSV, {}),
        ("people", CSV, {}),
        ("people.csv", CSV, {"largest": 20}),
        ("people.parquet", CSV, {}),
        ("people.csv", b'a,b\n1,"Somebody', {}),
        ("people.csv", b"", {}),
    ],
)
def test_rule_2_what_is_no_table_leaves_nothing_and_names_no_path_or_value(tmp_path, name, content, limit):
    session = Session(tmp_path)
    with pytest.raises((InvalidArgument, BadFile)) as told:
        load(session, name, content, **limit)
    assert str(tmp_path) not in str(told.value)
    assert "Somebody" not in str(told.value)
    assert not list(tmp_path.iterdir())
    assert not session.tables


def test_a_session_holds_so_many_tables(tmp_path):
    session = Session(tmp_path)
    for _ in range(MOST):
        load(session, "people.csv", CSV)
    with pytest.raises(InvalidArgument, match="remove one"):
        load(session, "people.csv", CSV)


def test_a_name_keeps_its_last_part_and_no_control_characters():
    assert shown_name("../../etc/pass\nwd.csv") == "passwd.csv"


@pytest.mark.parametrize("missing", ["book", "person", "epsilon", "statistic", "confidence"])
def test_rule_1_nothing_private_has_a_default(missing):
    with pytest.raises(InvalidArgument):
        asked({name: value for name, value in FORM.items() if name != missing})


@pytest.mark.parametrize(
    "more",
    [
        {"low": "0"},
        {"rows": "many"},
        {"rows": "²"},
        {"statistic": "quantiles", **INCOME},
        {"statistic": "group-by"},
        {"size": "10"},
        {"confidence": "sure"},
    ],
)
def test_a_form_that_lacks_something_is_a_sentence(more):
    with pytest.raises(InvalidArgument):
        asked({**FORM, **more})


def release_of(form, records, folder):
    table = tables.read(pl.DataFrame(records), person=EACH_ROW)
    store = f"sqlite:///{folder}/books.db"
    book = Ledger("p", epsilon=1000, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW, store=store)
    question = asked({**FORM, **form})
    return book, question, question.question.release(table, price_of(book, question.price))


def drawn_again(statistic, rng, repeats=4000):
    """The statistic of many samples from one population: 100 people, each with 0 or 1000."""
    records = 1000 * rng.integers(0, 2, (repeats, 100))
    return {"mean": records.mean(1), "variance": records.var(1)}[statistic]


@pytest.mark.parametrize("statistic", ["mean", "variance"])
def test_sampling_covers_what_other_people_would_change(tmp_path, statistic):
    rng = np.random.default_rng(3)
    truth = {"mean": 500.0, "variance": 250_000.0}[statistic]
    records = {"income": np.tile([0, 1000], 50)}
    form = {**INCOME, "statistic": statistic, "size": "100", "epsilon": "100"}
    _, question, release = release_of(form, records, tmp_path)
    apart = uncertainty(release, question.question, rows=1)
    others = drawn_again(statistic, rng)
    # 95 % was asked for; 4000 samples of a true 93 % would pass once in 10^6
    assert np.mean(np.abs(others - truth) <= apart.sampling[0]) > 0.93
    assert apart.noise[0] < apart.sampling[0]


def test_sampling_of_counts_and_sums_grows_with_their_root(tmp_path):
    records = {"income": np.full(400, 1000), "city": np.repeat(["Lyon", "Nice"], 200)}
    _, question, release = release_of({"epsilon": "100"}, records, tmp_path)
    apart = uncertainty(release, question.question, rows=1)
    assert apart.sampling[0] == pytest.approx(1.96 * 20, rel=0.01)
    _, question, release = release_of({**INCOME, "statistic": "sum", "epsilon": "100"}, records, tmp_path)
    assert uncertainty(release, question.question, rows=4).sampling[0] == pytest.approx(1.96 * 2 * 20 * 1000, rel=0.01)
    below = {**INCOME, "statistic": "sum", "low": "-10", "epsilon": "100"}
    _, question, release = release_of(below, records, tmp_path)
    assert uncertainty(release, question.question, rows=1).sampling is None
    assert uncertainty(release, None, rows=1).sampling is None


def test_the_sampling_of_a_preview_is_the_worst_of_the_release(tmp_path):
    form = {**INCOME, "statistic": "mean", "size": "100", "epsilon": "100"}
    _, question, release = release_of(form, {"income": np.tile([0, 1000], 50)}, tmp_path)
    worst = expected_sampling(question.question, 100, rows=1)
    assert uncertainty(release, question.question, rows=1).sampling[0] <= worst + 1e-9


def test_quantiles_are_sure_in_ranks(tmp_path):
    form = {**INCOME, "statistic": "quantiles", "quantiles": "quartiles"}
    _, question, release = release_of(form, {"income": np.arange(500)}, tmp_path)
    apart = uncertainty(release, question.question, rows=1)
    assert len(apart.noise) == 3
    assert apart.noise[0] > 0
    assert "ranks" in apart.unit or "rank" in apart.unit
    assert expected_sampling(question.question, 10_000, rows=1) == pytest.approx(39.9, rel=0.01)


def test_a_release_is_found_in_its_book_and_its_files_are_complete(tmp_path):
    form = {"statistic": "histogram", "column": "city", "among": "Lyon,Nice"}
    book, question, release = release_of(form, {"city": ["Lyon"] * 30 + ["Nice"] * 5}, tmp_path)
    line = entry_of(book, release)
    assert line.number == book.entries[-1].number
    recipes = Recipes(tmp_path / "recipes")
    assert recipes.find(book.name, line.number) is None
    recipes.keep(book.name, line.number, Recipe(question, "print()\n"))
    kept = recipes.find(book.name, line.number)
    assert kept == Recipe(question, "print()\n")
    files = files_of(book, line, line.release, kept)
    archive = zipfile.ZipFile(io.BytesIO(files["zip"]))
    assert sorted(archive.namelist()) == ["guarantee.txt", "release.csv", "release.json", "release.py"]
    told = json.loads(files["json"])
    assert told["labels"] == ["Lyon", "Nice", "OTHER"]
    assert told["guarantee"]["epsilon"] == "1"
    assert "ε = 1 for each row" in archive.read("guarantee.txt").decode()
    assert "py" not in files_of(book, line, line.release, None)


def test_no_category_is_a_formula_of_a_spreadsheet(tmp_path):
    form = {"statistic": "histogram", "column": "city", "among": "=1+1,Nice"}
    book, _, release = release_of(form, {"city": ["=1+1"] * 30 + ["Nice"] * 5}, tmp_path)
    lines = files_of(book, entry_of(book, release), release, None)["csv"].decode().splitlines()
    rows = list(csv.DictReader(lines, quoting=csv.QUOTE_NONNUMERIC))
    assert [row["label"] for row in rows] == ["'=1+1", "Nice", "OTHER"]
    assert all(isinstance(row["value"], float) for row in rows)


def test_what_was_asked_survives_json():
    question = asked({**FORM, **INCOME, "statistic": "sum", "rows": "2"})
    assert asked_from_json(json.loads(json.dumps(question.to_json()))) == question


def test_a_folder_that_vanished_is_said_without_its_path(tmp_path):
    session = Session(tmp_path)
    found = load(session, "people.csv", CSV)
    found.path.unlink()
    with pytest.raises(BruitError) as told:
        found.table("id")
    assert str(tmp_path) not in str(told.value)


def test_very_long_texts_are_not_copied_to_see_what_they_are(tmp_path):
    """A Parquet file of a kilobyte can hold gigabytes of one text."""
    packed = io.BytesIO()
    pl.DataFrame({"a": ["1" * 100_000] * 200, "b": ["7"] * 200}).write_parquet(packed)
    assert len(packed.getvalue()) < 10_000
    found = load(Session(tmp_path / "one"), "bomb.parquet", packed.getvalue())
    assert [column.reads_as for column in found.columns] == ["text", "whole numbers"]


def test_a_release_whose_recipe_cannot_be_kept_is_paid_once(tmp_path, monkeypatch):
    """It is paid for and stands in the book: a button pressed again leads there, and pays nothing."""

    def fail(*_args):
        raise OSError("no space left")

    monkeypatch.setattr(Recipes, "keep", fail)
    store = f"sqlite:///{tmp_path}/bruit.db"
    book = Ledger("p", epsilon=3, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW, store=store)
    with TestClient(application(Settings(database=store, key_hash=hashed("key")))) as client:
        client.get("/enter/key")
        client.headers["x-csrf-token"] = re.search(r'name="csrf" content="(\w+)"', client.get("/").text)[1]
        address = client.post("/workbench/tables", params={"name": "a.csv"}, content=CSV).json()["address"]
        for _ in range(2):
            shown = client.post(f"{address}/release", data={**FORM, "once": "0" * 32})
            assert shown.status_code == 200
            assert "made elsewhere" in shown.text
    assert len(book.entries) == 1


def test_who_comes_without_a_cookie_leaves_no_session_behind(tmp_path):
    app = application(Settings(database=f"sqlite:///{tmp_path}/bruit.db", key_hash=hashed("key")))
    with TestClient(app) as client:
        for _ in range(3):
            client.cookies.clear()
            assert client.get("/workbench", headers={"authorization": "Bearer key"}).status_code == 200
        assert app.state.shelf.sessions == {}


@pytest.mark.parametrize("database", ["sqlite", on_postgres])
def test_a_book_whose_name_no_database_keeps_is_refused_in_words(tmp_path, request, database):
    store = f"sqlite:///{tmp_path}/b.db" if database == "sqlite" else request.getfixturevalue("postgres").database()
    stated = {"epsilon": "1", "neighbours": "add or remove one", "person": "each row", "by": "basic"}
    with TestClient(application(Settings(database=str(store), key_hash=hashed("key")))) as client:
        client.get("/enter/key")
        client.headers["x-csrf-token"] = re.search(r'name="csrf" content="(\w+)"', client.get("/").text)[1]
        assert client.post("/workbench/new-book", data={**stated, "name": "a\0b"}).status_code == 400
        assert client.get("/workbench/book", params={"name": "a\0b"}).status_code == 404
