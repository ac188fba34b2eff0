"""PostgreSQL on a disk that is really full: refused in words, nothing uncharged, and on it goes when there is space."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from postgres import Server

from bruit.errors import StorageError
from bruit.ledger import Charge, Ledger
from bruit.privacy import ADD_OR_REMOVE_ONE, Pure

pytestmark = [pytest.mark.service, pytest.mark.xdist_group("postgres")]
LOSS = Pure(0.001, neighbours=ADD_OR_REMOVE_ONE)
MOST = 20_000
"""More charges than the space that is left can hold."""


@contextmanager
def small_disk(megabytes: Any) -> Iterator[Any]:
    """A file system of its own; the test is skipped where mounting is not permitted."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mounting a small file system takes Linux and its administrator")
    folder = Path(tempfile.mkdtemp(prefix="bruit-disk-"))
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        folder.rmdir()
        pytest.skip(f"mounting a small file system is not permitted here: {done.stderr.strip()}")
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
        folder.rmdir()


def fill(folder: Path, *, but: int = 0) -> Path:
    """Takes all the space that is left, but for so many bytes, into one file."""
    filler = folder / "filler"
    with filler.open("wb", buffering=0) as file:
        for size in (2**20, 2**12):
            with suppress(OSError):
                while file.write(bytes(size)) == size:
                    pass
        file.truncate(max(filler.stat().st_size - but, 0))
    return filler


def book(store: str) -> Ledger:
    return Ledger("payroll", epsilon=100, neighbours=ADD_OR_REMOVE_ONE, person="id", store=store)


def charge(ledger: Ledger) -> Charge:
    return ledger.budget(LOSS).charge(LOSS, what="count")


def charged_until_refused(ledger: Any) -> tuple[int, str]:
    """How many charges are granted before the store refuses one, and what it says."""
    granted = 0
    with pytest.raises(StorageError) as refused:
        for _ in range(MOST):
            charge(ledger)
            granted += 1
    return granted, str(refused.value)


def assert_entries(ledger: Ledger, granted: int) -> None:
    """Exactly what was granted stands, and the running total is its sum."""
    entries = ledger.entries
    assert [line.number for line in entries] == list(range(1, granted + 1))
    assert ledger.spent.epsilon == granted * LOSS.epsilon == sum(line.cost.exact[0] for line in entries)


def test_a_full_table_space_refuses_charges_and_goes_on_when_there_is_space(postgres: Server) -> None:
    owner = Path(postgres.sql("SHOW data_directory").split()[2]).stat().st_uid
    with small_disk(4) as disk:
        place = disk / "space"
        place.mkdir(mode=0o700)
        os.chown(place, owner, -1)
        postgres.sql(f"CREATE TABLESPACE small LOCATION '{place}'")
        store = postgres.database() + "%20-cdefault_tablespace%3Dsmall"
        ledger = book(store)
        charge(ledger)
        filler = fill(disk, but=2**17)
        granted, said = charged_until_refused(ledger)
        assert "No space left" in said
        assert granted > 0
        assert_entries(ledger, granted + 1)
        again, _ = charged_until_refused(ledger)
        assert_entries(ledger, granted + again + 1)
        filler.unlink()
        charge(ledger)
        assert_entries(ledger, granted + again + 2)
        schema = store.split("search_path%3D")[1].split("%20")[0]
        postgres.sql(f"DROP SCHEMA {schema} CASCADE; ")
        postgres.sql("DROP TABLESPACE small")


def test_a_server_without_space_for_its_log_goes_down_and_comes_back_with_every_grant() -> None:
    folder = Path(tempfile.mkdtemp(prefix="bruit-postgres-"))
    with small_disk(40) as disk:
        server = Server(folder)
        try:
            _log_on(server, folder, disk)
            ledger = book(server.database())
            charge(ledger)
            filler = fill(disk)
            granted, _ = charged_until_refused(Switching(ledger, server))
            assert "No space left" in (folder / "log").read_text()
            assert granted < MOST
            filler.unlink()
            _back(server, ledger)
            # A charge whose answer was lost may stand; none that was granted may miss.
            entries = ledger.entries
            assert granted + 1 <= len(entries) <= granted + 2
            assert_entries(ledger, len(entries))
            charge(ledger)
            assert_entries(ledger, len(entries) + 1)
        finally:
            server.close()
            shutil.rmtree(folder, ignore_errors=True)


def _log_on(server: Server, folder: Path, disk: Path) -> None:
    """Moves the server's log of transactions to another disk."""
    server.stop()
    log, moved = folder / "pg_wal", disk / "pg_wal"
    owner = log.stat()
    shutil.copytree(log, moved)
    for path in (moved, *moved.rglob("*")):
        os.chown(path, owner.st_uid, owner.st_gid)
    moved.chmod(0o700)
    shutil.rmtree(log)
    log.symlink_to(moved)
    server.start()


class Switching:
    """A book whose server begins a new part of its log, 16 MiB, with every charge."""

    def __init__(self, ledger: Any, server: Any) -> None:
        self.ledger, self.server = ledger, server

    def budget(self, loss: Any) -> Any:
        with suppress(subprocess.CalledProcessError):
            self.server.sql("SELECT pg_switch_wal()")
        return self.ledger.budget(loss)


def _back(server: Server, ledger: Ledger) -> None:
    """Starts the server again if it went down for good, and waits for it."""
    for attempt in range(60):
        with suppress(StorageError):
            ledger.spent  # noqa: B018  asks the store
            return
        if attempt % 10 == 4:
            with suppress(Exception):
                server.start()
        time.sleep(0.5)
    pytest.fail("the server did not come back after there was space")
