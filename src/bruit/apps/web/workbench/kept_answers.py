"""Stores for each release what was asked and how its answer is arranged, beside the ledgers."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars

from bruit.apps.steward.answers import AnswerTable
from bruit.core.release import Release


@dataclass(frozen=True)
class KeptAnswer:
    """A question that was paid for here: what was asked, the schemas, and the arranged answer."""

    asked: dict[str, Any]
    schemas: dict[str, str]
    """The schema of each table in TOML, by the name of its file."""

    answer: dict[str, Any]

    @classmethod
    def of(cls, asked: dict[str, Any], schemas: dict[str, str], answer: AnswerTable) -> KeptAnswer:
        """Builds the stored form of an answer."""
        arranged = {
            "title": answer.title,
            "words": answer.words,
            "keys": list(answer.keys),
            "values": list(answer.values),
            "columns": {
                name: series.to_list() for name, series in zip(answer.frame.columns, answer.frame, strict=True)
            },
        }
        return cls(asked, schemas, arranged)

    def table(self, release: Release[Any]) -> AnswerTable:
        """Rebuilds the answer table, with the release from the ledger."""
        held = self.answer
        frame = polars.DataFrame(held["columns"], strict=False)
        return AnswerTable(held["title"], held["words"], frame, tuple(held["keys"]), tuple(held["values"]), release)


@dataclass(frozen=True)
class KeptAnswers:
    """A folder with one file for each release made here."""

    folder: Path

    def keep(self, book: str, number: int, kept: KeptAnswer) -> None:
        """Writes the answer of a ledger entry to a file, atomically."""
        path = self._path(book, number)
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".new")
        unfinished.write_text(json.dumps(vars(kept), ensure_ascii=False), encoding="utf-8")
        unfinished.replace(path)

    def find(self, book: str, number: int) -> KeptAnswer | None:
        """The stored answer of an entry; None where it was made elsewhere or by an earlier version."""
        path = self._path(book, number)
        if not path.is_file():
            return None
        described = json.loads(path.read_text(encoding="utf-8"))
        return KeptAnswer(**described) if set(described) == {"asked", "schemas", "answer"} else None

    def _path(self, book: str, number: int) -> Path:
        return release_path(self.folder, book, number, "json")


def release_path(folder: Path, book: str, number: int, ending: str) -> Path:
    """A file of a release by the hash of the book's name, which may hold any character."""
    return folder / hashlib.sha256(book.encode()).hexdigest()[:16] / f"{number}.{ending}"
