"""Backs up a SQLite database to one consistent file while servers write, and restores it."""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from bruit.errors import BadFile, InvalidArgument, StorageError
from bruit.storage.engines import absolute

_MARK = "CREATE TABLE bruit_backup (at INTEGER NOT NULL)"


@dataclass(frozen=True)
class Backup:
    """A copy of a database: its path, its size in bytes, and when it was made, in seconds since 1970."""

    path: Path
    size: int
    at: int


def back_up(url: str, path: Path) -> Backup:
    """Copies a SQLite database to a new file by SQLite's online backup, consistent and without blocking writers."""
    source = sqlite_path(url)
    if not source.exists():
        raise InvalidArgument("there is no database at this address to copy")
    _create(path)
    at = int(time.time())
    try:
        with closing(sqlite3.connect(source, timeout=60)) as one, closing(sqlite3.connect(path)) as copy:
            one.backup(copy)
            copy.execute("DROP TABLE IF EXISTS bruit_backup")
            copy.execute(_MARK)
            copy.execute("INSERT INTO bruit_backup VALUES (?)", (at,))
            copy.commit()
            copy.execute("PRAGMA journal_mode = DELETE")  # one file: no WAL is left to be forgotten
            _require_whole(copy)
    except sqlite3.Error as error:
        path.unlink(missing_ok=True)
        raise StorageError(f"the copy could not be made: {error}") from error
    return Backup(path, path.stat().st_size, at)


def put_back(path: Path, url: str) -> Backup:
    """Restores a backup to an address where there is no database; refuses a file that is not a complete backup."""
    if not path.is_file():
        raise InvalidArgument(f"there is no file {path}")
    target = sqlite_path(url)
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as copy:
            _require_whole(copy)
            at = int(copy.execute("SELECT at FROM bruit_backup").fetchone()[0])
            _create(target)
            with closing(sqlite3.connect(target)) as made:
                copy.backup(made)
    except sqlite3.Error as error:
        raise BadFile(f"{path} is no whole backup of `bruit backup`: {error}") from error
    return Backup(target, target.stat().st_size, at)


def sqlite_path(url: str) -> Path:
    """The file of a SQLite address; refuses PostgreSQL, which has its own tools for backups."""
    address = absolute(url)
    if not address.startswith("sqlite"):
        raise InvalidArgument("PostgreSQL is copied by its own programs: pg_dump and pg_restore")
    return Path(address.partition(":///")[2].removeprefix("file:").partition("?")[0])


def _create(path: Path) -> None:
    """A new, empty file for this user alone."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError as error:
        raise InvalidArgument(f"{path} exists; nothing is overwritten: name a new file") from error
    except OSError as error:
        raise InvalidArgument(f"{path} cannot be written: {error.strerror}") from error


def _require_whole(connection: sqlite3.Connection) -> None:
    found = connection.execute("PRAGMA integrity_check").fetchone()[0]
    if found != "ok":
        raise sqlite3.DatabaseError("its pages do not fit together")
