"""The workbench as its steward uses it, in a real browser and over real HTTP."""

import io
import re
import subprocess
import sys
import zipfile
from contextlib import contextmanager

import numpy as np
import polars as pl
import pytest

from bruit import ADD_OR_REMOVE_ONE, Ledger
from bruit.apps.web.workbench.recipes import Recipes
from bruit.privacy import Release

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]
SECRET = "Zanzibar-Ondine"


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    """A file in which one cell holds a value that must appear nowhere."""
    rng = np.random.default_rng(5)
    cities = rng.choice(["Lyon", "Nice", "Paris"], 500).astype(object)
    cities[7] = SECRET
    path = tmp_path_factory.mktemp("people") / "people.csv"
    pl.DataFrame({"id": np.arange(500), "income": rng.integers(0, 900, 500), "city": cities.tolist()}).write_csv(path)
    return path


def store(site):
    return site.process.args[-1]


@pytest.fixture
def book(site, request):
    """A new book of ε = 1 in the store of the site."""
    name = f"payroll {request.node.name[:20]}"
    return Ledger(name, epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person="id", store=store(site))


def load(page, path):
    page.get_by_label("Load a CSV or Parquet file").set_input_files(path)
    page.get_by_role("button", name="Load", exact=True).click()
    page.get_by_role("heading", name=path.name).wait_for()


def fill(page, **fields):
    for name, value in fields.items():
        field = page.locator(f"#{name}")
        if field.evaluate("field => field.tagName") == "SELECT":
            field.select_option(value)
        else:
            field.fill(value)


SUM = {"statistic": "sum", "column": "income", "low": "0", "high": "1000", "grid": "1", "person": "id", "rows": "1"}


def test_from_a_file_to_a_release_in_hand(visit, site, people, assert_accessible, screenshot, tmp_path):
    page = visit("/workbench", steward=True)
    assert_accessible(page)
    page.get_by_role("link", name="Open a new book").click()
    assert_accessible(page)
    fill(page, name="taxes", epsilon="2", person="id", neighbours="add or remove one", by="basic")
    page.get_by_role("button", name="Open the book").click()
    page.get_by_text("Nothing was spent yet.").wait_for()
    page.goto(f"{site.address}/workbench")
    load(page, people)
    assert page.get_by_role("row", name="income").inner_text().split("\t") == ["income", "text", "whole numbers"]
    assert_accessible(page)
    screenshot(page, "workbench-table")

    page.get_by_label("Outsiders may know").select_option(["city"])
    page.get_by_role("button", name="Show the risk report").click()
    page.get_by_text("not a release").first.wait_for()
    assert SECRET not in page.content()
    assert_accessible(page)
    screenshot(page, "workbench-risk")

    page.get_by_role("link", name="Ask for a private statistic instead").click()
    assert page.locator("#statistic").input_value() == page.locator("#person").input_value() == ""
    fill(page, **SUM, book="taxes", epsilon="0.5")
    assert not page.locator("#quantiles").is_visible()
    assert_accessible(page)
    page.get_by_role("button", name="Preview the error").click()
    page.get_by_role("heading", name="Preview").wait_for()
    assert Ledger.open("taxes", store(site)).entries == ()
    assert_accessible(page)
    screenshot(page, "workbench-preview")
    page.get_by_role("button", name="Pay and release").click()

    page.locator("#figure[data-drawn=yes]").wait_for()
    assert [curve["name"] for curve in page.evaluate("document.getElementById('figure').data")] == ["noise", "sampling"]
    assert_accessible(page)
    screenshot(page, "workbench-release")
    with page.expect_download() as started:
        page.get_by_role("link", name="Everything, ZIP").click()
    started.value.save_as(tmp_path / "all.zip")
    archive = zipfile.ZipFile(tmp_path / "all.zip")
    assert sorted(archive.namelist()) == ["guarantee.txt", "release.csv", "release.json", "release.py"]
    line = Ledger.open("taxes", store(site)).entries[0]
    values = pl.read_csv(io.BytesIO(archive.read("release.csv")))
    assert values["value"].to_list() == [line.release.value]
    assert "ε = 0.5 for id (add or remove one" in archive.read("guarantee.txt").decode()

    page.get_by_role("link", name="taxes").click()
    page.get_by_role("link", name="release 1").wait_for()
    assert_accessible(page)
    screenshot(page, "workbench-book")
    (tmp_path / "people.csv").write_bytes(people.read_bytes())
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
    assert [one.loss for one in Ledger.open("taxes", store(site)).entries] == [line.loss] * 2


def test_running_out_of_budget_is_a_page_and_charges_nothing(
    chromium, site, book, people, assert_accessible, screenshot
):
    page = chromium.new_context().new_page()
    page.goto(f"{site.address}/enter/{site.key}")
    page.goto(f"{site.address}/workbench")
    load(page, people)
    page.get_by_role("link", name="Ask", exact=True).click()
    fill(page, **SUM, book=book.name, epsilon="1.5")
    page.get_by_role("button", name="Preview the error").click()
    page.get_by_text("nothing was charged").wait_for()
    assert page.get_by_role("button", name="Pay and release").count() == 0
    fill(page, epsilon="0.7")
    page.get_by_role("button", name="Preview the error").click()
    page.get_by_role("button", name="Pay and release").wait_for()
    book.budget(epsilon="0.5").charge(book.budget(epsilon="0.5").loss, what="another tab")
    page.get_by_role("button", name="Pay and release").click()
    page.get_by_role("heading", name="too little left").wait_for()
    assert "Nothing was charged" in page.get_by_role("alert").inner_text()
    assert [line.what for line in book.entries] == ["another tab"]
    assert_accessible(page)
    screenshot(page, "workbench-exceeded")
    page.get_by_role("button", name="Change the question").click()
    page.get_by_text("this would be refused").wait_for()
    assert len(book.entries) == 1
    page.context.close()


