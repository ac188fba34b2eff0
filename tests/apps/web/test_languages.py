"""Pages in the language of the browser: which one it asks for, and words that stand whole in each."""

import re
from pathlib import Path

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient
from words import SOURCES, entries_of

from bruit.apps.web.application import application
from bruit.apps.web.languages import preferred_language
from bruit.apps.web.settings import Settings, hash_secret

QUESTION = {"kind": "yes-no", "question": "?", "epsilon": "1", "forever": "2", "results": "everyone", "password": "x"}


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("", "en"),
        ("fr", "fr"),
        ("fr-CH, fr;q=0.9, en;q=0.8, de;q=0.7, *;q=0.5", "fr"),  # the example of MDN
        ("da, en-gb;q=0.8, en;q=0.7", "en"),  # the example of RFC 9110, 12.5.4
        ("en;q=0.5, fr;q=0.8", "fr"),
        ("en, fr", "en"),
        ("fr;q=0, en;q=0.1", "en"),
        ("de, it", "en"),
        ("fr;q=many, ;;,", "en"),
    ],
)
def test_the_browser_chooses_the_language(header: str, language: str) -> None:
    request = Request({"type": "http", "headers": [(b"accept-language", header.encode())]})
    assert preferred_language(request) == language


def test_a_french_page_has_no_english_sentence(tmp_path: Path) -> None:
    app = application(Settings(database=f"sqlite:///{tmp_path}/b.db", key_hash=hash_secret("key")))
    with TestClient(app) as client:
        poll = client.post("/api/polls", json=QUESTION, headers={"authorization": "Bearer key"}).json()["id"]
        paths = ("/", f"/p/{poll}", f"/polls/{poll}", f"/polls/{poll}/present", f"/polls/{poll}/password")
        french, english = (
            [client.get(path, headers={"accept-language": language}) for path in paths] for language in ("fr-FR", "en")
        )
    whole = {text["en"] for source in SOURCES for text in entries_of(source).values() if len(text["en"].split()) > 3}
    for one, other in zip(french, english, strict=True):
        assert "accept-language" in one.headers["vary"]
        assert '<html lang="fr">' in one.text
        assert '<html lang="en">' in other.text
        assert not [text for text in whole if "{" not in text and text in one.text]
    charts = [re.findall(r">(\d+[.,]\d+)</text>", pages[0].text) for pages in (french, english)]
    assert charts[0] == [number.replace(".", ",") for number in charts[1]] != []
