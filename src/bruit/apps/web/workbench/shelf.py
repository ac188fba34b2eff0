"""Tables that the steward loaded: in a folder of their session, gone when the application ends."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from threading import Lock

from anyio.to_thread import run_sync

from bruit.apps.web.workbench.columns import ColumnType, columns_of
from bruit.errors import BadFile, InvalidArgument, MissingData, StorageError
from bruit.privacy import EACH_ROW
from bruit.tables import Table, read
from bruit.tables.reading import KINDS

LARGEST = 512 * 1024 * 1024
"""Bytes of a table that may be loaded."""

NO_TABLE = (
    "this is no whole CSV or Parquet file: it was cut, or is of another kind. "
    "Some programs write no line break after the last line of a CSV file: then add one"
)

MOST = 8
"""Tables that one session may hold."""


@dataclass(frozen=True)
class Loaded:
    """A table on the shelf: its name as the steward knows it, its size and its columns."""

    key: str
    name: str
    path: Path
    size: int
    columns: tuple[ColumnType, ...]

    def table(self, person: str) -> Table:
        """The table, whose rows belong to `person`."""
        return _read(self.path, person)


@dataclass
class Session:
    """What one browser of the steward holds; `done` says where a form that was sent already led.

    `paying` is held while a release is paid for, so that a button pressed twice pays once.
    """

    folder: Path
    tables: dict[str, Loaded] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)
    paying: Lock = field(default_factory=Lock)

    async def load(self, name: str, chunks: AsyncIterator[bytes], *, largest: int = LARGEST) -> Loaded:
        """Streams a file to the session's folder and reads its columns; what is no table leaves nothing behind."""
        kind = PurePosixPath(name).suffix.lower()
        if kind not in KINDS:
            raise InvalidArgument(f"the name must end in {', '.join(sorted(KINDS))}: CSV or Parquet can be loaded")
        if len(self.tables) >= MOST:
            raise InvalidArgument(f"{MOST} tables are loaded already; remove one first")
        key = secrets.token_hex(8)
        path = self.folder / f"{key}{kind}"
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            size = await _written(path, chunks, largest)
            columns = await run_sync(_columns, path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self.tables[key] = Loaded(key, shown_name(name), path, size, columns)
        return self.tables[key]

    def remove(self, key: str) -> None:
        """Takes a table off the shelf and its file off the disk."""
        loaded = self.tables.pop(key, None)
        if loaded is not None:
            loaded.path.unlink(missing_ok=True)


@dataclass
class Shelf:
    """The sessions of an application."""

    folder: Path
    sessions: dict[str, Session] = field(default_factory=dict)

    def session(self, key: str) -> Session:
        """The session of a browser, made when it is first asked for."""
        return self.sessions.setdefault(key, Session(self.folder / key))


def shown_name(name: str) -> str:
    """The last part of a name, of printable characters only, so that it can stand in a page and in a program."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return "".join(letter for letter in last if letter.isprintable())[-100:]


async def _written(path: Path, chunks: AsyncIterator[bytes], largest: int) -> int:
    size = 0
    with path.open("xb") as file:
        async for chunk in chunks:
            size += len(chunk)
            if size > largest:
                raise InvalidArgument(f"the file is larger than {largest // 2**20} MB, the most that can be loaded")
            await run_sync(file.write, chunk)
    return size


def _columns(path: Path) -> tuple[ColumnType, ...]:
    try:
        return columns_of(_read(path, EACH_ROW))
    except StorageError:  # the engine could not read a row
        raise BadFile(NO_TABLE) from None


def _read(path: Path, person: str) -> Table:
    """The table of a file; what is said of a file that is none names no path."""
    try:
        return read(path, person=person)
    except (BadFile, MissingData, OSError):
        raise BadFile(NO_TABLE) from None
