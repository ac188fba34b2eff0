"""What stands behind the workbench's pages: uploads, the forms of schemas and questions, kept answers and files."""

import csv
import io
import json
import re
import zipfile
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Never

import anyio
import numpy as np
import polars as pl
import pytest
from hospital import SHEET, schema_text, stays, write_french_csv, write_sheet
from starlette.testclient import TestClient

from bruit import ADD_OR_REMOVE_ONE, EACH_ROW, Ledger, central, tables
from bruit.apps.steward.answers import answer_table
from bruit.apps.steward.charts import charts_of, svg_for_any_width
from bruit.apps.steward.queries import Query
from bruit.apps.web.application import application
from bruit.apps.web.settings import Settings, hash_secret
from bruit.apps.web.workbench.downloads import ReleaseView
from bruit.apps.web.workbench.kept_answers import KeptAnswer, KeptAnswers
from bruit.apps.web.workbench.question_form import key_choices, read_question
from bruit.apps.web.workbench.schema_form import fill_form, read_facts, read_schema_form
from bruit.apps.web.workbench.uploads import MOST, MOST_COLUMNS, Session, safe_name
from bruit.central.questions import Limit
from bruit.core import Outcome
from bruit.errors import BadFile, BruitError, InvalidArgument
from bruit.tables import open_table
from bruit.tables.schema import Schema, category

on_postgres = pytest.param("postgres", marks=[pytest.mark.service, pytest.mark.xdist_group("postgres")])
CSV = b"id,income,city\n1,100,Lyon\n2,250.5,Nice\n3,,Lyon\n"
SCHEMA = Schema.from_toml(schema_text())
QUESTION = {"mode": "click", "rows_asked": "on", "rows": "3", "book": "p", "epsilon": "1", "confidence": "0.95"}


async def chunks(content: Any, size: Any = 7) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


def load(session: Any, name: Any, content: Any, **limit: Any) -> Any:
    """In a thread of its own: a browser of another test may keep an event loop in this one."""
    size = 7 if len(content) < 1000 else 10**6
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(anyio.run, lambda: session.load(name, chunks(content, size), **limit)).result()


def test_a_file_comes_in_chunks_and_its_names_are_shown(tmp_path: Path) -> None:
    session = Session(tmp_path / "one")
    found = load(session, "C:\\secret\\people.CSV", CSV)
    assert (found.name, found.size, found.columns) == ("people.CSV", len(CSV), ("id", "income", "city"))
    assert found.path.read_bytes() == CSV
    session.remove(found.key)
    assert not found.path.exists()


def test_the_dialect_of_an_excel_export_is_in_its_first_line(tmp_path: Path) -> None:
    session = Session(tmp_path)
    content = write_french_csv(tmp_path / "s.csv", stays()).read_bytes()
    french = load(session, "stays.csv", content)
    assert (french.head.file.separator, french.head.file.decimal, french.head.ends) == (";", ",", False)
    unicode_text = load(session, "unicode.txt", "\ufeffprénom\tâge\r\nZoé\t3\r\n".encode("utf-16-le"))
    assert (unicode_text.columns, unicode_text.head.file.encoding) == (("prénom", "âge"), "utf-16")
    bom = load(session, "utf8.csv", "\ufeffprénom;âge\r\nZoé;3\r\n".encode())
    assert (bom.columns, bom.head.file.encoding) == (("prénom", "âge"), "utf-8")
    western = load(session, "ansi.csv", "prénom;âge\r\nZoé;3\r\n".encode("windows-1252"))
    assert (western.columns, western.head.file.encoding) == (("prénom", "âge"), "windows-1252")
    sheet = load(session, "stays.xlsx", write_sheet(tmp_path / "s.xlsx", stays().head(3)).read_bytes())
    assert sheet.columns == tuple(stays().columns)


def test_parquet_says_its_own_types(tmp_path: Path) -> None:
    frame = io.BytesIO()
    pl.DataFrame({"n": [1], "x": [0.5], "t": ["a"], "b": [True]}).write_parquet(frame)
    found = load(Session(tmp_path), "people.parquet", frame.getvalue())
    assert found.head.columns == {"n": "number", "x": "number", "t": "category", "b": "yesno"}


