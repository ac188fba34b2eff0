"""What the pages of the workbench share: the shelf, the session of a browser, the store of books, the recipes."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlencode

from fastapi import APIRouter, FastAPI, HTTPException, Request

from bruit.apps.web import forgery
from bruit.apps.web.places import RELEASES, home
from bruit.apps.web.workbench.recipes import Recipes
from bruit.apps.web.workbench.shelf import Loaded, Session, Shelf
from bruit.errors import UnknownLedger
from bruit.ledger import Ledger

router = APIRouter(include_in_schema=False)
"""The pages of the workbench, about tables and about books."""


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """Opens the shelf in a folder that only this user can read, and removes it with all tables at the end."""
    with TemporaryDirectory(prefix="bruit-", ignore_cleanup_errors=True) as folder:
        app.state.shelf = Shelf(Path(folder))
        yield


def session(request: Request) -> Session:
    """The session of the browser that asks, told by the secret of its forms."""
    secret, fresh = forgery.ticket(request)
    shelf: Shelf = request.app.state.shelf
    if fresh:  # its own secret comes with the answer; nothing could be kept for this one
        return Session(shelf.folder / "none")
    return shelf.session(hashlib.sha256(b"bruit session:" + secret.encode()).hexdigest()[:32])


def loaded(request: Request, key: str) -> Loaded:
    """A table of the session."""
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


def recipes(request: Request) -> Recipes:
    """How releases were made."""
    return Recipes(home(request.app.state.settings) / RELEASES)


def address(page: str, **about: object) -> str:
    """The address of a page of the workbench."""
    return f"/workbench/{page}?{urlencode(about)}"
