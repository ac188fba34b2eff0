"""Pages in the language of the browser: which one it asks for, and words that stand whole in each."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import pytest
from starlette.requests import Request
from starlette.testclient import TestClient

from bruit.apps.web import languages
from bruit.apps.web.application import application
from bruit.apps.web.languages import LANGUAGES, format_number, preferred_language
from bruit.apps.web.settings import Settings, hash_secret

QUESTION = {"kind": "yes-no", "question": "?", "epsilon": "1", "forever": "2", "results": "everyone", "password": "x"}
SOURCES = sorted(languages.FOLDER.glob("*/words.toml"))


def entries(node: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:
    """Every entry of a file of words: what holds texts is one, what holds tables is not."""
    if all(isinstance(each, str) for each in node.values()):
        yield path, node
        return
    for name, each in node.items():
        yield from entries(each, (*path, name))


def entries_of(source: Path) -> dict[tuple[str, ...], dict[str, str]]:
    return dict(entries(tomllib.loads(source.read_text(encoding="utf-8"))))


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


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.parent.name)
def test_every_text_stands_in_every_language_with_the_same_values_and_tags(source: Path) -> None:
    found = entries_of(source)
    for path, texts in found.items():
        assert set(texts) == set(LANGUAGES), path
        places = [{name for _, name, _, _ in Formatter().parse(text)} - {None} for text in texts.values()]
        tags = [sorted(re.findall(r"</?(\w+)", text)) for text in texts.values()]
        assert all(each == places[0] for each in places), path
        assert all(each == tags[0] for each in tags), path
        assert all(text.strip(" ") == text and text for text in texts.values()), path


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.parent.name)
def test_no_text_is_left_that_nothing_says(source: Path) -> None:
    files = [path for path in source.parent.rglob("*") if path.suffix in (".html", ".js", ".py")]
    files += sorted((languages.FOLDER / "base").rglob("*.html"))
    said = " ".join(path.read_text(encoding="utf-8") for path in files)
    unsaid = [path for path in entries_of(source) if not path[-1].isdigit() and not re.search(rf"\b{path[-1]}\b", said)]
    assert unsaid == []


def test_french_writes_numbers_with_a_comma() -> None:
    assert [format_number(0.731, ".1%", language) for language in LANGUAGES] == ["73.1%", "73,1\u202f%"]


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
