"""Languages: which one a reader asks for, words that stand whole in each, numbers as each writes them."""

import re
from pathlib import Path
from string import Formatter

import pytest
from words import SOURCES, entries_of

from bruit import apps
from bruit.apps.languages import LANGUAGES, format_number, known_language, terminal_language


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "fr_CH.UTF-8"}, "fr"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LANG": "fr_FR", "LC_MESSAGES": "en_GB"}, "en"),
        ({"LANG": "en_GB", "LC_MESSAGES": "fr", "LC_ALL": ""}, "fr"),
        ({"LANG": "fr_FR", "LC_ALL": "C.UTF-8"}, "en"),
    ],
)
def test_the_terminal_chooses_the_language(environment: dict[str, str], language: str) -> None:
    assert terminal_language(environment) == language


def test_a_tag_names_a_language_or_english() -> None:
    assert [known_language(tag) for tag in ("fr", "FR-ch", "fr_CA.utf8", "french", "", "C")] == ["fr"] * 3 + ["en"] * 3


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
    shared = (Path(*apps.__path__) / "web" / "base", Path(*apps.__path__) / "cli")
    files = [
        path
        for folder in (source.parent, *shared)
        for path in folder.rglob("*")
        if path.suffix in (".html", ".js", ".py")
    ]
    said = " ".join(path.read_text(encoding="utf-8") for path in files)
    unsaid = [path for path in entries_of(source) if not path[-1].isdigit() and not re.search(rf"\b{path[-1]}\b", said)]
    assert unsaid == []


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.parent.name)
def test_french_is_set_as_french_is(source: Path) -> None:
    """No line may break before a mark or inside guillemets, and apostrophes are curved."""
    for path, texts in entries_of(source).items():
        assert re.findall(r"\w+'[a-zéèêàâî]\w*| [;:!?%»]|«[^\u00a0]|[^\u00a0]»", texts["fr"]) == [], path


def test_french_writes_numbers_with_a_comma() -> None:
    assert [format_number(0.731, ".1%", language) for language in LANGUAGES] == ["73.1%", "73,1\u202f%"]
