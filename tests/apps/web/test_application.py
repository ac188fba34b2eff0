"""What every page shares: the guard, the steward's key, static files, and refusals that tell nothing."""

import pytest

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("web")]


def test_the_start_page_opens_and_is_accessible(visit, assert_accessible, screenshot):
    page = visit("/")
    assert "bruit" in page.title()
    screenshot(page, "start")
    assert_accessible(page)


def test_every_response_carries_a_strict_policy(site):
    with site.client() as client:
        for path in ("/", "/nothing", "/static/base/style.css"):
            policy = client.get(path).headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "script-src 'self';" in policy
            assert "unsafe" not in policy


def test_a_static_file_outside_its_folder_is_not_given(site):
    with site.client() as client:
        for name in ("base/../../settings.py", "base/%2e%2e/%2e%2e/settings.py", "polls/__init__.py", "//etc/passwd"):
            assert client.get(f"/static/{name}").status_code == 404


def test_a_wrong_key_opens_nothing(site):
    with site.client() as client:
        assert client.get("/enter/wrong").status_code == 401


def test_a_request_of_another_site_changes_nothing(site):
    with site.steward() as client:
        assert client.post("/polls", headers={"origin": "http://elsewhere.example"}).status_code == 403


def test_a_large_body_is_refused_by_its_length_and_by_counting(site):
    def endless():
        for _ in range(100):
            yield b"x" * 10_000

    with site.steward() as client:
        assert client.post("/polls", content=b"x" * 1_000_000).status_code == 413
        assert client.post("/polls", content=endless()).status_code in (403, 405, 413)
