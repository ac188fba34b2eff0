"""The one request that comes thousands of times a second: a report."""

from __future__ import annotations

import re
from typing import Annotated, Final

from fastapi import HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, NoMatchFound
from starlette.types import Receive, Scope, Send

from bruit.apps.web.polls.collector import collector_of

TOKEN: Final = r"^[0-9a-f]{32}$"
_PATH: Final = re.compile(r"/api/polls/([a-z2-9]{10})/reports")
_YEAR: Final = 365 * 86400

Pair = Annotated[list[int | str], Field(min_length=2, max_length=2)]
"""A cohort and bits."""


class Report(BaseModel):
    """A noised report. The token is random, one for each device and round; sending it again counts nothing twice."""

    model_config = ConfigDict(extra="forbid", strict=True)

    token: Annotated[str, Field(pattern=TOKEN)]
    round: Annotated[int, Field(ge=1, le=2**31 - 1)]
    report: Annotated[
        int | str | Pair,
        Field(description="A place, or bits in hexadecimal digits, or [cohort, bits].", union_mode="left_to_right"),
    ]


class ReportRoute(BaseRoute):
    """Stands before all other routes, so that a report passes no other. The API describes the same request."""

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether this is a report."""
        found = _PATH.fullmatch(scope["path"]) if scope["type"] == "http" and scope["method"] == "POST" else None
        return (Match.NONE, {}) if found is None else (Match.FULL, {"path_params": {"identity": found[1]}})

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Accepts it."""
        made = await accept(Request(scope, receive, send), scope["path_params"]["identity"])
        await made(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: object) -> NoMatchFound:  # type: ignore[override]
        """No page links here by name."""
        raise NoMatchFound(name, dict(path_params))


async def accept(request: Request, identity: str) -> Response:
    """Accepts one report when it is on disk; a browser remembers, beside its page's memory, that it has answered."""
    collector = collector_of(request)
    poll, report = await collector.poll(identity), read(await request.body())
    mark = f"bruit_sent_{identity}"
    number, _, start = request.cookies.get(mark, "").partition(".") if "cookie" in request.headers else ("", "", "")
    if number == str(report.round) and start != report.token[:8]:
        raise HTTPException(409, "This device has already answered in this round.")
    (counted,) = await collector.submit(poll, [(report.token, report.round, report.report)])
    made = Response(_COUNTED if counted else _KNOWN, media_type="application/json")
    if "origin" in request.headers:
        value, path = f"{report.round}.{report.token[:8]}", f"/api/polls/{identity}"
        made.set_cookie(mark, value, max_age=_YEAR, path=path, httponly=True, samesite="strict")
    return made


_COUNTED: Final = b'{"accepted":true,"counted":true}'
_KNOWN: Final = b'{"accepted":true,"counted":false}'


def read(body: bytes) -> Report:
    """A report from its bytes."""
    try:
        return Report.model_validate_json(body)
    except ValidationError:
        raise HTTPException(422, "A report is JSON with token, round and report, as /openapi.json describes.") from None
