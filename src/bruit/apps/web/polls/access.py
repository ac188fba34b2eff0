"""Access to a poll: by its secret link, by its password, or as the steward."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import Final

from fastapi import HTTPException, Request
from starlette.responses import Response

from bruit.apps.web.polls.live_poll import LivePoll
from bruit.apps.web.polls.store import StoredPoll
from bruit.apps.web.security import sessions
from bruit.apps.web.security.steward_key import is_steward
from bruit.apps.web.settings import hash_secret

_ALPHABET: Final = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that looks like something else on a wall


def new_identity() -> str:
    """Ten random letters and digits for a poll's short link: easy to type, infeasible to guess."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))


def stretch_password(password: str, salt: str) -> str:
    """Derives a 256-bit secret from a password by scrypt; only the hash of that secret is stored."""
    return hashlib.scrypt(password.encode(), salt=bytes.fromhex(salt), n=2**14, r=8, p=1).hex()


def password_fields(password: str) -> dict[str, str]:
    """The salt and hash to store for a password; empty for no password."""
    if not password:
        return {}
    salt = secrets.token_hex(16)
    return {"password_salt": salt, "password_hash": hash_secret(stretch_password(password, salt))}


def opens(secret: str, poll: StoredPoll) -> bool:
    """Whether a secret is the poll's link secret or its stretched password."""
    given = hash_secret(secret)
    by_link = hmac.compare_digest(given, poll.link_hash)
    return by_link or (bool(poll.password_hash) and hmac.compare_digest(given, poll.password_hash))


def is_admin(request: Request, poll: LivePoll) -> bool:
    """Whether the request may change the poll: by bearer token, by session, or as the steward."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and opens(bearer, poll.stored):
        return True
    proofs = [proof for proof in (poll.stored.link_hash, poll.stored.password_hash) if proof]
    return sessions.sessions_of(request).admits(_given(request, poll), poll.stored.identity, proofs) or is_steward(
        request
    )


def require_admin(request: Request, poll: LivePoll) -> None:
    """Refuses a request that may not change the poll."""
    if not is_admin(request, poll):
        raise HTTPException(401, "This is for whoever made the poll: open its secret link, or give its password.")


def require_viewer(request: Request, poll: LivePoll) -> None:
    """Refuses a request that may not see the results."""
    if poll.question.results != "everyone":
        require_admin(request, poll)


async def keep(response: Response, request: Request, poll: StoredPoll, secret: str, *, link: str = "") -> None:
    """Opens a session for the poll in the browser; `link` is the link's secret where that was used."""
    opened = sessions.sessions_of(request)
    given = await opened.open(poll.identity, hash_secret(secret), link=link)
    sessions.keep(response, request, _cookie(poll), given)


def link_secret(request: Request, poll: LivePoll) -> str:
    """The poll's link secret if this browser signed in by it since the server started; else empty."""
    return sessions.sessions_of(request).link(_given(request, poll))


def _given(request: Request, poll: LivePoll) -> str:
    return sessions.given(request, _cookie(poll.stored))


def _cookie(poll: StoredPoll) -> str:
    return f"bruit_poll_{poll.identity}"
