"""The languages of the pages: the one a browser asks for, and the sentences of each page from its part's `words.toml`.

A `words.toml` beside the templates of a part has one table a template; every entry holds its text in each language.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, Literal, TypeAlias, get_args

from markupsafe import Markup
from starlette.requests import Request

Language = Literal["en", "fr"]
Words: TypeAlias = "Mapping[str, Words | Markup]"
"""Texts by name; a text may hold tags and `{places}` for values, which `format` escapes."""

LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)
FALLBACK: Final[Language] = "en"
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
    found = _in_language(_source(part).get(name, {}), language)
    assert not isinstance(found, Markup)
    return found


def format_number(value: float, spec: str, language: Language) -> str:
    """A number as the language writes it: `73.1%` is `73,1 %` in French."""
    written = format(value, spec)
    return written.replace(".", ",").replace("%", "\u202f%") if language == "fr" else written


@cache
def _source(part: str) -> dict[str, object]:
    path = FOLDER / part / "words.toml"
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def _in_language(node: object, language: Language) -> Words | Markup:
    assert isinstance(node, dict)
    if set(node) == set(LANGUAGES):
        return Markup(node[language])  # our own text, never a value that somebody sent
    return {name: _in_language(each, language) for name, each in node.items()}