def cell_at_the_far_corner() -> bytes:
    """A workbook of two cells as far apart as a sheet allows, around which a rectangle fills no machine's memory."""
    import xlsxwriter

    content = io.BytesIO()
    with xlsxwriter.Workbook(content, {"in_memory": True}) as book:
        sheet = book.add_worksheet()
        sheet.write(0, 0, "id")
        sheet.write(2**20 - 1, 2**14 - 1, "Somebody")
    return content.getvalue()


@pytest.mark.parametrize(
    ("name", "content", "limit"),
    [
        ("people.exe", CSV, {}),
        ("people", CSV, {}),
        ("people.csv", CSV, {"largest": 20}),
        ("people.parquet", CSV, {}),
        ("people.xlsx", b"Somebody", {}),
        pytest.param("people.xlsx", cell_at_the_far_corner(), {}, id="far corner"),  # its bytes tell the time
        ("people.csv", b'a,"b\n1,Somebody\n', {}),
        ("people.csv", b"", {}),
    ],
)
def test_rule_2_what_is_no_table_leaves_nothing_and_names_no_path_or_value(
    tmp_path: Path, name: str, content: bytes, limit: dict[str, Any]
) -> None:
    session = Session(tmp_path)
    with pytest.raises((InvalidArgument, BadFile)) as told:
        load(session, name, content, **limit)
    assert str(tmp_path) not in str(told.value)
    assert "Somebody" not in str(told.value)
    assert not list(tmp_path.iterdir())
    assert not session.tables


def test_a_file_that_was_cut_is_refused_with_its_schema_and_names_no_path(tmp_path: Path) -> None:
    found = load(Session(tmp_path), "stays.csv", write_french_csv(tmp_path / "s.csv", stays()).read_bytes())
    strict = Schema.from_toml(schema_text().replace("complete = true", ""))
    with pytest.raises(BadFile, match=r"stays\.csv: the last line does not end") as told:
        found.with_schema(strict, {})
    assert str(tmp_path) not in str(told.value)
    assert found.with_schema(SCHEMA, {}).plan().person == "patient"


def test_a_table_wider_than_a_form_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    session = Session(tmp_path)
    names = ",".join(f"c{number}" for number in range(MOST_COLUMNS + 1))
    with pytest.raises(InvalidArgument, match=f"{MOST_COLUMNS + 1} columns and {MOST_COLUMNS} can be loaded"):
        load(session, "wide.csv", f"{names}\n".encode())
    with pytest.raises(BadFile, match="no whole CSV"):
        load(session, "line.csv", b"a" * 300_000)
    assert list(tmp_path.iterdir()) == []


def test_a_session_holds_so_many_tables(tmp_path: Path) -> None:
    session = Session(tmp_path)
    for _ in range(MOST):
        load(session, "people.csv", CSV)
    with pytest.raises(InvalidArgument, match="remove one"):
        load(session, "people.csv", CSV)


def test_a_name_keeps_its_last_part_and_no_control_characters() -> None:
    assert safe_name("../../etc/pass\nwd.csv") == "passwd.csv"


@pytest.mark.parametrize(("kind", "facts"), [("csv", None), ("excel", SHEET)])
def test_a_schema_survives_the_form(tmp_path: Path, kind: Any, facts: Any) -> None:
    write = write_french_csv if kind == "csv" else write_sheet
    name = f"stays.{'csv' if kind == 'csv' else 'xlsx'}"
    found = load(Session(tmp_path), name, write(tmp_path / f"s{name}", stays().head(3)).read_bytes())
    schema = SCHEMA if facts is None else Schema.from_toml(schema_text(kind, facts))
    assert read_schema_form(fill_form(schema, found), found) == schema


def test_a_schema_of_every_type_survives_the_form(tmp_path: Path) -> None:
    found = load(Session(tmp_path), "a.csv", b"who,when,came,yes,where,long\n1,2,3,4,5,6\n")
    text = """
    person = "who"
    [columns.who]
    type = "whole"
    [columns.when]
    type = "time"
    format = "dd/mm/yyyy HH:MM"
    first = "2025-01-01"
    last = "2025-12-31"
    zone = "Europe/Paris"
    outside = "drop"
    [columns.yes]
    type = "yesno"
    yes = ["oui", "1"]
    no = ["non", "0"]
    [columns.where]
    type = "found"
    longest = 12
    [columns.long]
    type = "long"
    """
    schema = Schema.from_toml(text)
    assert read_schema_form(fill_form(schema, found), found) == schema


