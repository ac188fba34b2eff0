"""Who may open books, load tables and make polls: whoever holds the key printed when the application started."""

from __future__ import annotations

import hmac
from typing import Final

from fastapi import HTTPException, Request
from starlette.responses import RedirectResponse, Response

from bruit.apps.web.cookies import named
from bruit.apps.web.settings import Settings, hashed

COOKIE: Final = "bruit_steward"
_DAYS: Final = 30


def is_steward(request: Request) -> bool:
    """Whether the request carries the steward's key, in its cookie or as a bearer token."""
    settings: Settings = request.app.state.settings
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    given = bearer if scheme.lower() == "bearer" else request.cookies.get(named(COOKIE, request), "")
    return hmac.compare_digest(hashed(given), settings.key_hash)


async def require_steward(request: Request) -> None:
    """Refuses everybody else: a dependency of the steward's pages."""
    if not is_steward(request):
        raise HTTPException(
            401, "This page is for the steward: open the link that was printed when the server started."
        )


def enter(request: Request, key: str) -> Response:
    """Gives the browser the steward's cookie, if the key of the link is right."""
    settings: Settings = request.app.state.settings
    if not hmac.compare_digest(hashed(key), settings.key_hash):
        raise HTTPException(401, "This is not the link that was printed when the server started.")
    made = RedirectResponse("/", 303)
    secure = request.url.scheme == "https"
    # Lax, so that the link works from wherever it is clicked; forms are guarded by a token of their own.
    name = named(COOKIE, request)
    made.set_cookie(name, key, max_age=_DAYS * 86400, httponly=True, samesite="lax", secure=secure)
    return made