@contextmanager
def curator_of(site):
    """The steward with a session, over plain HTTP."""
    with site.client(follow_redirects=True, headers={"accept": "text/html"}) as client:
        client.get(f"/enter/{site.key}")
        token = re.search(r'name="csrf" content="(\w+)"', client.get("/workbench").text)[1]
        client.headers["x-csrf-token"] = token
        yield client


@pytest.fixture
def curator(site):
    with curator_of(site) as client:
        yield client


def loaded(curator, people):
    answer = curator.post("/workbench/tables", params={"name": "people.csv"}, content=people.read_bytes())
    assert answer.status_code == 201
    return answer.json()["address"]


def test_a_button_pressed_twice_pays_once(curator, book, people):
    address = loaded(curator, people)
    form = {**SUM, "book": book.name, "epsilon": "0.25", "confidence": "0.95"}
    shown = curator.post(f"{address}/preview", data=form).text
    once = re.search(r'name="once" value="(\w+)"', shown)[1]
    answers = [curator.post(f"{address}/release", data={**form, "once": once}) for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200] * 3
    assert len({str(answer.url) for answer in answers}) == 1
    assert len(book.entries) == 1
    assert curator.post(f"{address}/release", data=form).status_code == 400
    assert len(book.entries) == 1


def test_rule_2_no_refusal_shows_a_cell_or_a_path(curator, book, people):
    address = loaded(curator, people)
    form = {**SUM, "book": book.name, "epsilon": "0.1", "confidence": "0.95"}
    wrong = [{"column": "wage"}, {"high": "a"}, {"epsilon": "0"}, {"person": "each row", "rows": ""}, {"among": "x"}]
    pages = [curator.post(f"{address}/preview", data={**form, **one}) for one in wrong[:4]]
    pages.append(curator.get(f"{address}/risk", params={"quasi": "wage"}))
    cut = curator.post("/workbench/tables", params={"name": "../cut.csv"}, content=f'a,b\n1,"{SECRET}'.encode())
    for page in (*pages, cut):
        assert page.status_code == 400
        assert SECRET not in page.text
        assert "/tmp" not in page.text
        assert str(people.parent) not in page.text
    assert book.entries == ()


def test_no_field_breaks_a_page_whatever_it_holds(curator, book, people):
    address = loaded(curator, people)
    form = {**SUM, "groups": "1", "book": book.name, "epsilon": "0.1", "confidence": "0.95"}
    form |= dict.fromkeys(("among", "group_by", "quantiles", "size", "missing", "delta"), "")
    for name in form:
        for odd in ("1e999", "a\0\n'<\""):
            answer = curator.post(f"{address}/preview", data={**form, name: odd})
            assert answer.status_code in (200, 400, 404), (name, odd)
            assert "'<\"" not in answer.text, (name, odd)
    assert book.entries == ()


def test_a_model_that_stands_in_a_book_is_shown_without_numbers(site, book):
    charge = book.budget(epsilon="0.5").charge(book.budget(epsilon="0.5").loss, what="learning.fit")
    charge.finish(Release(value="BoostedTrees", guarantee=charge.guarantee, method="trees"))
    with site.steward() as program:
        answer = program.get("/workbench/release", params={"book": book.name, "number": 1})
        assert answer.status_code == 200
        assert "made elsewhere" in answer.text
        assert (
            program.get("/workbench/release/file", params={"book": book.name, "number": 1, "kind": "py"}).status_code
            == 404
        )


def test_tables_go_with_the_server_and_books_and_code_stay(serve, people, tmp_path, monkeypatch):
    kept, shelves = tmp_path / "kept", tmp_path / "shelves"
    kept.mkdir()
    shelves.mkdir()
    monkeypatch.setenv("TMPDIR", str(shelves))
    database = f"sqlite:///{kept}/bruit.db"
    Ledger("p", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person="id", store=database)
    first = serve(database)
    with curator_of(first) as client:
        address = loaded(client, people)
        form = {**SUM, "book": "p", "epsilon": "0.25", "confidence": "0.95"}
        once = re.search(r'name="once" value="(\w+)"', client.post(f"{address}/preview", data=form).text)[1]
        shown = client.post(f"{address}/release", data={**form, "once": once})
        assert shown.status_code == 200
        assert any(path.suffix == ".csv" for path in shelves.rglob("*"))
    assert first.stop() == ""
    assert not list(shelves.iterdir())
    assert len(Ledger.open("p", database).releases) == 1
    assert "bruit.central.sum" in Recipes(kept / "bruit-releases").find("p", 1).python


def test_the_workbench_is_the_stewards_alone(site, people):
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


def test_another_browser_does_not_see_the_table(curator, site, people):
    address = loaded(curator, people)
    assert curator.get(address).status_code == 200
    with site.steward() as other:
        assert other.get(address).status_code == 404
    assert curator.post(f"{address}/remove").status_code == 200
    assert curator.get(address).status_code == 404
