"""Pages of books: the gauge of what is spent, data sets with their versions, deciles as a curve, a page to print."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from starlette.testclient import TestClient

import bruit
from bruit.apps.web.application import application
from bruit.apps.web.settings import Settings, hash_secret
from bruit.tables.schema import Schema, number, text

TABLE = pl.DataFrame({"id": [f"p{at}" for at in range(500)], "days": np.arange(500) % 50})
SCHEMA = Schema("id", {"id": text(), "days": number(0, 60, grid=1)}, name="stays <b>")


def fill_book(store: str, name: str) -> bruit.Ledger:
    """A book that has spent a quarter on deciles, with two versions of a registered table."""
    book = bruit.Ledger(name, epsilon=4, neighbours=bruit.ADD_OR_REMOVE_ONE, person="id", store=store)
    days = bruit.tables.read(TABLE, person="id").limit(rows=1)["days"].within(0, 60, grid=1)
    bruit.central.quantiles(days, bruit.DECILES, budget=book.budget(epsilon=1))
    for _ in range(2):
        bruit.tables.register(TABLE, SCHEMA, ledger=book)
    return book


@pytest.fixture
def steward(tmp_path: Path) -> Iterator[TestClient]:
    store = f"sqlite:///{tmp_path}/b.db"
    fill_book(store, "hospital")
    with TestClient(application(Settings(database=store, key_hash=hash_secret("key")))) as client:
        client.headers["authorization"] = "Bearer key"
        yield client


def test_the_gauge_of_a_book_shows_the_part_that_is_spent(steward: TestClient) -> None:
    for path in ("/workbench", "/workbench/book?name=hospital"):
        page = steward.get(path).text
        assert re.findall(r'stroke-dasharray="([\d.]+) 200"', page) == ["25.00"]
        assert 'aria-label="ε 1 spent of 4"' in page


def test_every_version_of_a_data_set_is_listed_and_costs_nothing(steward: TestClient) -> None:
    page = steward.get("/workbench/registered").text
    assert re.findall(r'<tr><td class="number">(\d)</td>', page) == ["2", "1"]
    assert page.count(f"<code>{SCHEMA.digest[:12]}</code>") == 2
    assert "stays &lt;b&gt;" in page
    assert "stays <b>" not in page
    book = steward.get("/workbench/book?name=hospital").text
    assert book.count('href="/workbench/registered"') == 2
    steward.headers.pop("authorization")
    assert steward.get("/workbench/registered").status_code == 401


def test_deciles_are_a_curve_on_the_page_of_their_release(steward: TestClient) -> None:
    for path in ("release", "release/statement"):
        page = steward.get(f"/workbench/{path}?book=hospital&number=1").text
        assert page.count('<circle class="dot"') == 2 * 9  # a wide curve and a narrow one
        assert "Share of rows below a value of days" in page
        assert '<th scope="col">share of rows below</th>' in page


@pytest.mark.service
@pytest.mark.xdist_group("web")
def test_the_pages_of_a_book_are_accessible_and_a_statement_prints_without_the_menu(
    visit: Callable[..., Any], site: Any, assert_accessible: Callable[[Any], None]
) -> None:
    fill_book(site.database, "printed")
    for path in ("book?name=printed", "registered", "release?book=printed&number=1"):
        assert_accessible(visit(f"/workbench/{path}", steward=True, phone=True))
    page = visit("/workbench/release/statement?book=printed&number=1", steward=True)
    assert page.locator("header.top").is_visible()
    page.emulate_media(media="print", color_scheme="dark")
    assert page.locator("header.top").is_hidden()
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(0, 0, 0)"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