def test_the_person_is_a_text_unless_it_is_said_otherwise_and_nothing_else_is_guessed(tmp_path: Path) -> None:
    found = load(Session(tmp_path), "people.csv", CSV)
    form = {"person": "id", "type_2": "category", "values_2": "Lyon\r\nNice\r\n", "others_2": ""}
    schema = read_schema_form(form, found)
    assert (schema.columns["id"].type, list(schema.columns)) == ("text", ["id", "city"])
    assert schema.columns["city"] == category(["Lyon", "Nice"])
    for wrong in (
        {"person": ""},
        {"type_1": "number"},
        {"type_1": "number", "low_1": "9", "high_1": "1", "grid_1": "1"},
    ):
        with pytest.raises(InvalidArgument):
            read_schema_form({**form, **wrong}, found)
    assert read_facts({"separator": ";", "complete": "on", "missing_texts": "NA\n?"}, found.head.file).missing == (
        "",
        "NA",
        "?",
    )


@pytest.mark.parametrize("missing", ["book", "rows", "epsilon", "rows_asked", "confidence"])
def test_rule_1_nothing_private_has_a_default(missing: Any) -> None:
    with pytest.raises(InvalidArgument):
        read_question({name: value for name, value in QUESTION.items() if name != missing}, SCHEMA)


@pytest.mark.parametrize(
    "more",
    [
        {"rows": "many"},
        {"rows": "²"},
        {"groups": "2"},
        {"what_1": "mean"},
        {"of_1": "cost"},
        {"where_1": "cost", "sign_1": "<", "value_1": "1; drop"},
        {"where_1": "cost", "value_1": "1"},
        {"mode": "sql"},
        {"confidence": "sure"},
    ],
)
def test_a_form_that_lacks_something_is_a_sentence(more: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument):
        read_question({**QUESTION, **more}, SCHEMA)


def test_clicking_and_sql_are_one_question(tmp_path: Path) -> None:
    plan = {"stays": open_table(write_french_csv(tmp_path / "stays.csv", stays()), SCHEMA)}
    clicked = {
        **QUESTION,
        "people_asked": "on",
        "what_1": "mean",
        "of_1": "cost",
        "key_1": "ward",
        "key_2": "admitted.month",
        "where_1": "age",
        "sign_1": ">=",
        "value_1": "18",
        "where_2": "sex",
        "sign_2": "=",
        "value_2": "F",
    }
    asked = read_question(clicked, SCHEMA)
    typed = read_question({**QUESTION, "mode": "sql", "sql": asked.sql}, SCHEMA)
    question = asked.query(plan).question
    assert typed.query(plan).question.digest == question.digest
    assert question.words == (
        "rows, people, mean of cost of stays where (age >= 18 and sex = F) by ward, month of admitted, "
        "of at most 3 rows of each person, chosen at random"
    )


def test_every_group_that_is_offered_can_be_asked_for(tmp_path: Path) -> None:
    plan = {"stays": open_table(write_french_csv(tmp_path / "stays.csv", stays()), SCHEMA)}
    offered = [key for key, _ in key_choices(SCHEMA)]
    assert {"ward", "sex", "admitted.month", "admitted.weekday", "age/10", "city", "days", "cost/500"} <= set(offered)
    for key in offered:
        assert read_question({**QUESTION, "key_1": key}, SCHEMA).query(plan).question.keys


def test_a_text_in_a_condition_stays_a_text(tmp_path: Path) -> None:
    schema = Schema(EACH_ROW, {"city": category(["L'Aigle", "x' or 1=1 --"])}, name="t")
    plan = {"t": open_table(pl.DataFrame({"city": ["L'Aigle"]}), schema)}
    for city in ("L'Aigle", "x' or 1=1 --"):
        form = {**QUESTION, "where_1": "city", "sign_1": "=", "value_1": city}
        asked = read_question({name: value for name, value in form.items() if name != "rows"}, schema)
        assert asked.query(plan).question.words == f"rows of t where city = {city}"


