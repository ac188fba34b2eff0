"""The workbench as its steward uses it, in a real browser and over real HTTP."""

import io
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hospital import WARDS, schema_text, stays, write_french_csv
from playwright.sync_api import expect

from bruit import ADD_OR_REMOVE_ONE, Ledger
from bruit.apps.web.workbench.kept_answers import KeptAnswers
from bruit.apps.web.workbench.schema_form import FIELDS
from bruit.core import Outcome

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]
SECRET = "Zanzibar-Ondine"
SCHEMA = schema_text()


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A French export in which one cell holds a value that must appear nowhere."""
    frame = stays().with_columns(
        ward=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit(SECRET)).otherwise(pl.col("ward"))
    )
    return write_french_csv(tmp_path_factory.mktemp("people") / "stays.csv", frame)


def store(site: Any) -> Any:
    return site.process.args[-1]


@pytest.fixture
def book(site: Any, request: pytest.FixtureRequest) -> Ledger:
    """A new book of ε = 1 in the store of the site."""
    name = f"wards {request.node.name[:20]}"
    return Ledger(name, epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person="patient", store=store(site))


def load(page: Any, path: Any) -> None:
    page.get_by_label("Drop a CSV, Excel or Parquet file here").set_input_files(path)
    page.get_by_role("button", name="Load", exact=True).click()
    expect(page.get_by_role("heading", name=path.name)).to_be_visible()


def fill(page: Any, **fields: Any) -> None:
    for name, value in fields.items():
        field = page.locator(f"#{name}")
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


def state_schema(page: Any) -> None:
    """One line a column, as the steward fills it in; what nobody asks for is left out."""
    fill(page, encoding="windows-1252", person="patient", type_1="category", values_1="\n".join(WARDS))
    fill(page, type_5="date", format_5="dd/mm/yyyy", low_5="2025-01-01", high_5="2025-12-31", others_5="drop")
    fill(page, type_6="number", low_6="0", high_6="60", grid_6="1")
    page.get_by_label("The file is whole").check()


ASKED = {"key_1": "ward", "rows": "3", "confidence": "0.95", "mode": "click", "rows_asked": "on"}


def test_from_a_file_to_a_release_in_hand(
    visit: Callable[..., Any],
    site: Any,
    people: Path,
    assert_accessible: Callable[[Any], None],
    screenshot: Callable[[Any, str], None],
    tmp_path: Path,
) -> None:
    page = visit("/workbench/new-book?person=patient", steward=True)
    assert_accessible(page)
    fill(page, name="taxes", epsilon="2", neighbours="add or remove one", by="basic")
    page.get_by_role("button", name="Open the book").click()
    expect(page.get_by_text("Nothing was spent yet.")).to_be_visible()
    page.goto(f"{site.address}/workbench")
    assert_accessible(page)
    load(page, people)
    expect(page.locator("#separator")).to_have_value(";")
    expect(page.locator("#values_1")).to_be_hidden()
    state_schema(page)
    assert_accessible(page)
    screenshot(page, "workbench-schema")
    page.get_by_role("button", name="Keep the schema").click()
    expect(page.get_by_role("row", name="ward")).to_contain_text("Gériatrie")
    assert_accessible(page)
    screenshot(page, "workbench-table")

    page.get_by_role("button", name="Look at the exact figures").click()
    expect(page.get_by_role("alert")).to_contain_text("FOR THE CURATOR ONLY")
    expect(page.get_by_role("row", name="ward")).to_contain_text("1")
    assert SECRET not in page.content()
    assert_accessible(page)
    screenshot(page, "workbench-look")
    page.get_by_role("link", name="Back to the table").click()
    page.get_by_label("Outsiders may know").select_option(["ward"])
    page.get_by_role("button", name="Show the risk report").click()
    expect(page.get_by_text("not a release").first).to_be_visible()
    assert SECRET not in page.content()
    assert_accessible(page)
    screenshot(page, "workbench-risk")

    page.get_by_role("link", name="Ask for a private statistic instead").click()
    expect(page.locator("#sql")).to_be_hidden()
    page.get_by_role("checkbox", name="rows").check()
    fill(page, what_1="mean", of_1="days", key_1="ward", rows="3", book="taxes", epsilon="0.5")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("heading", name="Preview")).to_be_visible()
    expect(page.locator(".preview")).to_contain_text("ows, mean of days of stays by ward, of at most 3 rows of each")
    assert [entry.what for entry in Ledger.open("taxes", store(site)).entries] == ["tables.look"]
    assert_accessible(page)
    screenshot(page, "workbench-preview")
    page.get_by_role("button", name="Pay and release").click()

    expect(page.locator(".roomy svg.values .bar")).to_have_count(2 * (len(WARDS) + 1))
    assert_accessible(page)
    screenshot(page, "workbench-release")
    with page.expect_download() as started:
        page.get_by_role("link", name="Everything, ZIP").click()
    started.value.save_as(tmp_path / "all.zip")
    archive = zipfile.ZipFile(tmp_path / "all.zip")
    line = Ledger.open("taxes", store(site)).entries[-1]
    values = pl.read_csv(io.BytesIO(archive.read("release.csv")))
    assert values["rows"].to_list() == [row[0] for row in line.release.value]
    page.get_by_role("link", name="Statement, to print").click()
    expect(page.get_by_role("row", name="What was paid")).to_contain_text("ε = 0.5 from the book 'taxes', entry 2")
    assert_accessible(page)
    screenshot(page, "workbench-statement")

    page.get_by_role("link", name="Release 2").click()
    page.get_by_role("link", name="taxes").click()
    expect(page.get_by_role("link", name="release 2")).to_be_visible()
    assert_accessible(page)
    screenshot(page, "workbench-book")
    (tmp_path / "stays.csv").write_bytes(people.read_bytes())
    done = subprocess.run(
        [sys.executable, "-c", archive.read("release.py").decode()],
        cwd=tmp_path,
        env={"BRUIT_STORE": store(site), "PATH": "", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert Ledger.open("taxes", store(site)).entries[-1].loss == line.loss


def test_sql_is_refused_in_a_sentence_or_runs_out_of_budget_and_charges_nothing(
    chromium: Any,
    site: Any,
    book: Ledger,
    people: Path,
    assert_accessible: Callable[[Any], None],
    screenshot: Callable[[Any, str], None],
) -> None:
    page = chromium.new_context().new_page()
    page.goto(f"{site.address}/enter/{site.key}")
    page.goto(f"{site.address}/workbench")
    load(page, people)
    page.get_by_text("Or paste a schema in TOML").click()
    fill(page, toml=SCHEMA)
    page.get_by_role("button", name="Use it").click()
    page.get_by_role("link", name="Ask", exact=True).click()
    page.get_by_label("By SQL").check()
    fill(page, sql="select max(cost) from stays", rows="3", book=book.name, epsilon="0.7")
    page.get_by_role("button", name="Preview").click()
    expect(page.locator("#refused")).to_have_text("MAX is decided by one person: ask for a high or low quantile")
    fill(page, sql="select ward, median(cost) as m from stays group by ward", epsilon="1.5")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_text("nothing was charged")).to_be_visible()
    expect(page.get_by_role("button", name="Pay and release")).to_have_count(0)
    fill(page, epsilon="0.7")
    page.get_by_role("button", name="Preview").click()
    expect(page.get_by_role("button", name="Pay and release")).to_be_visible()
    book.budget(epsilon="0.5").charge(book.budget(epsilon="0.5").loss, what="another tab")
    page.get_by_role("button", name="Pay and release").click()
    expect(page.get_by_role("heading", name="too little left")).to_be_visible()
    expect(page.get_by_role("alert")).to_contain_text("Nothing was charged")
    assert [line.what for line in book.entries] == ["another tab"]
    assert_accessible(page)
    screenshot(page, "workbench-exceeded")
    page.get_by_role("button", name="Change the question").click()
    expect(page.get_by_text("this would be refused")).to_be_visible()
    assert len(book.entries) == 1
    page.context.close()


@contextmanager
def curator_of(site: Any) -> Iterator[Any]:
    """The steward with a session, over plain HTTP."""
    with site.client(follow_redirects=True, headers={"accept": "text/html"}) as client:
        client.get(f"/enter/{site.key}")
        token = re.search(r'name="csrf" content="(\w+)"', client.get("/workbench").text)[1]
        client.headers["x-csrf-token"] = token
        yield client


@pytest.fixture
def curator(site: Any) -> Iterator[Any]:
    with curator_of(site) as client:
        yield client


def loaded(curator: Any, people: Any) -> Any:
    answer = curator.post("/workbench/tables", params={"name": "stays.csv"}, content=people.read_bytes())
    assert answer.status_code == 201
    address = answer.json()["address"]
    assert curator.post(f"{address}/schema", data={"toml": SCHEMA}).status_code == 200
    return address


def test_a_button_pressed_twice_pays_once(curator: Any, book: Ledger, people: Path) -> None:
    address = loaded(curator, people)
    form = {**ASKED, "book": book.name, "epsilon": "0.25"}
    shown = curator.post(f"{address}/preview", data=form).text
    once = re.search(r'name="once" value="(\w+)"', shown)[1]
    answers = [curator.post(f"{address}/release", data={**form, "once": once}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert len({str(answer.url) for answer in answers}) == 1
    assert len(book.entries) == 1
    assert curator.post(f"{address}/release", data=form).status_code == 400
    assert len(book.entries) == 1


def test_rule_2_no_refusal_shows_a_cell_or_a_path(curator: Any, book: Ledger, people: Path) -> None:
    address = loaded(curator, people)
    form = {**ASKED, "book": book.name, "epsilon": "0.1"}
    wrong = [{"key_1": "wage"}, {"epsilon": "0"}, {"rows": ""}, {"mode": "sql", "sql": "select * from stays"}]
    pages = [curator.post(f"{address}/preview", data={**form, **one}) for one in wrong]
    pages.append(curator.get(f"{address}/risk", params={"quasi": "wage"}))
    pages.append(curator.post(f"{address}/schema", data={"toml": SCHEMA.replace("complete = true", "")}))
    pages.append(curator.post(f"{address}/schema", data={"toml": SCHEMA.replace("[columns.age]", "[columns.wage]")}))
    cut = curator.post("/workbench/tables", params={"name": "../cut.parquet"}, content=f"PAR1{SECRET}".encode())
    for page in (*pages, cut):
        assert page.status_code == 400
        assert SECRET not in page.text
        assert "/tmp" not in page.text
        assert str(people.parent) not in page.text
    assert book.entries == ()


def test_no_field_breaks_a_page_whatever_it_holds(curator: Any, book: Ledger, people: Path) -> None:
    address = loaded(curator, people)
    names = "what_1 of_1 key_1 key_2 where_1 sign_1 value_1 groups each most delta sql mode rows_asked people_asked"
    form = dict.fromkeys(names.split(), "") | {**ASKED, "book": book.name, "epsilon": "0.1"}
    for name in form:
        for odd in ("1e999", "a\0\n'<\""):
            answer = curator.post(f"{address}/preview", data={**form, name: odd})
            assert answer.status_code in (200, 400, 404), (name, odd)
            assert "'<\"" not in answer.text, (name, odd)
    line = {"person": "patient", **{f"{each}_1": "1e999" for each in FIELDS}}
    for odd in ("1e999", "a\0\n'<\"", "number", "date", "time", "found", "yesno"):
        for form in ({**line, "type_1": odd}, {**line, "separator": odd, "action": "names"}, {"toml": odd}):
            answer = curator.post(f"{address}/schema", data=form)
            assert answer.status_code in (200, 400), (odd, form)
            assert "'<\"" not in answer.text, odd
    assert book.entries == ()


def test_a_model_that_stands_in_a_book_is_shown_without_numbers(site: Any, book: Ledger) -> None:
    charge = book.budget(epsilon="0.5").charge(book.budget(epsilon="0.5").loss, what="learning.fit")
    charge.finish(Outcome(value="BoostedTrees", method="trees"))
    with site.steward() as program:
        answer = program.get("/workbench/release", params={"book": book.name, "number": 1})
        assert answer.status_code == 200
        assert "made elsewhere" in answer.text
        assert (
            program.get("/workbench/release/file", params={"book": book.name, "number": 1, "kind": "py"}).status_code
            == 404
        )


def test_tables_go_with_the_server_and_books_and_answers_stay(
    serve: Any, people: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept, shelves = tmp_path / "kept", tmp_path / "shelves"
    kept.mkdir()
    shelves.mkdir()
    monkeypatch.setenv("TMPDIR", str(shelves))
    database = f"sqlite:///{kept}/bruit.db"
    Ledger("p", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person="patient", store=database)
    first = serve(database)
    with curator_of(first) as client:
        address = loaded(client, people)
        form = {**ASKED, "book": "p", "epsilon": "0.25"}
        once = re.search(r'name="once" value="(\w+)"', client.post(f"{address}/preview", data=form).text)[1]
        shown = client.post(f"{address}/release", data={**form, "once": once})
        assert shown.status_code == 200
        assert any(path.suffix == ".csv" for path in shelves.rglob("*"))
    assert first.stop() == ""
    assert not list(shelves.iterdir())
    assert len(Ledger.open("p", database).releases) == 1
    assert 'from "stays"' in KeptAnswers(kept / "bruit-releases").find("p", 1).asked["sql"]


def test_the_workbench_is_the_stewards_alone(site: Any, people: Path) -> None:
    with site.client() as visitor:
        for path in (
            "/workbench",
            "/workbench/book?name=x",
            "/workbench/tables/x",
            "/workbench/release?book=x&number=1",
        ):
            assert visitor.get(path).status_code == 401
        assert visitor.post("/workbench/tables?name=a.csv", content=b"a\n1\n").status_code == 401
    with site.steward() as program:
        assert program.post("/workbench/tables?name=a.csv", content=b"a\n1\n").status_code == 403
        assert program.get("/workbench/book?name=nothing").status_code == 404
        assert program.get("/workbench/release?book=nothing&number=1").status_code == 404


def test_another_browser_does_not_see_the_table(curator: Any, site: Any, people: Path) -> None:
    address = loaded(curator, people)
    assert curator.get(address).status_code == 200
    with site.steward() as other:
        assert other.get(address).status_code == 404
    assert curator.post(f"{address}/remove").status_code == 200
    assert curator.get(address).status_code == 404
