"""What the pages of the workbench share: uploaded tables, the browser's session, the books, the kept answers."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from fastapi import APIRouter, FastAPI, HTTPException, Request

from bruit.apps.web.paths import RELEASES, home
from bruit.apps.web.security import csrf
from bruit.apps.web.workbench.kept_answers import KeptAnswers
from bruit.apps.web.workbench.uploads import Loaded, Session, UploadStore
from bruit.core.neighbours import LOCAL
from bruit.errors import UnknownLedger
from bruit.ledger import Ledger
from bruit.tables.plan.operators import Plan

router = APIRouter(include_in_schema=False)
"""The pages of the workbench, about tables and about books."""


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """Keeps uploads in a folder that only this user can read, and removes it with all tables at the end."""
    with TemporaryDirectory(prefix="bruit-", ignore_cleanup_errors=True) as folder:
        app.state.shelf = UploadStore(Path(folder))
        yield


def session(request: Request) -> Session:
    """The session of the browser that asks, identified by its CSRF secret."""
    secret, fresh = csrf.session_secret(request)
    shelf: UploadStore = request.app.state.shelf
    if fresh:  # its own secret comes with the answer; nothing could be kept for this one
        return Session(shelf.folder / "none")
    return shelf.session(hashlib.sha256(b"bruit session:" + secret.encode()).hexdigest()[:32])


def find_table(request: Request, key: str) -> Loaded:
    """A table of the session by its key, or 404."""
    found = session(request).tables.get(key)
    if found is None:
        raise HTTPException(404, "This table is not loaded here: it was removed, or the server was started again.")
    return found


def store(request: Request) -> str:
    """The database that holds the books."""
    return str(request.app.state.settings.database)


def book(request: Request, name: str) -> Ledger:
    """A book of the store."""
    try:
        if "\0" in name:  # PostgreSQL would refuse the question itself
            raise UnknownLedger(name)
        return Ledger.open(name, store(request))
    except UnknownLedger:
        raise HTTPException(404, "There is no book of this name.") from None


def plans(request: Request, book: Ledger) -> dict[str, Plan]:
    """The tables of the session that have a schema and belong to the people of a book, by their names in SQL."""
    tables = (one for one in session(request).tables.values() if one.schema is not None)
    return {
        one.schema.name: one.plan(book) for one in tables if one.schema is not None and one.schema.person == book.person
    }


def schemas(request: Request) -> dict[str, str]:
    """The schemas of the session in TOML, by the names of their files."""
    return {one.name: one.schema.to_toml() for one in session(request).tables.values() if one.schema is not None}


def paying_books(request: Request, person: str) -> list[Ledger]:
    """The books that a table can be paid from: those of its people, kept by a curator."""
    every = (Ledger.open(name, store(request)) for name in Ledger.names(store(request)))
    return [each for each in every if each.neighbours is not LOCAL and each.person == person]


def kept_answers(request: Request) -> KeptAnswers:
    """How the answers of releases are arranged, and what was asked."""
    return KeptAnswers(home(request.app.state.settings) / RELEASES)


def address(page: str, **about: object) -> str:
    """The address of a page of the workbench."""
    return f"/workbench/{page}?{urlencode(about)}"