def released(folder: Path, sql: Any, schema: Any = SCHEMA, frame: Any = None) -> Any:
    source = write_french_csv(folder / "stays.csv", stays()) if frame is None else frame
    store = f"sqlite:///{folder}/books.db"
    book = Ledger("p", epsilon=1000, delta="1e-5", neighbours=ADD_OR_REMOVE_ONE, person=schema.person, store=store)
    limit = None if schema.person == EACH_ROW else Limit(rows=3)
    query = Query(sql, {schema.name: open_table(source, schema)}, limit)
    release = query.release(book, {"epsilon": "1", "delta": "1e-6"})
    kept = KeptAnswer.of(
        {"sql": sql, "limit": {"rows": 3}, "most": None, "confidence": 0.95, "book": "p", "price": {"epsilon": "1"}},
        {"stays.csv": schema.to_toml()},
        answer_table(query, release),
    )
    return book, release, kept


def test_a_release_is_found_in_its_book_and_its_files_are_complete(tmp_path: Path) -> None:
    book, release, kept = released(tmp_path, "select ward, count(*) as n, avg(days) as d from stays group by ward")
    folder = KeptAnswers(tmp_path / "kept")
    assert folder.find("p", 1) is None
    folder.keep("p", release.receipt.number, kept)
    assert folder.find("p", 1) == kept
    view = ReleaseView(book, book.entries[0], folder.find("p", 1))
    archive = zipfile.ZipFile(io.BytesIO(view.file("zip")))
    names = {f"release.{kind}" for kind in ("csv", "xlsx", "parquet", "svg", "json", "py")}
    assert set(archive.namelist()) == names | {"statement.html", "statement.txt", "recipe.toml", "stays.toml"}
    frame = pl.read_parquet(io.BytesIO(archive.read("release.parquet")))
    assert frame.columns == ["ward", "n", "n low", "n high", "d", "d low", "d high"]
    assert frame["n"].dtype == pl.Int64
    assert frame["n"].to_list() == [int(value) for value in release.value[:, 0]]
    sheet = pl.read_excel(io.BytesIO(archive.read("release.xlsx")), sheet_id=2)
    assert sheet["n"].to_list() == frame["n"].to_list()
    told = json.loads(archive.read("release.json"))
    assert told["guarantee"]["epsilon"] == "1"
    assert "ε = 1 from the book 'p', entry 1" in archive.read("statement.txt").decode()


def test_what_was_released_elsewhere_has_files_but_no_code(tmp_path: Path) -> None:
    book, *_ = released(tmp_path, "select ward, count(*) as n from stays group by ward")
    view = ReleaseView(book, book.entries[0], None)
    assert view.answer.frame.columns == ["label", "value", "value low", "value high"]
    assert view.file("py") is view.file("toml") is None
    assert "release.csv" in zipfile.ZipFile(io.BytesIO(view.file("zip"))).namelist()
    charge = book.budget(epsilon="0.5").charge(book.budget(epsilon="0.5").loss, what="learning.fit")
    charge.finish(Outcome(value="BoostedTrees", method="trees"))
    model = ReleaseView(book, book.entries[-1], None)
    assert model.answer is model.file("csv") is None
    assert json.loads(model.file("json"))["what"] == "learning.fit"


@pytest.mark.parametrize(
    ("release", "title", "chart"),
    [
        (lambda table, x, **paid: central.count(table, **paid), "number of rows", "Number of rows"),
        (lambda table, x, **paid: central.mean(x, **paid), "mean of x (from 0 to 9", "Mean of x"),
        (lambda table, x, **paid: central.quantiles(x, [0.2, 0.5, 0.8], **paid), "quantiles of x (", "Share of rows"),
        (
            lambda table, x, **paid: central.histogram(table["w"].among(["a", "b"]), **paid),
            "number of rows by w (",
            "Number",
        ),
    ],
)
def test_a_release_says_which_statistic_it_is_and_charts_it_for_any_width(release: Any, title: str, chart: str) -> None:
    book = Ledger("p", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person="id")
    table = tables.read(pl.DataFrame({"id": [1, 2], "x": [3, 4], "w": ["a", "b"]}), person="id").limit(rows=1)
    release(table, table["x"].within(0, 9, grid=1), budget=book.budget(epsilon=1), rng=np.random.default_rng(1))
    view = ReleaseView(book, book.entries[0], None)
    assert view.title.startswith(title)
    (drawn,) = charts_of(view.answer)
    assert drawn.title.startswith(chart)
    assert re.findall(r"viewBox=\"0 0 (\d+)", svg_for_any_width(drawn)) == ["720", "400"]


