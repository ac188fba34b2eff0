"""The steward's key, printed when the application starts; it admits to ledgers, tables and new polls."""

from __future__ import annotations

import hmac
from typing import Final

from fastapi import HTTPException, Request
from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response

from bruit.apps.web.security.cookies import cookie_name
from bruit.apps.web.security.sessions import STEWARD, Sessions, given, keep, sessions_of
from bruit.apps.web.settings import Settings, hash_secret

COOKIE: Final = "bruit_steward"
FORGETTING: Final = {"clear-site-data": '"cache"'}
"""A browser that was signed out shows no page of before."""


def is_steward(request: HTTPConnection) -> bool:
    """Whether the request carries the steward's key as a bearer token, or a session that it opened."""
    settings: Settings = request.app.state.settings
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return is_key(bearer, settings)
    sessions: Sessions = request.app.state.sessions
    return sessions.admits(request.cookies.get(cookie_name(COOKIE, request), ""), STEWARD, (settings.key_hash,))


def is_key(given: str, settings: Settings) -> bool:
    """Whether the given text is the steward's key."""
    return hmac.compare_digest(hash_secret(given), settings.key_hash)


async def require_steward(request: Request) -> None:
    """Refuses requests that are not the steward's; a dependency of the steward's pages."""
    if not is_steward(request):
        raise HTTPException(
            401, "This page is for the steward: open the link that was printed when the server started."
        )


async def enter(request: Request, key: str) -> Response:
    """Signs the browser in as the steward if the link's key is right; the key is not stored in a cookie."""
    settings: Settings = request.app.state.settings
    if not is_key(key, settings):
        raise HTTPException(401, "This is not the link that was printed when the server started.")
    made = RedirectResponse("/", 303)
    keep(made, request, COOKIE, await sessions_of(request).open(STEWARD, settings.key_hash))
    return made


async def leave(request: Request, *, everywhere: bool) -> Response:
    """Signs the steward out, on this device or on all."""
    await require_steward(request)
    if everywhere:
        await sessions_of(request).end_all(STEWARD)
    else:
        await sessions_of(request).end(given(request, COOKIE))
    made = RedirectResponse("/", 303, FORGETTING)
    made.delete_cookie(cookie_name(COOKIE, request))
    return made
