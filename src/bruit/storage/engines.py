"""Opens database engines (SQLite, PostgreSQL): one for each process and address."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from bruit.errors import InvalidArgument, MissingExtra, StorageError

if TYPE_CHECKING:
    from sqlalchemy import Engine

WAIT = 60.0
"""Seconds a SQLite writer waits for the other writers before it gives up."""

_engines: dict[tuple[int, str], Engine] = {}
_opening = Lock()


def connect(url: str) -> Engine:
    """The engine of this process for a database address; a forked child opens its own.

    `sqlite:///file.db` is opened in WAL mode, every commit is on disk when it returns, and every transaction that
    writes takes the write lock at its start. `postgresql+psycopg://…` needs the extra `postgres`.
    """
    address = absolute(url)
    with _opening:
        # Engines of other processes are kept, not closed: closing one here would drop the parent's file locks.
        key = (os.getpid(), address)
        if key not in _engines:
            _engines[key] = _open(address)
        return _engines[key]


def absolute(url: str) -> str:
    """The same address with the SQLite file's path made absolute, so that it means one file in every process."""
    parsed = _parse_url(url)
    if parsed.get_backend_name() == "postgresql":
        return str(parsed.render_as_string(hide_password=False))
    path = parsed.database
    if not path or path == ":memory:":
        raise InvalidArgument(
            f"store={url!r} has no file: give 'sqlite:///file.db', or store=None for a book in memory"
        )
    if not path.startswith("file:"):
        parsed = parsed.set(database=str(Path(path).absolute()))
    return str(parsed.render_as_string(hide_password=False))


def exists(url: str) -> bool:
    """Whether a database exists at an address, checked without SQLite's creating an empty file."""
    path = _parse_url(absolute(url)).database or ""
    return "://" in path or not absolute(url).startswith("sqlite") or Path(path.removeprefix("file:")).exists()


def _parse_url(url: str) -> Any:
    from sqlalchemy import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError, TypeError) as error:
        raise _unknown(url) from error
    if parsed.get_backend_name() not in ("sqlite", "postgresql"):
        raise _unknown(parsed.render_as_string())
    return parsed.set(drivername="postgresql+psycopg") if parsed.get_backend_name() == "postgresql" else parsed


def _unknown(url: object) -> InvalidArgument:
    return InvalidArgument(
        f"store={url!r} is not an address: give 'sqlite:///file.db' or 'postgresql+psycopg://host/name'"
    )


def _open(address: str) -> Engine:
    from sqlalchemy import create_engine, event

    if address.startswith("postgresql"):
        try:
            # A connection that died while it lay in the pool is replaced before it is used.
            return create_engine(address, pool_pre_ping=True, connect_args={"connect_timeout": 10})
        except ModuleNotFoundError as error:
            raise MissingExtra("PostgreSQL", "postgres") from error
    try:
        engine = create_engine(address, connect_args={"timeout": WAIT})
    except Exception as error:
        raise StorageError(f"{address}: {error}") from error
    event.listen(engine, "do_connect", _make_private)
    event.listen(engine, "connect", _prepare_sqlite)
    event.listen(engine, "begin", _begin_sqlite)
    return engine


def close(url: str) -> None:
    """Closes this process's connections to a database; SQLite's WAL is first written into its file."""
    address = absolute(url)
    with _opening:
        engine = _engines.pop((os.getpid(), address), None)
    if engine is not None:
        truncate_wal(engine)
        engine.dispose()


def truncate_wal(engine: Engine) -> None:
    """Moves SQLite's write-ahead log into the file and empties it, so that neither holds what was deleted.

    A reader that holds an older state is waited for two seconds; then the log is emptied when the database is closed.
    """
    if engine.dialect.name == "sqlite":
        with engine.connect().execution_options(reads=True) as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            raw.execute("PRAGMA busy_timeout = 2000")
            raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            raw.execute(f"PRAGMA busy_timeout = {int(1000 * WAIT)}")


def _make_private(_dialect: object, _record: object, arguments: list[object], _keywords: object) -> None:
    """Creates a new SQLite file for this user alone; its WAL takes over the permissions."""
    path = str(arguments[0]) if arguments else ""
    if path and not path.startswith((":", "file:")) and Path(path).parent.is_dir() and not Path(path).exists():
        os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))


def _prepare_sqlite(connection: Any, _record: Any) -> None:
    connection.isolation_level = None  # the transactions are ours: the driver would begin them late
    cursor = connection.cursor()
    if cursor.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
        cursor.execute("PRAGMA journal_mode = WAL")
    cursor.execute("PRAGMA synchronous = FULL")
    cursor.execute("PRAGMA foreign_keys = ON")
    cursor.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
    cursor.close()


def _begin_sqlite(connection: Any) -> None:
    reads = connection.get_execution_options().get("reads", False)
    connection.exec_driver_sql("BEGIN" if reads else "BEGIN IMMEDIATE")