def test_no_category_is_a_formula_of_a_spreadsheet(tmp_path: Path) -> None:
    schema = Schema(EACH_ROW, {"city": category(["=1+1", "Nice"])}, name="t")
    frame = pl.DataFrame({"city": ["=1+1"] * 30 + ["Nice"] * 5})
    book, _, kept = released(tmp_path, "select city, count(*) as n from t group by city", schema, frame)
    view = ReleaseView(book, book.entries[0], kept)
    rows = list(csv.DictReader(view.file("csv").decode().splitlines(), quoting=csv.QUOTE_NONNUMERIC))
    assert [row["city"] for row in rows] == ["'=1+1", "Nice", "OTHER"]
    assert all(isinstance(row["n"], float) for row in rows)
    with zipfile.ZipFile(io.BytesIO(view.file("xlsx"))) as workbook:
        assert not any(b"<f>" in workbook.read(name) for name in workbook.namelist())
    assert "<script" not in view.file("svg").decode()


def test_a_folder_that_vanished_is_said_without_its_path(tmp_path: Path) -> None:
    found = load(Session(tmp_path), "stays.csv", write_french_csv(tmp_path / "s.csv", stays()).read_bytes())
    stated = found.with_schema(SCHEMA, {})
    found.path.unlink()
    with pytest.raises(BruitError) as told:
        stated.plan()
    assert str(tmp_path) not in str(told.value)


def site(store: Any) -> Any:
    return application(Settings(database=store, key_hash=hash_secret("key")))


def enter(client: Any) -> None:
    client.get("/enter/key")
    client.headers["x-csrf-token"] = re.search(r'name="csrf" content="(\w+)"', client.get("/").text)[1]


def test_a_release_whose_answer_cannot_be_kept_is_paid_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is paid for and stands in the book: a button pressed again leads there, and pays nothing."""

    def fail(*_args: Any) -> Never:
        raise OSError("no space left")

    monkeypatch.setattr(KeptAnswers, "keep", fail)
    store = f"sqlite:///{tmp_path}/bruit.db"
    book = Ledger("p", epsilon=3, neighbours=ADD_OR_REMOVE_ONE, person="id", store=store)
    with TestClient(site(store)) as client:
        enter(client)
        address = client.post("/workbench/tables", params={"name": "a.csv"}, content=CSV).json()["address"]
        schema = {"person": "id", "type_2": "category", "values_2": "Lyon\nNice", "separator": ",", "decimal": "."}
        assert client.post(f"{address}/schema", data=schema).status_code == 200
        for _ in range(2):
            shown = client.post(f"{address}/release", data={**QUESTION, "key_1": "city", "once": "0" * 32})
            assert shown.status_code == 200
            assert "made elsewhere" in shown.text
    assert len(book.entries) == 1


def test_who_comes_without_a_cookie_leaves_no_session_behind(tmp_path: Path) -> None:
    app = site(f"sqlite:///{tmp_path}/bruit.db")
    with TestClient(app) as client:
        for _ in range(3):
            client.cookies.clear()
            assert client.get("/workbench", headers={"authorization": "Bearer key"}).status_code == 200
        assert app.state.uploads.sessions == {}


@pytest.mark.parametrize("database", ["sqlite", on_postgres])
def test_a_book_whose_name_no_database_keeps_is_refused_in_words(
    tmp_path: Path, request: pytest.FixtureRequest, database: str
) -> None:
    store = f"sqlite:///{tmp_path}/b.db" if database == "sqlite" else request.getfixturevalue("postgres").database()
    stated = {"epsilon": "1", "neighbours": "add or remove one", "person": "each row", "by": "basic"}
    with TestClient(site(str(store))) as client:
        enter(client)
        assert client.post("/workbench/new-book", data={**stated, "name": "a\0b"}).status_code == 400
        assert client.get("/workbench/book", params={"name": "a\0b"}).status_code == 404
