"""The steward's uploaded tables, in a folder of the session that is removed when the application ends."""

from __future__ import annotations

import secrets
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from threading import Lock
from typing import TypeVar

import polars
from anyio.to_thread import run_sync

from bruit.apps.steward.schemas import Head, read_names
from bruit.apps.steward.sources import open_plan
from bruit.apps.web.workbench.synthesis_jobs import SynthesisJob
from bruit.core.neighbours import EACH_ROW
from bruit.errors import BadFile, BruitError, InvalidArgument, MissingData
from bruit.ledger import Ledger
from bruit.tables.plan.operators import Plan
from bruit.tables.schema import File, Schema, text
from bruit.tables.sources.opening import SUFFIXES, open_source

LARGEST = 512 * 1024 * 1024
"""Bytes of a table that may be loaded."""

KINDS = tuple(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
"""Ends of the names of files that can be loaded."""

NO_TABLE = "this is no whole CSV, Excel or Parquet file: it was cut, is empty or too wide, or is of another kind"

MOST = 8
"""Tables that one session may hold."""

MOST_COLUMNS = 2_000
"""Columns of a table that may be loaded: its schema is a form with some fields for each."""

LONGEST_NAMES = 200_000
"""Letters of all names of columns together."""

T = TypeVar("T")


@dataclass(frozen=True)
class Loaded:
    """An uploaded table: its name, what its file's header says, and its schema once stated.

    `form` is the schema's form as it was last filled in.
    """

    key: str
    name: str
    path: Path
    size: int
    head: Head
    schema: Schema | None = None
    form: Mapping[str, str] = field(default_factory=dict)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self.head.columns)

    def read_again(self, facts: File) -> Loaded:
        """The same file read with another format, which may change the names of its columns."""
        return replace(self, head=self._saying(lambda: read_names(self.path, facts)), schema=None)

    def with_schema(self, schema: Schema, form: Mapping[str, str]) -> Loaded:
        """The same file with a schema, whose columns the file must have."""
        stated = replace(self, schema=schema, form=dict(form))
        stated.plan()
        return stated

    def plan(self, book: Ledger | None = None) -> Plan:
        """The table under its schema as a `Plan`; no row is read."""
        schema = self.schema
        if schema is None:
            raise InvalidArgument(f"{self.name}: state its schema first, so that every cell has one reading")
        return self._saying(lambda: open_plan(str(self.path), schema, book=book))

    def frame(self) -> polars.LazyFrame:
        """The table as in its file, with text cells from CSV and Excel, for its curator only."""
        facts = replace(self.head.file, complete=True)
        bare = Schema(EACH_ROW, {name: text() for name in self.columns})
        opened = self._saying(lambda: open_source(self.path, replace(bare, file=facts)))
        frame: polars.LazyFrame = opened.frame
        return frame

    def _saying(self, act: Callable[[], T]) -> T:
        """Acts; an error names the table as the steward knows it, and no path."""
        try:
            return act()
        except (BadFile, MissingData) as error:
            raise BadFile(str(error).replace(str(self.path), self.name)) from None
        except BruitError as error:
            raise type(error)(str(error).replace(str(self.path), self.name)) from None
        except OSError:
            raise BadFile(f"{self.name}: {NO_TABLE}") from None


@dataclass
class Session:
    """The uploaded tables of one browser; `done` records where an already sent form led, so that it acts once.

    `paying` is held while a release is paid for, so that a button pressed twice pays once. `jobs` are the synthetic
    tables that are being made, by the number that their preview carried.
    """

    folder: Path
    tables: dict[str, Loaded] = field(default_factory=dict)
    done: dict[str, str] = field(default_factory=dict)
    jobs: dict[str, SynthesisJob] = field(default_factory=dict)
    paying: Lock = field(default_factory=Lock)

    async def load(self, name: str, chunks: AsyncIterator[bytes], *, largest: int = LARGEST) -> Loaded:
        """Streams a file to the session's folder and reads its header; a file that is no table is removed."""
        kind = PurePosixPath(name).suffix.lower()
        if kind not in KINDS:
            raise InvalidArgument(f"the name must end in {', '.join(KINDS)}: CSV, Excel or Parquet can be loaded")
        if len(self.tables) >= MOST:
            raise InvalidArgument(f"{MOST} tables are loaded already; remove one first")
        key = secrets.token_hex(8)
        path = self.folder / f"{key}{kind}"
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        try:
            size = await _write_chunks(path, chunks, largest)
            head = await run_sync(_head, path)
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        self.tables[key] = Loaded(key, safe_name(name), path, size, head)
        return self.tables[key]

    def remove(self, key: str) -> None:
        """Removes a table from the session and its file from disk, unless a synthetic table is being made of it."""
        with self.paying:
            if any(job.table == key and not job.ended for job in self.jobs.values()):
                raise InvalidArgument("a synthetic table is being made of this table: wait until it is there")
            loaded = self.tables.pop(key, None)
        if loaded is not None:
            loaded.path.unlink(missing_ok=True)


@dataclass
class UploadStore:
    """The upload sessions of an application."""

    folder: Path
    sessions: dict[str, Session] = field(default_factory=dict)

    def session(self, key: str) -> Session:
        """The session of a browser, created on first use."""
        return self.sessions.setdefault(key, Session(self.folder / key))


def safe_name(name: str) -> str:
    """The last part of a path in printable characters only, safe for pages and programs."""
    last = PurePosixPath(name.replace("\\", "/")).name
    return "".join(letter for letter in last if letter.isprintable())[-100:]


async def _write_chunks(path: Path, chunks: AsyncIterator[bytes], largest: int) -> int:
    size = 0
    with path.open("xb") as file:
        async for chunk in chunks:
            size += len(chunk)
            if size > largest:
                raise InvalidArgument(f"the file is larger than {largest // 2**20} MB, the most that can be loaded")
            await run_sync(file.write, chunk)
    return size


def _head(path: Path) -> Head:
    """What the file says of itself; an error names no path."""
    try:
        found = read_names(path)
    except BadFile as error:
        raise BadFile(str(error).removeprefix(f"{path}: ")) from None
    except (MissingData, OSError):
        raise BadFile(NO_TABLE) from None
    if len(found.columns) > MOST_COLUMNS:
        raise InvalidArgument(
            f"it has {len(found.columns)} columns and {MOST_COLUMNS} can be loaded here: keep those you ask about"
        )
    if sum(map(len, found.columns)) > LONGEST_NAMES:
        raise BadFile(NO_TABLE)
    return found
