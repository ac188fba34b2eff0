"""A synthetic table in the workbench: asked for, previewed, paid once, made beside the requests, kept and compared."""

import io
import re
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Never

import polars as pl
import pytest
from hospital import schema_text, stays, write_french_csv
from playwright.sync_api import expect
from starlette.testclient import TestClient

from bruit import ADD_OR_REMOVE_ONE, Ledger
from bruit.apps.web.application import application
from bruit.apps.web.settings import Settings, hash_secret
from bruit.apps.web.workbench import kept_tables
from bruit.apps.web.workbench.synthesis_form import read_synthesis
from bruit.apps.web.workbench.synthesis_jobs import SynthesisJob
from bruit.apps.web.workbench.uploads import Session
from bruit.errors import InvalidArgument
from bruit.synthetic import load
from bruit.tables.schema import Schema

SECRET = "Zanzibar-Ondine"
SCHEMA = schema_text()
COLUMNS = ["ward", "sex", "age", "days", "cost"]
ASKED = {"column_0": "on", "column_1": "on", "column_2": "on", "edges_2": "30, 60", "rows": "2", "rows_are": "noisy"}
PRICE = {"mode": "tree", "epsilon": "1", "delta": "1e-6"}


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Stays of which one cell holds a value that must appear nowhere."""
    odd = pl.when(pl.int_range(pl.len()) == 7).then(pl.lit(SECRET)).otherwise(pl.col("ward"))
    return write_french_csv(tmp_path_factory.mktemp("people") / "stays.csv", stays().with_columns(ward=odd))


def open_book(store: str, name: str) -> Ledger:
    return Ledger(name, epsilon=4, delta="1e-5", neighbours=ADD_OR_REMOVE_ONE, person="patient", store=store)


@contextmanager
def serving(store: str) -> Iterator[Any]:
    """The steward before an application of their own over a database, which ends with it."""
    app = application(Settings(database=store, key_hash=hash_secret("key")))
    with TestClient(app, headers={"accept": "text/html"}) as client:
        client.get("/enter/key")
        client.headers["x-csrf-token"] = re.search(r'name="csrf" content="(\w+)"', client.get("/").text)[1]
        yield client


@pytest.fixture
def store(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/bruit.db"


@pytest.fixture
def curator(store: str) -> Iterator[Any]:
    with serving(store) as client:
        yield client


def load_stays(curator: Any, people: Path) -> str:
    answer = curator.post("/workbench/tables", params={"name": "stays.csv"}, content=people.read_bytes())
    address: str = answer.json()["address"]
    assert curator.post(f"{address}/schema", data={"toml": SCHEMA}).status_code == 200
    return address


def wait_for(curator: Any, shown: Any) -> Any:
    """The page of the release, once the table is made."""
    until = time.monotonic() + 60
    while "is being made" in shown.text and time.monotonic() < until:
        shown = curator.get(shown.url)
    return shown


def make(curator: Any, address: str, form: dict[str, str]) -> Any:
    shown = curator.post(f"{address}/synthesise/preview", data=form)
    assert shown.status_code == 200, shown.text
    once = re.search(r'name="once" value="(\w+)"', shown.text)[1]
    return wait_for(curator, curator.post(f"{address}/synthesise/release", data={**form, "once": once}))


@pytest.mark.service
@pytest.mark.xdist_group("web")
def test_a_steward_makes_asks_and_compares_a_synthetic_table(
    visit: Callable[..., Any],
    site: Any,
    people: Path,
    assert_accessible: Callable[[Any], None],
    screenshot: Callable[[Any, str], None],
) -> None:
    book = open_book(site.database, "synthetic walk")
    page = visit("/workbench", steward=True)
    page.get_by_label("Drop a CSV, Excel or Parquet file here").set_input_files(people)
    page.get_by_role("button", name="Load", exact=True).click()
    page.get_by_text("Or paste a schema in TOML").click()
    page.locator("#toml").fill(SCHEMA)
    page.get_by_role("button", name="Use it").click()
    page.get_by_role("link", name="Make a synthetic table").click()
    expect(page.locator("#size")).to_be_hidden()
    for name in ("days", "cost"):
        page.get_by_label(name, exact=True).first.uncheck()
    page.locator("#rows").fill("2")
    page.locator("#rows_are").select_option("noisy")
    page.locator("#book").select_option(book.name)
    page.locator("#epsilon").fill("1")
    page.locator("#delta").fill("1e-6")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator(".preview")).to_contain_text("ynthetic table of ward, sex, age of stays, of at most 2 rows")
    assert_accessible(page)
    screenshot(page, "synthesise-preview")
    assert not book.entries
    page.get_by_role("button", name="Pay and make the table").click()
    expect(page.get_by_role("heading", name="Synthetic table, release 1")).to_be_visible(timeout=60_000)
    expect(page.locator("svg.values")).to_have_count(3)
    page.locator("#column_1").select_option("ward")
    page.locator("#value_1").fill("Urgences")
    page.get_by_role("button", name="Count").click()
    expect(page.locator(".answer")).to_contain_text("the interval is that of the noise")
    assert SECRET not in page.content()
    assert_accessible(page)
    screenshot(page, "synthetic")
    page.get_by_role("button", name="Compare, exactly").click()
    expect(page.get_by_role("alert")).to_contain_text("FOR THE CURATOR ONLY")
    expect(page.locator("svg.values")).to_have_count(3)
    assert SECRET not in page.content()
    assert_accessible(page)
    screenshot(page, "synthetic-compared")
    assert [entry.what for entry in book.entries] == ["synthetic.synthesise", "tables.look"]


def test_it_is_paid_once_and_its_files_hold_the_release_alone(curator: Any, store: str, people: Path) -> None:
    book, address = open_book(store, "files"), load_stays(curator, people)
    form = {**ASKED, **PRICE, "book": book.name}
    shown = curator.post(f"{address}/synthesise/preview", data=form)
    once = re.search(r'name="once" value="(\w+)"', shown.text)[1]
    asked = [curator.post(f"{address}/synthesise/release", data={**form, "once": once}) for _ in range(3)]
    pages = [wait_for(curator, each) for each in asked]
    assert len({str(page.url) for page in pages}) == 1
    assert [entry.what for entry in book.entries] == ["synthetic.synthesise"]
    assert curator.post(f"{address}/synthesise/release", data=form).status_code == 400
    release = {"book": book.name, "number": "1"}
    compared = curator.post("/workbench/release/compare", data={**release, "table": address.rpartition("/")[2]})
    assert "EXACT FIGURES FOR THE CURATOR ONLY" in compared.text
    packed = curator.get("/workbench/release/file", params={**release, "kind": "zip"}).content
    archive = zipfile.ZipFile(io.BytesIO(packed))
    rows = pl.read_parquet(io.BytesIO(archive.read("synthetic.parquet")))
    assert len(rows) == book.entries[0].release.details["rows"]
    assert pl.read_csv(io.BytesIO(archive.read("synthetic.csv"))).equals(rows)
    assert pl.read_excel(archive.read("synthetic.xlsx")).equals(rows)
    statement = archive.read("statement.txt").decode()
    assert "It may not be used to: say something about one person" in statement
    assert "someone who saw exact figures" in statement
    assert sorted(archive.namelist()) == sorted(
        [f"synthetic.{kind}" for kind in ("csv", "xlsx", "parquet", "npz", "json", "py")]
        + ["statement.html", "statement.txt", "stays.toml"]
    )
    for name in archive.namelist():
        assert SECRET.encode() not in archive.read(name), name
        assert b"FOR THE CURATOR" not in archive.read(name), name
    compile(archive.read("synthetic.py"), "synthetic.py", "exec")
    assert curator.get("/workbench/release/statement", params=release).status_code == 200


def test_what_is_refused_is_not_charged_and_shows_no_cell(curator: Any, store: str, people: Path) -> None:
    book, address = open_book(store, "refused"), load_stays(curator, people)
    form = {**ASKED, **PRICE, "book": book.name}
    wrong = [{name: ""} for name in ("rows", "rows_are", "book", "epsilon", "delta")]
    wrong += [{"column_0": "", "column_1": "", "column_2": ""}, {"edges_2": "60, 30"}, {"mode": "slow"}]
    wrong += [{"rows_are": "public"}, {"size": "7"}, {"impossible": "age"}, {"impossible": 'city = "Lyon"'}]
    wrong += [{"epsilon": odd} for odd in ("0", "x", "1e999", "9")] + [{"delta": "0"}]
    for each in wrong:
        answer = curator.post(f"{address}/synthesise/preview", data={**form, **each})
        assert answer.status_code == 400, each
        assert re.search(r'id="refused"[^>]*>.+</p>', answer.text), each
        assert SECRET not in answer.text
    for name in (*form, "size", "expected_rows", "impossible", "edges_4"):
        answer = curator.post(f"{address}/synthesise/preview", data={**form, name: "a\0\n'<\""})
        assert answer.status_code in (200, 400, 404), name
        assert "'<\"" not in answer.text, name
    dear = curator.post(f"{address}/synthesise/preview", data={**form, "delta": "1e-4"})
    assert "too little left" in dear.text
    assert book.entries == ()


def test_a_charge_that_another_tab_forestalled_is_refused_on_its_page(curator: Any, store: str, people: Path) -> None:
    book, address = open_book(store, "late"), load_stays(curator, people)
    form = {**ASKED, **PRICE, "book": book.name}
    once = re.search(r'name="once" value="(\w+)"', curator.post(f"{address}/synthesise/preview", data=form).text)[1]
    rest = book.budget(epsilon="3.5")
    rest.charge(rest.loss, what="another tab")
    shown = wait_for(curator, curator.post(f"{address}/synthesise/release", data={**form, "once": once}))
    assert shown.status_code == 409
    assert "Nothing was charged" in shown.text
    assert "/synthesise/preview" in shown.text
    assert [entry.what for entry in book.entries] == ["another tab"]


def test_it_outlives_the_server_and_answers_as_before(store: str, people: Path, tmp_path: Path) -> None:
    book = open_book(store, "kept")
    asked = {"book": "kept", "number": "1", "column_1": "age", "value_1": "30", "high_1": "59"}
    asked |= {"column_2": "sex", "value_2": "missing"}
    with serving(store) as curator:
        make(curator, load_stays(curator, people), {**ASKED, **PRICE, "book": "kept"})
        before = curator.get("/workbench/release/count", params=asked)
    with serving(store) as curator:
        after = curator.get("/workbench/release/count", params=asked)
        assert curator.get("/workbench/release/count", params={**asked, "value_1": "old"}).status_code == 400
        assert "not loaded here" in after.text
        compared = curator.post("/workbench/release/compare", data={"book": "kept", "number": "1", "table": "x"})
        assert compared.status_code == 404
    answers = [re.search(r'class="answer".*', page.text)[0] for page in (before, after)]
    assert answers[0] == answers[1]
    made = load(next(tmp_path.rglob("1.npz")))
    count = made.count({"age": (30, 59), "sex": None})
    assert f"from {float(count.interval.low):.0f} to {float(count.interval.high):.0f}" in answers[0]
    assert [entry.what for entry in book.entries] == ["synthetic.synthesise"]


def test_a_table_that_cannot_be_kept_is_paid_for_and_shown(
    store: str, people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any) -> Never:
        raise OSError("no space left")

    monkeypatch.setattr(kept_tables, "save", fail)
    book = open_book(store, "full")
    with serving(store) as curator:
        shown = make(curator, load_stays(curator, people), {**ASKED, **PRICE, "book": "full"})
        assert "invented rows; none belongs to anybody" in shown.text
    assert len(book.entries) == 1


def test_a_table_is_not_removed_while_one_is_made_of_it(tmp_path: Path) -> None:
    session = Session(tmp_path)
    job = session.jobs["once"] = SynthesisJob("key", "book", {})
    with pytest.raises(InvalidArgument, match="is being made"):
        session.remove("key")
    job.run(lambda: "/there")
    assert job.ended
    session.remove("key")


def test_a_failure_is_heard_of_by_the_page_that_waits(caplog: pytest.LogCaptureFixture) -> None:
    def fail() -> str:
        raise ZeroDivisionError(SECRET)

    job = SynthesisJob("key", "book", {})
    job.run(fail)
    assert job.ended
    assert isinstance(job.error, ZeroDivisionError)
    assert SECRET not in caplog.text


def test_the_form_says_what_is_asked() -> None:
    public = {"rows_are": "public", "size": "500", "impossible": 'age = [0, 15], sex = "M"\n\n'}
    asked = read_synthesis({**ASKED, **PRICE, **public, "book": "b"}, Schema.from_toml(SCHEMA))
    assert asked.request.to_json() == {
        "columns": COLUMNS[:3],
        "limit": {"rows": 2},
        "mode": "tree",
        "size": 500,
        "expected_rows": None,
        "edges": {"age": ["30", "60"]},
        "impossible": [{"age": [0, 15], "sex": "M"}],
        "predict": None,
    }
    assert (asked.book, asked.price) == ("b", {"epsilon": "1", "delta": "1e-6"})


def test_a_kept_table_whose_file_is_damaged_is_said_to_be(store: str, people: Path, tmp_path: Path) -> None:
    open_book(store, "damaged")
    with serving(store) as before:
        address = load_stays(before, people)
        shown = make(before, address, {**ASKED, **PRICE, "book": "damaged"})
        assert shown.status_code == 200
    (file,) = tmp_path.rglob("*.npz")
    file.write_bytes(file.read_bytes()[:-200])
    with serving(store) as after:
        shown = after.get(str(shown.url))
    assert shown.status_code == 400
    assert "or a damaged one" in shown.text
