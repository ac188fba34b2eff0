"""CSRF protection: forms carry the hash of a secret cookie, so that only this site's pages can send them.

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

from bruit.apps.web.security.cookies import cookie_name

COOKIE: Final = "bruit_form"
HEADER: Final = "x-csrf-token"
SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
"""The methods of requests that change nothing."""

_LENGTH: Final = 32


def session_secret(request: Request) -> tuple[str, bool]:
    """The CSRF secret from the browser's cookie, or a new one, and whether it is new."""
    found = request.cookies.get(cookie_name(COOKIE, request), "")
    return (found, False) if len(found) == _LENGTH and found.isalnum() else (secrets.token_hex(_LENGTH // 2), True)


def token(secret: str) -> str:
    """The CSRF token that a form must carry: the hash of the browser's secret."""
    return hashlib.sha256(b"bruit form:" + secret.encode()).hexdigest()


def keep(response: Response, request: Request, secret: str) -> None:
    """Sets the cookie with the browser's CSRF secret."""
    secure = request.url.scheme == "https"
    response.set_cookie(cookie_name(COOKIE, request), secret, httponly=True, samesite="lax", secure=secure)


async def check(request: Request) -> None:
    """Refuses a form without this site's CSRF token; a dependency of every page that is not the open API.

    The token comes in the header `x-csrf-token` or in the form's field `csrf`.
    """
    if request.method in SAFE:
        return
    if not _in_utf_8(request):
        raise HTTPException(415, "A form is sent in UTF-8.")
    secret, fresh = session_secret(request)
    given = request.headers.get(HEADER, "")
    if not given and "form" in request.headers.get("content-type", ""):
        given = str((await request.form()).get("csrf", ""))
    if fresh or not hmac.compare_digest(given.encode(), token(secret).encode()):
        raise HTTPException(403, "This form has expired or was sent by another site; load the page again.")


def _in_utf_8(request: Request) -> bool:
    """Whether a form declares no other encoding than UTF-8: some encode texts that no database keeps."""
    _, named, code = request.headers.get("content-type", "").lower().partition("charset=")
    return not named or code.strip(' "').startswith(("utf-8", "utf8"))
