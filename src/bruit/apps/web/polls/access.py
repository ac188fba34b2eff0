"""Who may look at a poll and change it: whoever has its secret link or its password, and the steward."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final

from fastapi import HTTPException, Request
from starlette.responses import Response

from bruit.apps.web.polls.collector import LivePoll
from bruit.apps.web.settings import hashed
from bruit.apps.web.steward import is_steward
from bruit.storage.reports import StoredPoll

_ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that looks like something else on a wall
_DAYS: Final = 30


def new_identity() -> str:
    """Ten letters and digits for a poll's short link: it can be typed, and guessed by nobody."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))


def stretched(password: str, salt: str) -> str:
    """A password as a secret of 256 bits by scrypt, slow to try; the hash of this is what is kept."""
    return hashlib.scrypt(password.encode(), salt=bytes.fromhex(salt), n=2**14, r=8, p=1).hex()


def password_fields(password: str) -> dict[str, str]:
    """The salt and the hash of a password to be kept; nothing for none."""
    if not password:
        return {}
    salt = secrets.token_hex(16)
    return {"password_salt": salt, "password_hash": hashed(stretched(password, salt))}


def opens(secret: str, poll: StoredPoll) -> bool:
    """Whether a secret is the poll's link's, or its stretched password."""
    given = hashed(secret)
    by_link = hmac.compare_digest(given, poll.link_hash)
    return by_link or (bool(poll.password_hash) and hmac.compare_digest(given, poll.password_hash))


def secret_of(request: Request, poll: StoredPoll) -> str:
    """The secret of this poll that a request carries, in its cookie or as a bearer token."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    return bearer if scheme.lower() == "bearer" else request.cookies.get(_cookie(poll), "")


def is_admin(request: Request, poll: LivePoll) -> bool:
    """Whether the request may change the poll."""
    return opens(secret_of(request, poll.stored), poll.stored) or is_steward(request)


def require_admin(request: Request, poll: LivePoll) -> None:
    """Refuses whoever may not change the poll."""
    if not is_admin(request, poll):
        raise HTTPException(401, "This is for whoever made the poll: open its secret link, or give its password.")


def require_viewer(request: Request, poll: LivePoll) -> None:
    """Refuses whoever may not see the results."""
    if poll.question.results != "everyone":
        require_admin(request, poll)


def keep(response: Response, request: Request, poll: StoredPoll, secret: str) -> None:
    """Gives the browser the poll's secret; Lax, so that a link in a message opens the poll."""
    secure = request.url.scheme == "https"
    response.set_cookie(_cookie(poll), secret, max_age=_DAYS * 86400, httponly=True, samesite="lax", secure=secure)


def _cookie(poll: StoredPoll) -> str:
    return f"bruit_poll_{poll.identity}"
