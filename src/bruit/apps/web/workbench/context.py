"""What the workbench's pages share: uploaded tables, the session, the ledgers, the stored answers."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from anyio.to_thread import run_sync
from fastapi import APIRouter, FastAPI, HTTPException, Request

from bruit.apps.web.paths import RELEASES, home
from bruit.apps.web.security import csrf
from bruit.apps.web.workbench.kept_answers import KeptAnswers
from bruit.apps.web.workbench.kept_tables import KeptTables
from bruit.apps.web.workbench.synthesis_jobs import MOST_AT_ONCE
from bruit.apps.web.workbench.uploads import Loaded, Session, UploadStore
from bruit.core.neighbours import LOCAL
from bruit.errors import UnknownLedger
from bruit.ledger import Ledger
from bruit.tables.plan.operators import Plan

router = APIRouter(include_in_schema=False)
"""The pages of the workbench, about tables and about books."""


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """Lifespan context that keeps uploads in a private folder and removes it at the end.

    A synthetic table that is being made was charged already: the end waits for it. Those that wait are not made.
    """
    with TemporaryDirectory(prefix="bruit-", ignore_cleanup_errors=True) as folder:
        app.state.uploads = UploadStore(Path(folder))
        app.state.kept_tables = KeptTables(home(app.state.settings) / RELEASES)
        app.state.synthesising = ThreadPoolExecutor(MOST_AT_ONCE, thread_name_prefix="synthesis")
        try:
            yield
        finally:
            await run_sync(partial(app.state.synthesising.shutdown, wait=True, cancel_futures=True))


def session(request: Request) -> Session:
    """The workbench session of the requesting browser, identified by its CSRF secret."""
    secret, fresh = csrf.session_secret(request)
    uploads: UploadStore = request.app.state.uploads
    if fresh:  # its own secret comes with the answer; nothing could be kept for this one
        return Session(uploads.folder / "none")
    return uploads.session(hashlib.sha256(b"bruit session:" + secret.encode()).hexdigest()[:32])


def find_table(request: Request, key: str) -> Loaded:
    """A table of the session by its key, or error 404."""
    found = session(request).tables.get(key)
    if found is None:
        raise HTTPException(404, "This table is not loaded here: it was removed, or the server was started again.")
    return found


def store(request: Request) -> str:
    """The database that holds the ledgers."""
    return str(request.app.state.settings.database)


def book(request: Request, name: str) -> Ledger:
    """A ledger of the store by name, or error 404."""
    try:
        if "\0" in name:  # PostgreSQL would refuse the question itself
            raise UnknownLedger(name)
        return Ledger.open(name, store(request))
    except UnknownLedger:
        raise HTTPException(404, "There is no book of this name.") from None


def plans(request: Request, book: Ledger) -> dict[str, Plan]:
    """The session's tables that have a schema and the ledger's person, as plans by their SQL names."""
    tables = (one for one in session(request).tables.values() if one.schema is not None)
    return {
        one.schema.name: one.plan(book) for one in tables if one.schema is not None and one.schema.person == book.person
    }


def schemas(request: Request) -> dict[str, str]:
    """The session's schemas in TOML, by file name."""
    return {one.name: one.schema.to_toml() for one in session(request).tables.values() if one.schema is not None}


def books(request: Request) -> list[Ledger]:
    """Every ledger of the store."""
    return [Ledger.open(name, store(request)) for name in Ledger.names(store(request))]


def paying_books(request: Request, person: str) -> list[Ledger]:
    """The ledgers that can pay for a table: those for its person, unless they are LOCAL."""
    return [each for each in books(request) if each.neighbours is not LOCAL and each.person == person]


def kept_answers(request: Request) -> KeptAnswers:
    """The store of answers that were released here."""
    return KeptAnswers(home(request.app.state.settings) / RELEASES)


def kept_tables(request: Request) -> KeptTables:
    """The store of synthetic tables that were released here."""
    found: KeptTables = request.app.state.kept_tables
    return found


def address(page: str, **about: object) -> str:
    """The URL path of a page of the workbench."""
    return f"/workbench/{page}?{urlencode(about)}"
