"""The language of a page: the one a browser asks for, and its sentences from the `words.toml` of its part.

A `words.toml` beside the templates of a part has one table a template.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final, TypeAlias

from markupsafe import Markup
from starlette.requests import Request

from bruit.apps.languages import FALLBACK, LANGUAGES, Language, in_language, read_words

Words: TypeAlias = "Mapping[str, Words | Markup]"
"""Texts by name; a text may hold tags and `{places}` for values, which `format` escapes."""

FOLDER: Final = Path(__file__).parent


def preferred_language(request: Request) -> Language:
    """The first language of the browser's list that the pages have; English where it names none of them."""
    wanted = [_read_preference(each) for each in request.headers.get("accept-language", "").split(",")]
    known = [(weight, tag) for weight, tag in wanted if tag in LANGUAGES and weight > 0]
    best = max(known, key=lambda one: one[0], default=(1.0, FALLBACK))[1]
    return next(language for language in LANGUAGES if language == best)


def _read_preference(given: str) -> tuple[float, str]:
    """The weight and the main language of one entry, such as `fr-CH;q=0.9`; weight 0 where it cannot be read."""
    tag, _, weight = given.partition(";")
    try:
        return float(weight.strip().removeprefix("q=") or 1), tag.strip().lower().partition("-")[0]
    except ValueError:
        return 0.0, ""


def translated(template: str) -> bool:
    """Whether the words of a template `<part>/<page>.html` stand in every language."""
    part, _, name = template.removesuffix(".html").partition("/")
    return name in _source(part)


def words(template: str, language: Language) -> Words:
    """The texts of a template, or of another table `<part>/<name>` of a `words.toml`, in one language."""
    part, _, name = template.removesuffix(".html").partition("/")
    # our own texts, never a value that somebody sent
    return in_language(_source(part).get(name, {}), language, Markup)


def _source(part: str) -> Mapping[str, Mapping[str, object]]:
    return read_words(FOLDER / part / "words.toml")
