"""Who may look at a poll and change it: whoever has its secret link or its password, and the steward."""

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
    """Ten letters and digits for a poll's short link: it can be typed, and guessed by nobody."""
    return "".join(secrets.choice(_ALPHABET) for _ in range(10))


def stretch_password(password: str, salt: str) -> str:
    """A password stretched by scrypt into a secret of 256 bits; only the hash of it is kept."""
    return hashlib.scrypt(password.encode(), salt=bytes.fromhex(salt), n=2**14, r=8, p=1).hex()


def password_fields(password: str) -> dict[str, str]:
    """The salt and the hash of a password to be kept; nothing for none."""
    if not password:
        return {}
    salt = secrets.token_hex(16)
    return {"password_salt": salt, "password_hash": hash_secret(stretch_password(password, salt))}


def opens(secret: str, poll: StoredPoll) -> bool:
    """Whether a secret opens the poll: that of its link, or its stretched password."""
    given = hash_secret(secret)
    by_link = hmac.compare_digest(given, poll.link_hash)
    return by_link or (bool(poll.password_hash) and hmac.compare_digest(given, poll.password_hash))


def is_admin(request: Request, poll: LivePoll) -> bool:
    """Whether the request may change the poll: by its secret as a bearer token, by a session, or as the steward."""
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer" and opens(bearer, poll.stored):
        return True
    proofs = [proof for proof in (poll.stored.link_hash, poll.stored.password_hash) if proof]
    return sessions.sessions_of(request).admits(_given(request, poll), poll.stored.identity, proofs) or is_steward(
        request
    )


def require_admin(request: Request, poll: LivePoll) -> None:
    """Refuses whoever may not change the poll."""
    if not is_admin(request, poll):
        raise HTTPException(401, "This is for whoever made the poll: open its secret link, or give its password.")


def require_viewer(request: Request, poll: LivePoll) -> None:
    """Refuses whoever may not see the results."""
    if poll.question.results != "everyone":
        require_admin(request, poll)


async def keep(response: Response, request: Request, poll: StoredPoll, secret: str, *, link: str = "") -> None:
    """Signs the browser in to a poll that a secret opens; `link` is the secret where it is the link's own."""
    opened = sessions.sessions_of(request)
    given = await opened.open(poll.identity, hash_secret(secret), link=link)
    sessions.keep(response, request, _cookie(poll), given)


def link_secret(request: Request, poll: LivePoll) -> str:
    """The secret of the poll's link, where this browser signed in by it and the server has not stopped since."""
    return sessions.sessions_of(request).link(_given(request, poll))


def _given(request: Request, poll: LivePoll) -> str:
    return sessions.given(request, _cookie(poll.stored))


def _cookie(poll: StoredPoll) -> str:
    return f"bruit_poll_{poll.identity}"
