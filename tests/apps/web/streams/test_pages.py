"""Streams as their steward watches them: the list, a page that follows new periods, the file."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from playwright.sync_api import expect

import bruit
from bruit.continual import Histogram, Stream, once
from bruit.tables import among

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]


@pytest.fixture(scope="module")
def stream(site: Any) -> Any:
    terms = {"epsilon": 60, "delta": "1e-5", "neighbours": bruit.ADD_OR_REMOVE_ONE, "person": "id"}
    book = bruit.Ledger("clinic / <ward>", **terms, store=site.database)
    question = Histogram("ward", among(["=A", "<b>", "C"], drop_others=True), rows=1)
    budget = book.budget(epsilon=50, delta="1e-6")
    return Stream("visits & stays", question, participation=once(), periods=12, budget=budget)


ABOUT = {"book": "clinic / <ward>", "stream": "visits & stays"}


def test_only_the_steward_sees_streams(site: Any, stream: Any) -> None:
    with site.client() as visitor, site.steward() as steward:
        assert visitor.get("/streams").status_code in (401, 403)
        assert visitor.get("/streams/events", params=ABOUT).status_code in (401, 403)
        assert "visits &amp; stays" in steward.get("/streams").text
        assert "Nothing was published yet" in steward.get("/streams/show", params=ABOUT).text
        assert steward.get("/streams/show", params={**ABOUT, "stream": "no"}).status_code == 404
        assert steward.get("/streams/numbers", params=ABOUT).text.count("\n") == 1


def test_the_page_follows_what_another_process_publishes(
    site: Any,
    stream: Any,
    visit: Callable[..., Any],
    assert_accessible: Callable[[Any], None],
    screenshot: Callable[[Any, str], None],
) -> None:
    stream.update_totals(np.array([100, 50, 20]))
    page = visit("/streams", steward=True)
    page.get_by_role("link", name="visits & stays").click()
    expect(page.get_by_role("cell").first).to_contain_text("100")
    for period in (2, 3):
        stream.update_totals(np.array([100, 50, 20]))
        expect(page.get_by_text(f"Period {period} has been published.")).to_be_visible(timeout=20_000)
    expect(page.locator("polyline")).to_have_count(3)
    expect(page.locator("polygon")).to_have_count(3)
    expect(page.get_by_role("row", name="<b>")).to_contain_text("150")
    assert_accessible(page)
    screenshot(page, "stream")
    with site.steward() as steward:
        lines = steward.get("/streams/numbers", params=ABOUT).text.splitlines()
    assert len(lines) == 10
    assert '''"'=A"''' in lines[1]
