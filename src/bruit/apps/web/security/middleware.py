"""Security middleware before every page: headers, limits on size and rate, and errors without private values."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bruit.apps.web.digits import read_digits
from bruit.apps.web.error_pages import Refusal, refuse
from bruit.apps.web.security.csp import content_security_policy
from bruit.apps.web.security.csrf import SAFE
from bruit.apps.web.security.rate_limits import Buckets, Rate, network
from bruit.apps.web.security.safe_logs import OWN, place

log = logging.getLogger(OWN)

HEADERS: Final = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
}
HSTS: Final = (b"strict-transport-security", b"max-age=31536000")
"""Over https: a browser that came once by https never comes by plain http again."""
LONGEST_HOST: Final = 300
"""Characters of the name and port of a host: it stands in links and in QR codes."""


class Guard:
    """Wraps the application: adds security headers to every response, and hides the text of exceptions."""

    def __init__(
        self,
        app: ASGIApp,
        *,
        rates: Mapping[str, Rate],
        kind_of: Callable[[Scope], str],
        body_limit: Callable[[Scope], int],
        member_of: Callable[[Scope], str | None] = lambda _: None,
    ) -> None:
        self.app, self.kind_of, self.body_limit, self.member_of = app, kind_of, body_limit, member_of
        self.buckets = {kind: Buckets(rate) for kind, rate in rates.items()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuses what comes too often, too large or from another site; else passes it on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def sending(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                _add_headers(message, secure=scope.get("scheme") == "https")
            await send(message)

        try:
            refusal = self._refusal(scope)
            if refusal is not None:
                await refuse(refusal, scope, receive, sending)
                return
            await self.app(scope, self._limit_body(scope, receive), sending)
        except ClientDisconnect:
            return  # nobody is left to be told, and a phone that went away is no error
        except Exception as error:
            # neither the message nor a traceback: they may hold a value or a path
            log.error("%s", place(error))
            if not started:
                await refuse(BROKEN, scope, receive, sending)

    def _refusal(self, scope: Scope) -> Refusal | None:
        headers: dict[bytes, bytes] = dict(scope["headers"])
        wait = self._rate(scope)
        if wait:
            sentence = "Too many requests from this address; wait a little."
            return Refusal(429, sentence, {"retry-after": str(int(wait) + 1)})
        hosts = sum(name == b"host" for name, _ in scope["headers"])
        if hosts > 1 or (not hosts and scope.get("http_version") == "1.1"):
            return Refusal(400, "A request names its host once.")  # RFC 9112, Section 3.2: links are made from it
        if len(headers.get(b"host", b"")) > LONGEST_HOST:
            return Refusal(400, "The name of the host is too long.")
        if not scope["path"].startswith("/"):
            return Refusal(400, "The address of a page begins with a slash.")
        limit, length = self.body_limit(scope), headers.get(b"content-length", b"0")
        if read_digits(length.decode("latin-1"), most=limit) is None:
            return _too_large(limit)
        if scope["method"] not in SAFE and not same_origin(headers):
            return Refusal(403, "This request came from another site, so nothing was changed.")
        return None

    def _rate(self, scope: Scope) -> float:
        """Takes a token of the client's bucket: people who are signed in have one apart from their address's others."""
        client = self.member_of(scope) or network((scope.get("client") or ("?",))[0])
        kind = self.kind_of(scope)
        if kind == "reports":
            scope["take_reports"] = partial(self.buckets[kind].take, client)
        return self.buckets[kind].take(client)

    def _limit_body(self, scope: Scope, receive: Receive) -> Receive:
        limit, seen = self.body_limit(scope), 0

        async def receiving() -> Message:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > limit:
                raise TooLarge(limit)
            return message

        return receiving


class TooLarge(HTTPException):
    """The request body exceeds the size limit; an HTTPException, so that body readers let it through."""

    def __init__(self, limit: int) -> None:
        super().__init__(413, _too_large(limit).sentence)


BROKEN: Final = Refusal(500, "Something went wrong on the server; nothing of your request was kept in its log.")


def _add_headers(message: Message, *, secure: bool) -> None:
    """Adds the headers that a response does not set itself."""
    headers = message["headers"] = list(message.get("headers", ()))
    present = {name for name, _ in headers}
    headers.extend(line for line in _raw_headers() if line[0] not in present)
    if secure:
        headers.append(HSTS)


@cache
def _raw_headers() -> tuple[tuple[bytes, bytes], ...]:
    lines = {**HEADERS, "content-security-policy": content_security_policy(), "cache-control": "no-store"}
    return tuple((name.encode(), value.encode()) for name, value in lines.items())


def same_origin(headers: dict[bytes, bytes]) -> bool:
    """Whether the request comes from this site's own pages, by its Origin and Sec-Fetch-Site headers."""
    origin = headers.get(b"origin")
    if origin is None:
        return headers.get(b"sec-fetch-site", b"same-origin") in (b"same-origin", b"none")
    return origin.partition(b"://")[2] == headers.get(b"host", b"")


def _too_large(limit: int) -> Refusal:
    return Refusal(413, f"A request here may send at most {limit // 1024} kB.")
