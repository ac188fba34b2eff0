"""Serves the poll's page from the shuffler, so that respondents never contact the collector."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Final
from urllib.error import HTTPError, URLError

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Scope

from bruit.apps.languages import FALLBACK, Language
from bruit.apps.web.languages import preferred_language
from bruit.apps.web.polls.report_endpoint import parse_report
from bruit.apps.web.security.middleware import Guard
from bruit.apps.web.security.safe_logs import OWN, place
from bruit.apps.web.settings import RATES
from bruit.apps.web.shuffler.mixing import Shuffler
from bruit.errors import BruitError, InvalidArgument

PAUSE: Final = 5.0
"""Seconds between two looks whether a batch is full."""
LARGEST: Final = 16 * 1024
KINDS: Final = {"js": "text/javascript", "css": "text/css"}
_FILE: Final = re.compile(r"polls/[a-z]+\.(js|css)")

log = logging.getLogger(OWN)


def application(shuffler: Shuffler) -> Starlette:
    """The Starlette application of one poll: its page, scripts, description, and where reports are received."""
    identity = shuffler.identity

    async def show(request: Request) -> Response:
        kind = "application/json" if request.url.path.startswith("/api") else "text/html; charset=utf-8"
        shown = await _fetch(shuffler, request.url.path, preferred_language(request))
        return Response(shown, media_type=kind, headers={"vary": "accept-language"})

    async def static(request: Request) -> Response:
        found = _FILE.fullmatch(request.path_params["name"])
        if found is None:
            raise HTTPException(404)
        return Response(await _fetch(shuffler, request.url.path), media_type=KINDS[found[1]])

    async def take(request: Request) -> Response:
        report = parse_report(await request.body())
        try:
            counted = await asyncio.to_thread(shuffler.take, report.round, report.token, report.report)
        except InvalidArgument as error:
            raise HTTPException(422, f"{error}.") from None
        return JSONResponse({"accepted": True, "counted": counted})

    routes = [
        Route(f"/p/{identity}", show),
        Route(f"/api/polls/{identity}", show),
        Route("/static/{name:path}", static),
        Route(f"/api/polls/{identity}/reports", take, methods=["POST"]),
    ]
    guard = Middleware(Guard, rates=RATES, kind_of=_kind, body_limit=lambda _: LARGEST)
    app = Starlette(routes=routes, middleware=[guard], lifespan=_mixing(shuffler))
    app.state.parts = ()
    return app


def _kind(scope: Scope) -> str:
    return "reports" if scope["method"] == "POST" else "pages"


async def _fetch(shuffler: Shuffler, path: str, language: Language = FALLBACK) -> bytes:
    try:
        return await asyncio.to_thread(shuffler.fetch, path, language=language)
    except HTTPError as error:
        raise HTTPException(error.code, "The collector has nothing at this address.") from None
    except (URLError, OSError):
        raise HTTPException(503, "The collector does not answer; try again.") from None


def _mixing(shuffler: Shuffler) -> Callable[[Starlette], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        task = asyncio.create_task(_hand_on(shuffler))
        yield
        task.cancel()

    return lifespan


async def _hand_on(shuffler: Shuffler) -> None:
    while True:
        try:
            await asyncio.to_thread(shuffler.hand_on)
        except BruitError as error:
            log.error("%s", place(error))
        await asyncio.sleep(PAUSE)
