"""What every page shares: the guard, the steward's key, static files, and refusals that tell nothing."""

import re
from collections.abc import Callable, Iterator
from math import e
from typing import Any

import pytest
from playwright.sync_api import expect

from bruit.local import Warner

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]


def test_the_start_page_opens_and_is_accessible(
    visit: Callable[..., Any], assert_accessible: Callable[[Any], None], screenshot: Callable[[Any, str], None]
) -> None:
    page = visit("/")
    assert "bruit" in page.title()
    screenshot(page, "start")
    assert_accessible(page)


def test_the_poll_to_try_shows_what_its_law_does_and_sends_nothing(
    visit: Callable[..., Any], assert_accessible: Callable[[Any], None]
) -> None:
    page = visit("/", phone=True)
    page.emulate_media(reduced_motion="reduce")
    sent: list[str] = []
    page.on("request", lambda asked: sent.append(asked.url))
    page.get_by_role("radio", name="2", exact=True).check()
    page.get_by_role("button", name="Yes", exact=True).click()
    said = r"Chance changed (\d+) of 1000 .* Sent: (\d+)\s% “yes”. .* out: (\d+)\s% ± (\d+) points; the truth is 30\s%."
    expect(page.locator("#said")).to_have_text(re.compile(said))
    found = re.fullmatch(said, page.locator("#said").inner_text())
    assert found is not None
    changed, share, estimate, error = map(int, found.groups())
    expect(page.locator("#crowd .changed")).to_have_count(changed)
    kept = e**2 / (1 + e**2)
    assert estimate == pytest.approx((share - 100 * (1 - kept)) / (2 * kept - 1), abs=1.5)  # both are rounded
    assert error == round(100 * Warner(epsilon=2).expected_error(1000, confidence=0.95))
    expect(page.locator("#mine")).to_have_text("yes")
    expect(page.locator("#sent")).to_have_text(re.compile("^(yes|no)$"))
    assert sent == []
    assert_accessible(page)


def test_every_response_carries_a_strict_policy(site: Any) -> None:
    with site.client() as client:
        for path in ("/", "/nothing", "/static/base/style.css"):
            policy = client.get(path).headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "script-src 'self';" in policy
            assert "unsafe" not in policy


def test_a_static_file_outside_its_folder_is_not_given(site: Any) -> None:
    with site.client() as client:
        for name in (
            "base/../../settings.py",
            "base/%2e%2e/%2e%2e/settings.py",
            "polls/__init__.py",
            "//etc/passwd",
            f"base/{'a' * 300}",
        ):
            assert client.get(f"/static/{name}").status_code == 404


def test_a_wrong_key_opens_nothing(site: Any) -> None:
    with site.client() as client:
        assert client.get("/enter/wrong").status_code == 401


def test_a_request_of_another_site_changes_nothing(site: Any) -> None:
    with site.steward() as client:
        assert client.post("/polls", headers={"origin": "http://elsewhere.example"}).status_code == 403


def test_a_large_body_is_refused_by_its_length_and_by_counting(site: Any) -> None:
    def endless() -> Iterator[Any]:
        for _ in range(100):
            yield b"x" * 10_000

    with site.steward() as client:
        assert client.post("/polls", content=b"x" * 1_000_000).status_code == 413
        assert client.post("/polls", content=endless()).status_code in (403, 405, 413)


def test_a_report_that_never_ends_is_refused_as_too_large(site: Any) -> None:
    with site.client() as client:
        answer = client.post("/api/polls/abcdefghjk/reports", content=(b"x" * 10_000 for _ in range(20)))
    assert answer.status_code == 413


@pytest.mark.parametrize("code", ["unicode_escape", "utf-7", "idna"])
def test_a_form_in_a_code_whose_texts_cannot_be_kept_is_refused(site: Any, code: str) -> None:
    """Each of these can hold half of a pair of surrogates, which no hash and no database takes."""
    with site.client() as client:
        token = re.search(r'name="csrf" content="(\w+)"', client.get("/").text)[1]
        head = 'content-disposition: form-data; name="password"'
        form = f"--x\r\n{head}\r\n\r\n\\ud800+2AA-\r\n--x--\r\n"
        headers = {"content-type": f"multipart/form-data; boundary=x; charset={code}", "x-csrf-token": token}
        assert client.post("/polls/abcdefghjk/password", content=form, headers=headers).status_code == 415


def test_a_link_from_another_site_does_not_change_the_secret_of_the_forms(site: Any) -> None:
    """Tables are kept under it: were it left out of such a visit, a new one would take its place."""
    with site.client() as client:
        kept = client.get("/").headers["set-cookie"].lower()
        assert "samesite=lax" in kept
        assert "httponly" in kept
        assert "set-cookie" not in client.get("/").headers


def test_who_is_not_the_steward_is_refused_before_a_poll_is_looked_at(site: Any) -> None:
    with site.client() as client:
        assert client.post("/api/polls", json={"kind": "none"}).status_code == 401
