"""The studies as a visitor and the steward browse them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from bruit.apps import plots
from bruit.apps.findings import Findings
from bruit.apps.studies import STUDIES
from bruit.apps.studies.book import book_folder
from bruit.apps.studies.book.earlier import EARLIER
from bruit.apps.studies.saved_findings import keep

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]


@pytest.fixture(scope="module")
def folder(site: Any) -> Path:
    """Where the site looks for studies, with one in it."""
    beside = Path(site.process.args[-1].partition(":///")[2]).parent / "bruit-studies" / "deciles"
    line = plots.Series("<error>", [1, 2], [3, 1])
    picture = plots.curves(beside / "error_against_rows.png", [line], title="Error", x="rows", y="error")
    table = beside / "errors.csv"
    table.write_text("rows,error\n" + "".join(f"{row},0.123456\n" for row in range(50)))
    (beside / "secret.txt").write_text("not of the study")
    keep(Findings("Within <two> ranks.", (picture, table), {"mean_error": 0.25}), beside, size="small")
    return beside.parent


def test_every_study_is_listed_and_one_that_was_run_is_shown(
    visit: Callable[..., Any],
    folder: Path,
    assert_accessible: Callable[[Any], None],
    screenshot: Callable[[Any, str], None],
) -> None:
    page = visit("/studies", phone=True)
    expect(page.get_by_role("main").get_by_role("listitem")).to_have_count(len(STUDIES))
    expect(page.get_by_text("measured earlier, on one NVIDIA H200")).not_to_have_count(0)
    expect(page.get_by_text("In the book of results")).not_to_have_count(0)
    assert_accessible(page)
    screenshot(page, "studies")
    page.get_by_role("main").get_by_role("link", name="deciles").click()
    page.get_by_text("Within <two> ranks.").wait_for()
    figure = page.get_by_role("img", name="error against rows")
    figure.scroll_into_view_if_needed()
    page.wait_for_function("() => [...document.images].every(image => image.complete && image.naturalWidth > 100)")
    look = "image => getComputedStyle(image).filter"
    assert figure.evaluate(look) == "none"
    page.emulate_media(color_scheme="dark")
    assert "invert" in figure.evaluate(look)  # a figure is drawn on white
    page.emulate_media(color_scheme="light")
    expect(page.get_by_role("row", name="0.1235")).to_have_count(20)
    expect(page.get_by_role("button", name="Run")).to_have_count(0)
    assert_accessible(page)
    screenshot(page, "study")
    with page.expect_download() as started:
        page.get_by_role("link", name="all as CSV").click()
    assert len(Path(started.value.path()).read_text().splitlines()) == 51


def test_the_steward_runs_a_study_that_is_missing(
    visit: Callable[..., Any],
    folder: Path,
    assert_accessible: Callable[[Any], None],
    screenshot: Callable[[Any, str], None],
) -> None:
    page = visit("/studies/reconstruction", steward=True)
    page.get_by_text("what the book of results holds is shown").wait_for()
    page.get_by_role("button", name="Run the small size now").click()
    page.get_by_text("It is running").wait_for()
    assert_accessible(page)
    page.get_by_text("Found here, at the small size").wait_for(timeout=120_000)
    expect(page.get_by_role("img")).to_have_count(2)
    screenshot(page, "study-run")


def test_a_page_of_the_book_says_how_it_was_made_and_spaces_its_numbers(site: Any, folder: Path) -> None:
    made = json.loads((book_folder() / "krr-marital" / "made.json").read_text())
    with site.client() as visitor:
        page = visitor.get("/studies/krr-marital").text
    for word in (made["command"], made["commit"], made["machine"], f"seed {made['seed']}"):
        assert word in page
    assert '<td class="number">48 842</td>' in page
    assert "48 842 people" in page


def test_a_study_that_needs_a_card_shows_its_earlier_figures(site: Any, folder: Path) -> None:
    told = EARLIER["flowers"]
    with site.client() as visitor:
        page = visitor.get("/studies/flowers").text
        assert told.commit in page
        assert told.machine in page
        assert all(ours in page for _, _, ours in told.rows)
        assert "not run yet" not in page


def test_only_what_a_study_wrote_is_served(site: Any, folder: Path) -> None:
    with site.client() as visitor:
        assert visitor.get("/studies/deciles/files/errors.csv").status_code == 200
        for path in ("deciles/files/secret.txt", "deciles/files/findings.json", "deciles/files/..%2fx", "nothing"):
            assert visitor.get(f"/studies/{path}").status_code == 404
        assert visitor.post("/studies/deciles/run").status_code in (401, 403)
        assert visitor.get("/studies/deciles/state").json() == {"state": ""}
