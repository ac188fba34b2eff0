"""The endpoint for single reports, optimised for thousands of calls per second."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from http.cookies import CookieError, SimpleCookie
from typing import Annotated, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Receive, Scope, Send

from bruit.apps.web.admission.tokens import is_admitted
from bruit.apps.web.digits import MOST, read_digits
from bruit.apps.web.error_pages import refusal_of, refuse
from bruit.apps.web.polls.collector import Collector
from bruit.apps.web.polls.live_poll import LivePoll
from bruit.errors import BruitError

TOKEN: Final = r"^[0-9a-f]{32}$"
_PATH: Final = re.compile(r"/api/polls/([a-z2-9]{10})/reports")
_YEAR: Final = 365 * 86400

Pair = Annotated[list[int | str], Field(min_length=2, max_length=2)]
"""A cohort and bits."""


class Admission(BaseModel):
    """An admission by card: the signed message and its signature, in hexadecimal."""

    model_config = ConfigDict(extra="forbid", strict=True)

    message: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{512}$")]


class Report(BaseModel):
    """A noisy report; its token is random, one per device and round, and is counted only once."""

    model_config = ConfigDict(extra="forbid", strict=True)

    token: Annotated[str, Field(pattern=TOKEN)]
    round: Annotated[int, Field(ge=1, le=MOST)]
    report: Annotated[
        int | str | Pair,
        Field(description="A place, or bits in hexadecimal digits, or [cohort, bits].", union_mode="left_to_right"),
    ]
    admission: Admission | None = None


class ReportMiddleware:
    """ASGI middleware that handles report requests before routing; OpenAPI describes the same request."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Accepts a report; passes everything else on."""
        found = _PATH.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        if found is None:
            await self.app(scope, receive, send)
            return
        try:
            body, headers = await accept(scope["app"].state.collector, found[1], scope["headers"], receive)
        except (HTTPException, BruitError) as error:
            await refuse(refusal_of(error), scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})


Headers = Iterable[tuple[bytes, bytes]]


async def accept(collector: Collector, identity: str, headers: Headers, receive: Receive) -> tuple[bytes, Headers]:
    """The response to one report, once it is stored; browsers get a cookie that marks them as having answered."""
    report, given = parse_report(await _body(receive)), dict(headers)
    poll = await collector.poll(identity)
    once = poll.question.kind == "open"  # in one of all rounds
    marked = b"cookie" in given and _has_answered(given[b"cookie"], identity, None if once else report.round)
    if marked and not await asyncio.to_thread(collector.store.has, identity, report.round, report.token):
        raise HTTPException(409, "This device has already answered in this round: that report was counted.")
    require_admission(poll, report)
    (counted,) = await collector.submit(poll, [(report.token, report.round, report.report)])
    body = _COUNTED if counted else _KNOWN
    sent = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    if b"origin" in given:
        sent.append((b"set-cookie", _mark(identity, report)))
    return body, sent


def require_admission(poll: LivePoll, report: Report) -> None:
    """Refuses a report without a card's valid signature where the poll requires one."""
    if poll.question.admission == "open":
        return
    given = report.admission
    if given is None or poll.signing is None or not is_admitted(poll.signing.public, report, **given.model_dump()):
        raise HTTPException(403, "This poll counts reports of its cards only, one a card.")


def parse_report(body: bytes) -> Report:
    """Parses and validates a report from the bytes of a request."""
    try:
        return Report.model_validate_json(body)
    except ValidationError:
        raise HTTPException(422, "A report is JSON with token, round and report, as /openapi.json describes.") from None


async def _body(receive: Receive) -> bytes:
    message = await receive()
    body: bytes = message.get("body", b"")
    while message.get("more_body"):
        message = await receive()
        body += message.get("body", b"")
    return body


def _mark(identity: str, report: Report) -> bytes:
    """The cookie that records in which round this device has answered; nothing in it tells two devices apart."""
    value = f"bruit_sent_{identity}={report.round}"
    return f"{value}; HttpOnly; Max-Age={_YEAR}; Path=/api/polls/{identity}; SameSite=strict".encode()


def _has_answered(cookies: bytes, identity: str, number: int | None) -> bool:
    """Whether this device says that it has answered in this round, or in any."""
    try:
        found = SimpleCookie(cookies.decode("latin-1")).get(f"bruit_sent_{identity}")
    except CookieError:
        return False
    return found is not None and number in (None, read_digits(found.value))


_COUNTED: Final = b'{"accepted":true,"counted":true}'
_KNOWN: Final = b'{"accepted":true,"counted":false}'
