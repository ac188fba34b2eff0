"""A lease that lets only one running server use a database; a second refuses to start, a replaced one to commit.

A lock that dies with its process (of the file beside SQLite's, or PostgreSQL's advisory lock) refuses the second server
at once and never outlives a crash. A lock can be lost without notice (a network file system, a cut connection), so each
start also takes the next number, and every commit checks in its own transaction that the number is still its own: the
fencing of leases [Gray & Cheriton 1989].
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from bruit.errors import DatabaseInUse
from bruit.storage.engines import connect
from bruit.storage.transactions import writing

if TYPE_CHECKING:
    from sqlalchemy import Connection

_TABLE = "CREATE TABLE IF NOT EXISTS bruit_leases (part VARCHAR(40) PRIMARY KEY, number INTEGER NOT NULL)"
_NEXT = """INSERT INTO bruit_leases (part, number) VALUES (:part, 1)
    ON CONFLICT (part) DO UPDATE SET number = bruit_leases.number + 1 RETURNING number"""
_NOW = "SELECT number FROM bruit_leases WHERE part = :part"
_SAME = "UPDATE bruit_leases SET number = number WHERE part = :part"
_LOCK = "SELECT pg_try_advisory_lock(hashtextextended(current_schema() || ' bruit ' || :part, 0))"
_TAKEN = "another server runs on this database: stop it first, or give this one a database of its own"


class Lease:
    """The exclusive right of one process to one part of a database, from `take` to `release`."""

    def __init__(self, url: str, part: str) -> None:
        self._engine, self._part = connect(url), part
        self._descriptor: int | None = None
        self._connection: Connection | None = None
        self.number = 0

    def take(self) -> None:
        """Takes the lease, or raises DatabaseInUse where a running server holds it."""
        from sqlalchemy import text

        self._lock()
        with writing(self._engine) as connection:
            connection.execute(text(_TABLE))
            self.number = int(connection.execute(text(_NEXT), {"part": self._part}).scalar_one())

    def check(self, connection: Connection) -> None:
        """Raises inside a transaction where another server has taken the lease since."""
        from sqlalchemy import text

        if connection.execute(text(_NOW), {"part": self._part}).scalar() != self.number:
            raise DatabaseInUse("another server has taken this database over; nothing was written")

    def require_free(self) -> None:
        """Raises DatabaseInUse where a running server holds the lease; does not take it."""
        self._lock()
        self.release()

    def renew(self) -> None:
        """Writes the lease again, and takes its lock again where the connection was lost.

        Fails where the database cannot be written, and where another server has come meanwhile.
        """
        from sqlalchemy import text

        with writing(self._engine) as connection:
            self.check(connection)
            connection.execute(text(_SAME), {"part": self._part})
        if self._connection is not None and not self._answers(self._connection):
            self._connection.invalidate()
            self._connection.close()
            self._connection = None
            self._lock()

    def release(self) -> None:
        """Gives the lease up; its number remains in the database, so that a former holder cannot write."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # ------------------------------------------------------------ locks that die with their process
    def _lock(self) -> None:
        if self._engine.dialect.name == "postgresql":
            self._lock_session()
        else:
            self._lock_file()

    def _lock_file(self) -> None:
        try:
            import fcntl
        except ModuleNotFoundError:  # no such lock on this system: the number alone guards the commits
            return
        path = Path(str(self._engine.url.database).removeprefix("file:").partition("?")[0])
        descriptor = os.open(path.with_name(f"{path.name}.lock"), os.O_CREAT | os.O_WRONLY, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(descriptor)
            raise DatabaseInUse(_TAKEN) from error
        self._descriptor = descriptor

    def _lock_session(self) -> None:
        from sqlalchemy import text

        connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        if not connection.execute(text(_LOCK), {"part": self._part}).scalar():
            connection.close()
            raise DatabaseInUse(_TAKEN)
        connection.detach()  # closed with the lease, and with it the lock: a pool would keep both
        self._connection = connection

    @staticmethod
    def _answers(connection: Connection) -> bool:
        from sqlalchemy.exc import SQLAlchemyError

        try:
            connection.exec_driver_sql("SELECT 1")
        except SQLAlchemyError:
            return False
        return True
