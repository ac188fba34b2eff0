"""The languages that people read here: words from a `words.toml`, and numbers as each language writes them.

Every entry of a `words.toml` holds its text in each language; tables of entries may be nested.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal, TypeVar, get_args

Language = Literal["en", "fr"]
Text = TypeVar("Text", bound=str)

LANGUAGES: Final[tuple[Language, ...]] = get_args(Language)
FALLBACK: Final[Language] = "en"
COMMAS: Final[frozenset[Language]] = frozenset({"fr"})
"""The languages that write a comma before the decimals."""


def known_language(tag: str) -> Language:
    """The language of a tag such as `fr`, `fr-CH` or `fr_FR.UTF-8`; English where it names none of ours."""
    main = tag.strip().lower().replace("_", "-").partition("-")[0].partition(".")[0]
    return next((language for language in LANGUAGES if language == main), FALLBACK)


def terminal_language(environment: Mapping[str, str]) -> Language:
    """The language of messages that a terminal's environment asks for, in the order of POSIX."""
    asked = (environment.get(name) for name in ("LC_ALL", "LC_MESSAGES", "LANG"))
    return known_language(next((tag for tag in asked if tag), FALLBACK))


def format_number(value: float, spec: str, language: Language) -> str:
    """A number as the language writes it: `73.1%` is `73,1 %` in French."""
    written = format(value, spec)
    return written.replace(".", ",").replace("%", "\u202f%") if language in COMMAS else written


@cache
def read_words(path: Path) -> dict[str, Any]:
    """The tables of a `words.toml`, in all languages; none where there is no such file."""
    return tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


def in_language(node: Mapping[str, Any], language: Language, kind: Callable[[str], Text]) -> dict[str, Any]:
    """A table of words in one language, each text as a `kind` of text."""
    return {
        name: kind(each[language]) if set(each) == set(LANGUAGES) else in_language(each, language, kind)
        for name, each in node.items()
    }
