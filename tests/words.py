"""Every text that the applications say, in each language."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bruit import apps
from bruit.apps.languages import read_words

SOURCES = sorted(Path(*apps.__path__).rglob("words.toml"))


def entries(node: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], dict[str, str]]]:
    """Every entry of a file of words: what holds texts is one, what holds tables is not."""
    if all(isinstance(each, str) for each in node.values()):
        yield path, node
        return
    for name, each in node.items():
        yield from entries(each, (*path, name))


def entries_of(source: Path) -> dict[tuple[str, ...], dict[str, str]]:
    return dict(entries(read_words(source)))
