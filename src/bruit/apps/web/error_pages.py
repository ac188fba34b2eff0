"""Errors as HTML pages for browsers and as JSON for programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import Receive, Scope, Send

from bruit.apps.web.rendering import page
from bruit.errors import BruitError, StorageError

TITLES = {
    401: "This page is not open to everyone",
    403: "Nothing was changed",
    404: "Nothing is here",
    429: "A little slower, please",
    500: "Something went wrong",
    503: "Not just now",
}
"""What stands above the sentence of a refusal, where its status says more than that it did not work."""


@dataclass(frozen=True)
class Refusal:
    """An HTTP status and a sentence that depends on no private value."""

    status: int
    sentence: str
    headers: Mapping[str, str] = field(default_factory=dict)


def refusal_of(error: HTTPException | BruitError) -> Refusal:
    """The status and sentence for an error; repeats nothing of the request."""
    if isinstance(error, HTTPException):
        unknown = error.status_code == 404 and error.detail == "Not Found"
        sentence = "There is nothing at this address." if unknown else str(error.detail)
        return Refusal(error.status_code, sentence, dict(error.headers or {}))
    if isinstance(error, StorageError):  # its message names a file or a host
        return Refusal(503, "The database cannot be used just now; try again.", {"retry-after": "1"})
    return Refusal(400, str(error))


def answer(refusal: Refusal, request: Request) -> Response:
    """The refusal as a response: HTML for browsers, JSON for programs."""
    if "text/html" in request.headers.get("accept", ""):
        return page(
            request,
            "base/refusal.html",
            status=refusal.status,
            headers=refusal.headers,
            sentence=refusal.sentence,
            title=TITLES.get(refusal.status, "That did not work"),
        )
    return JSONResponse({"detail": refusal.sentence}, refusal.status, dict(refusal.headers))


async def refuse(refusal: Refusal, scope: Scope, receive: Receive, send: Send) -> None:
    """Sends the refusal as an ASGI response."""
    await answer(refusal, Request(scope, receive))(scope, receive, send)
