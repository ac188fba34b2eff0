"""How each release was made, kept beside the books: the question, and the Python that asks it again."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bruit.apps.web.workbench.asking import Asked, asked_from_json
from bruit.ledger import Entry, Ledger
from bruit.privacy import Release


@dataclass(frozen=True)
class Recipe:
    """What was asked and the program that asks it."""

    asked: Asked
    python: str


@dataclass(frozen=True)
class Recipes:
    """A folder with a file for each release that was made here."""

    folder: Path

    def keep(self, book: str, number: int, recipe: Recipe) -> None:
        """Writes the recipe of an entry, whole or not at all."""
        path = self._path(book, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".new")
        described = {"asked": recipe.asked.to_json(), "python": recipe.python}
        unfinished.write_text(json.dumps(described, ensure_ascii=False), encoding="utf-8")
        unfinished.replace(path)

    def find(self, book: str, number: int) -> Recipe | None:
        """The recipe of an entry; None where the release was made elsewhere."""
        path = self._path(book, number)
        if not path.is_file():
            return None
        described = json.loads(path.read_text(encoding="utf-8"))
        return Recipe(asked_from_json(described["asked"]), described["python"])

    def _path(self, book: str, number: int) -> Path:
        """A file by the hash of the book's name, which may hold any character."""
        return self.folder / hashlib.sha256(book.encode()).hexdigest()[:16] / f"{number}.json"


def entry_of(book: Ledger, release: Release[Any]) -> Entry:
    """The entry in which a release that was just made is kept: the last that holds exactly this one."""
    text = release.to_json()
    return next(line for line in reversed(book.entries) if line.release is not None and line.release.to_json() == text)
