"""The explorer as a person uses it, in a real browser."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest
from starlette.exceptions import HTTPException

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]


def drawn(page: Any) -> Any:
    """Waits for the figure of what the form says; the curve's points as the browser drew them."""
    page.wait_for_function(
        """() => {
          const said = new URLSearchParams(new FormData(document.getElementById("view"))).toString();
          return document.getElementById("figure").dataset.drawn === "?" + said
        }"""
    )
    return page.evaluate(
        "() => { const curve = document.getElementById('figure').data[0]; return [[...curve.x], [...curve.y]] }"
    )


def test_a_slider_moves_the_figure_and_the_link_reproduces_it(
    visit: Callable[..., Any], assert_accessible: Callable[[Any], None], screenshot: Callable[[Any, str], None]
) -> None:
    page = visit("/explorer/budget?by=rdp")
    before = drawn(page)
    assert_accessible(page)
    slider = page.get_by_label("Epochs, slider")
    slider.focus()
    for _ in range(5):
        page.keyboard.press("ArrowRight")
    after = drawn(page)
    assert after[0] == before[0]
    assert all(more > less for more, less in zip(after[1], before[1], strict=True))
    epochs = page.get_by_label("Epochs", exact=True).input_value()
    assert int(epochs) > 15
    assert f"epochs={epochs}" in page.url
    facts = page.locator("#facts").inner_text()
    screenshot(page, "explorer-budget")
    again = visit(page.get_by_role("link", name="Link to this view").get_attribute("href"))
    assert drawn(again) == after
    assert again.locator("#facts").inner_text() == facts


def test_an_exact_entry_moves_the_slider_and_what_cannot_be_is_said(visit: Callable[..., Any]) -> None:
    page = visit("/explorer/budget?by=rdp-simple&against=order")
    drawn(page)
    entry = page.get_by_label("Noise multiplier", exact=True)
    entry.fill("2.125")
    drawn(page)
    assert "noise=2.125" in page.url
    assert page.get_by_label("Noise multiplier, slider").get_attribute("aria-valuetext") == "2.125"
    entry.fill("none")
    page.get_by_text("is not a number").wait_for()
    assert "noise=2.125" in page.url


def test_ticks_of_a_logarithmic_axis_are_powers_of_ten_written_out(visit: Callable[..., Any]) -> None:
    page = visit("/explorer/budget")
    drawn(page)
    ticks = page.evaluate("() => document.getElementById('figure').layout.yaxis.ticktext")
    assert {"0.1", "1", "10"} <= set(ticks)


def test_figure_data_and_code_of_a_view_are_downloaded(visit: Callable[..., Any], tmp_path: Path) -> None:
    page = visit("/explorer/belief?epsilon=0.5")
    drawn(page)
    saved = {}
    for name in ("Figure, SVG", "Figure, PNG", "Data, CSV", "Code, Python"):
        with page.expect_download() as started:
            page.get_by_text(name, exact=True).click()
        path = tmp_path / started.value.suggested_filename
        started.value.save_as(path)
        saved[name] = path
    assert saved["Figure, PNG"].read_bytes().startswith(b"\x89PNG")
    assert saved["Figure, PNG"].stat().st_size > 10_000
    assert ET.parse(saved["Figure, SVG"]).getroot().tag.endswith("svg")
    frame = polars.read_csv(saved["Data, CSV"])
    assert frame.columns == ["curve", "x", "y"]
    assert frame["y"].max() == 1
    assert re.search(r"belief_table\(priors, \['0\.5'", saved["Code, Python"].read_text())


@pytest.mark.parametrize("tool", ["belief", "accuracy"])
def test_every_tool_is_accessible_on_a_phone(
    visit: Callable[..., Any],
    assert_accessible: Callable[[Any], None],
    screenshot: Callable[[Any, str], None],
    tool: str,
) -> None:
    page = visit(f"/explorer/{tool}", phone=True)
    drawn(page)
    assert_accessible(page)
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    screenshot(page, f"explorer-{tool}-phone")


def test_a_view_that_cannot_be_read_starts_anew_and_says_why(site: Any) -> None:
    with site.client() as client:
        assert client.get("/explorer").headers["location"] == "/explorer/budget"
        answer = client.get("/explorer/budget", params={"size": "<b>"}, headers={"accept": "text/html"})
        assert answer.status_code == 200
        assert "is not a number" in answer.text
        assert "<b>" not in answer.text
        assert client.get("/explorer/nothing").status_code == 404
        assert client.get("/explorer/budget/data.csv", params={"by": "magic"}).status_code == 400


def test_who_asks_for_more_figures_than_can_wait_is_told_to_come_again(monkeypatch: pytest.MonkeyPatch) -> None:
    from types import SimpleNamespace

    from bruit.apps.web.explorer import pages

    crowded = SimpleNamespace(statistics=lambda: SimpleNamespace(tasks_waiting=pages.MOST_WAITING))
    monkeypatch.setattr(pages, "_limit", lambda: crowded)
    with pytest.raises(HTTPException) as refused:
        pages._figure("belief", {}).send(None)
    assert refused.value.status_code == 503
