"""The curator's private file beside a table: a key, a keyed digest of each registered version, and notes.

It stays with the data and never enters a book: a bare digest, or a digest and its key, would let anyone who knows all
records but one test guesses of that one.
"""

from __future__ import annotations

import hmac
import json
import os
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from bruit.errors import BadFile

SUFFIX = ".curator.json"
BLOCK = 2**20


@dataclass(frozen=True)
class CuratorFile:
    """The curator's private file beside a table, readable by its owner alone."""

    path: Path

    @classmethod
    def beside(cls, source: Path) -> CuratorFile:
        """The curator's file for a table's file or folder."""
        whole = source.resolve()
        return cls(whole.with_name(whole.name + SUFFIX))

    @property
    def source(self) -> Path:
        """The table's file or folder."""
        return self.path.with_name(self.path.name.removesuffix(SUFFIX))

    def remember(self, table: str, version: int, files: Sequence[Path]) -> None:
        """Writes the keyed digest of a version's content."""
        held = self._held()
        known = {"table": table, "version": version, "when": _now(), "digest": self._digest(held["key"], files)}
        self._write(held | {"versions": [*held["versions"], known]})

    def compare(self, table: str, version: int, files: Sequence[Path]) -> bool:
        """Whether the content is still that of a version; a difference is noted in this file and nowhere else."""
        held = self._held()
        known = [each for each in held["versions"] if (each["table"], each["version"]) == (table, version)]
        if not known:
            return True
        found = self._digest(held["key"], files)
        same = any(hmac.compare_digest(each["digest"], found) for each in known)
        if not same:
            noted = {"when": _now(), "what": f"{table} was read with another content than that of version {version}"}
            self._write(held | {"notes": [*held["notes"], noted]})
        return same

    @property
    def notes(self) -> list[dict[str, Any]]:
        """The notes on changed content, for the curator only."""
        notes: list[dict[str, Any]] = self._held()["notes"]
        return notes

    def _digest(self, key: str, files: Sequence[Path]) -> str:
        digest = hmac.new(bytes.fromhex(key), digestmod="sha256")
        for file in files:
            digest.update(file.stat().st_size.to_bytes(8, "big"))
            with file.open("rb") as content:
                while block := content.read(BLOCK):
                    digest.update(block)
        return digest.hexdigest()

    def _held(self) -> dict[str, Any]:
        if not self.path.exists():
            return {"key": secrets.token_hex(32), "versions": [], "notes": []}
        try:
            held: dict[str, Any] = json.loads(self.path.read_text("utf-8"))
            if not {"key", "versions", "notes"} <= set(held):
                raise ValueError
        except (ValueError, TypeError):
            raise BadFile(f"{self.path}: no curator's file; move it away and register the table again") from None
        return held

    def _write(self, held: dict[str, Any]) -> None:
        """Replaces the file as a whole; nobody but its owner may read it."""
        draft = self.path.with_name(f"{self.path.name}.{os.getpid()}")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as file:
            json.dump(held, file, indent=1)
        draft.replace(self.path)


@dataclass(frozen=True)
class Registration:
    """The name and version of a registered table, and the identity of the ledger it is registered in."""

    table: str
    version: int
    book: str
    curator: CuratorFile | None = None
    files: tuple[Path, ...] = ()

    def notice(self) -> None:
        """Notes in the curator's file, and nowhere else, that the content changed since registration."""
        if self.curator is not None:
            self.curator.compare(self.table, self.version, self.files)


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
