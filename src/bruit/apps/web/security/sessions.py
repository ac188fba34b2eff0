"""Sessions: the browser's cookie holds a random, revocable identifier, never a key or a poll's secret.

A cookie reaches every port of its host, so what it holds must open nothing else: the identifier means something to this
server alone, ends with the secret that opened it, and only its hash is kept.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, Protocol

from fastapi import Request
from starlette.responses import Response

from bruit.apps.web.security.cookies import cookie_name
from bruit.apps.web.settings import hash_secret

DAYS: Final = 30
STEWARD: Final = "steward"


@dataclass(frozen=True)
class Session:
    """A stored session: the hash of its identifier, its subject, the hash of what opened it, and its end.

    `subject` is the steward, or a poll whose admins it admits. `proof` is the hash of the secret that opened it: a
    session ends when that secret is another. `expires` is in seconds since 1970.
    """

    identity: str
    subject: str
    proof: str
    expires: int


class SessionKeeping(Protocol):
    """The interface of a store in which sessions survive a restart."""

    def all(self, now: int) -> list[Session]:
        """The sessions that have not expired."""

    def add(self, session: Session) -> None:
        """Stores a session."""

    def end(self, identity: str) -> None:
        """Ends one session."""

    def end_all(self, subject: str) -> None:
        """Ends every session of a subject."""


class Sessions:
    """The sessions of one server, in memory and in its database."""

    def __init__(self, store: SessionKeeping) -> None:
        self._store = store
        self._open = {one.identity: one for one in store.all(int(time.time()))}
        self._links: dict[str, str] = {}

    def find(self, given: str) -> Session | None:
        """The session of an identifier; None if there is none or it has expired."""
        found = self._open.get(hash_secret(given)) if given else None
        return found if found is not None and found.expires > time.time() else None

    def link(self, given: str) -> str:
        """The poll's link secret that opened a session; kept in memory only, until the server stops."""
        found = self.find(given)
        return "" if found is None else self._links.get(found.identity, "")

    def admits(self, given: str, subject: str, proofs: Collection[str]) -> bool:
        """Whether an identifier's session is for that subject and was opened by one of these secrets."""
        found = self.find(given)
        return found is not None and found.subject == subject and found.proof in proofs

    async def open(self, subject: str, proof: str, *, link: str = "") -> str:
        """Opens a session and returns its identifier."""
        given = secrets.token_urlsafe(24)
        made = Session(hash_secret(given), subject, proof, int(time.time()) + DAYS * 86400)
        await asyncio.to_thread(self._store.add, made)
        self._open[made.identity] = made
        if link:
            self._links[made.identity] = link
        return given

    async def end(self, given: str) -> None:
        """Ends one session."""
        found = self._open.pop(hash_secret(given), None)
        if found is not None:
            await asyncio.to_thread(self._store.end, found.identity)

    async def end_all(self, subject: str) -> None:
        """Ends every session of a subject, on all devices."""
        self._open = {key: one for key, one in self._open.items() if one.subject != subject}
        await asyncio.to_thread(self._store.end_all, subject)


def sessions_of(request: Request) -> Sessions:
    """The sessions of this application."""
    found: Sessions = request.app.state.sessions
    return found


def keep(response: Response, request: Request, name: str, given: str) -> None:
    """Sets the session cookie; SameSite=Lax, so that a link in a message opens its page."""
    secure = request.url.scheme == "https"
    options = {"httponly": True, "samesite": "lax", "secure": secure}
    response.set_cookie(cookie_name(name, request), given, max_age=DAYS * 86400, **options)  # type: ignore[arg-type]


def given(request: Request, name: str) -> str:
    """The session identifier in a request's cookie."""
    return request.cookies.get(cookie_name(name, request), "")
