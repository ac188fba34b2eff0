"""Forms that only this site can send: a secret cookie, and in each form the hash of it.

A page of another site can neither read the cookie nor hash it; the cookie is also `SameSite=Lax`, so that no form of
another site sends it, and the guard compares the Origin of every request that changes something. (Not `Strict`: a link
from elsewhere would come without it, be given a new one, and the tables loaded under the old one would be lost.)
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final

from fastapi import HTTPException, Request
from starlette.responses import Response

from bruit.apps.web.cookies import named

COOKIE: Final = "bruit_form"
HEADER: Final = "x-csrf-token"
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""The methods of requests that change nothing."""

_LENGTH: Final = 32


def ticket(request: Request) -> tuple[str, bool]:
    """The secret of this browser, and whether it is new."""
    found = request.cookies.get(named(COOKIE, request), "")
    return (found, False) if len(found) == _LENGTH and found.isalnum() else (secrets.token_hex(_LENGTH // 2), True)


def token(ticket: str) -> str:
    """What a form must carry."""
    return hashlib.sha256(b"bruit form:" + ticket.encode()).hexdigest()


def keep(response: Response, request: Request, ticket: str) -> None:
    """Gives the browser its secret."""
    secure = request.url.scheme == "https"
    response.set_cookie(named(COOKIE, request), ticket, httponly=True, samesite="lax", secure=secure)


async def check(request: Request) -> None:
    """Refuses a change that no form of this site asked for: a dependency of every page that is not the open API.

    The token comes in the header `x-csrf-token` or in the form's field `csrf`.
    """
    if request.method in SAFE:
        return
    if not _in_utf_8(request):
        raise HTTPException(415, "A form is sent in UTF-8.")
    secret, fresh = ticket(request)
    given = request.headers.get(HEADER, "")
    if not given and "form" in request.headers.get("content-type", ""):
        given = str((await request.form()).get("csrf", ""))
    if fresh or not hmac.compare_digest(given.encode(), token(secret).encode()):
        raise HTTPException(403, "This form has expired or was sent by another site; load the page again.")


def _in_utf_8(request: Request) -> bool:
    """Whether a form names no other code: some have texts that nothing can keep."""
    _, named, code = request.headers.get("content-type", "").lower().partition("charset=")
    return not named or code.strip(' "').startswith(("utf-8", "utf8"))
