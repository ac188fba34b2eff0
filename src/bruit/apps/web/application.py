"""Assembles the FastAPI application: its parts, the security middleware, and what all pages share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib import import_module
from typing import Literal

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware import Middleware
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.types import Scope

from bruit.apps.web.base.home import example_charts, polls_to_try
from bruit.apps.web.error_pages import Refusal, answer, refusal_of
from bruit.apps.web.holding import find_failure, holding
from bruit.apps.web.languages import preferred_language
from bruit.apps.web.part import SMALL, Part
from bruit.apps.web.rendering import compressed, page, static_file, version
from bruit.apps.web.security import csrf, steward_key
from bruit.apps.web.security.connection_limits import StreamCount, fit
from bruit.apps.web.security.failure_log import FailureLog
from bruit.apps.web.security.middleware import Guard
from bruit.apps.web.security.sessions import Sessions
from bruit.apps.web.settings import Settings
from bruit.errors import BruitError, StorageError

PARTS = ("polls", "collectors", "explorer", "workbench", "streams", "studies")
"""The packages of pages, in the order of the menu."""
SCRIPTS = {".js": "text/javascript", ".css": "text/css"}
"""Static files that travel compressed."""
LONGEST_NAME = 100
"""Characters of the name of a static file; a file system refuses longer ones in its own words."""


def application(settings: Settings) -> FastAPI:
    """The FastAPI application over one database."""
    parts: Sequence[Part] = [import_module(f"bruit.apps.web.{name}").part for name in PARTS]
    app = FastAPI(
        title="bruit",
        summary="The collector of noised reports.",
        docs_url=None,
        redoc_url=None,
        lifespan=_running(parts),
        middleware=[
            Middleware(Guard, rates=settings.rates, kind_of=_kind, body_limit=_limits(parts), member_of=_member),
            *(Middleware(layer) for part in parts for layer in part.middleware),
        ],
    )
    app.state.settings, app.state.parts, app.state.ending = settings, tuple(parts), []
    app.state.failures, app.state.failure = FailureLog(), None
    app.state.limits = fit(settings.descriptors, proxied=settings.public_url is not None)
    app.state.streams = StreamCount(app.state.limits)
    _add_shared_pages(app)
    _add_health(app)
    for part in parts:
        guards = [Depends(steward_key.require_steward)] if part.steward else []
        app.include_router(part.router, prefix=f"/{part.name}", dependencies=[*guards, Depends(csrf.check)])
        for other in part.others:
            app.include_router(other, dependencies=guards)
    _add_refusals(app)
    return app


def _running(parts: Sequence[Part]) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            try:
                await stack.enter_async_context(holding(app))
                for part in parts:
                    if part.running is not None:
                        await stack.enter_async_context(part.running(app))
            except BruitError as error:
                app.state.failure = error  # uvicorn ends without saying why; whoever started it does
                raise
            yield

    return lifespan


def _limits(parts: Sequence[Part]) -> Callable[[Scope], int]:
    limits = {part.name: part.body_limit for part in parts}

    def body_limit(scope: Scope) -> int:
        return limits.get(scope["path"].split("/")[1], SMALL)

    return body_limit


def _kind(scope: Scope) -> str:
    """The kind of a request, which chooses the token bucket of its rate limit."""
    path = scope["path"]
    if scope["method"] in csrf.SAFE:
        return "pages"  # secret links too: 144 random bits are not found by trying
    if path.endswith("/password"):
        return "passwords"
    return "reports" if path.endswith(("/reports", "/reports/many", "/admissions")) else "actions"


def _member(scope: Scope) -> str | None:
    """Who asks, if signed in or with the right key: their own token bucket, which no stranger can empty."""
    if scope["path"].startswith("/enter/"):
        settings: Settings = scope["app"].state.settings
        return "steward" if steward_key.is_key(scope["path"].removeprefix("/enter/"), settings) else None
    names = {name for name, _ in scope["headers"]}
    if b"authorization" not in names and b"cookie" not in names:
        return None
    request = HTTPConnection(scope)
    if b"authorization" in names:
        return "steward" if steward_key.is_steward(request) else None
    sessions: Sessions = scope["app"].state.sessions
    found = (sessions.find(value) for name, value in request.cookies.items() if name.startswith(SESSION_COOKIES))
    return next((one.identity for one in found if one is not None), None)


SESSION_COOKIES = (steward_key.COOKIE, "bruit_poll_")


def _add_shared_pages(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def home(request: Request) -> Response:
        language = preferred_language(request)
        return page(
            request,
            "base/home.html",
            steward=steward_key.is_steward(request),
            polls=await asyncio.to_thread(polls_to_try, language),
            charts=await asyncio.to_thread(example_charts, language),
        )

    @app.get("/enter/{key}", include_in_schema=False)
    async def enter(request: Request, key: str) -> Response:
        return await steward_key.enter(request, key)

    @app.post("/leave/{where}", include_in_schema=False, dependencies=[Depends(csrf.check)])
    async def leave(request: Request, where: Literal["here", "everywhere"]) -> Response:
        return await steward_key.leave(request, everywhere=where == "everywhere")

    @app.get("/static/{name:path}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        path = static_file(name)
        if len(name) > LONGEST_NAME or ".." in name or name.count("/") != 1 or not path.is_file():
            raise HTTPException(404)
        kept = request.url.query == version(name)
        headers = {"cache-control": "max-age=31536000, immutable" if kept else "no-cache", "vary": "accept-encoding"}
        if path.suffix in SCRIPTS and "gzip" in request.headers.get("accept-encoding", ""):
            body = await asyncio.to_thread(compressed, name)
            return Response(body, headers=headers | {"content-encoding": "gzip"}, media_type=SCRIPTS[path.suffix])
        return FileResponse(path, headers=headers)


def _add_health(app: FastAPI) -> None:
    @app.get("/health", include_in_schema=False)
    async def health() -> Response:
        """Whether reports can be written, for whoever watches the service; it names no value."""
        wrong = await find_failure(app)
        return JSONResponse({"status": wrong or "ok"}, 503 if wrong else 200)


def _add_refusals(app: FastAPI) -> None:
    """Registers handlers that turn every error into one sentence, which repeats nothing that was sent."""

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        return answer(refusal_of(error), request)

    @app.exception_handler(BruitError)
    async def said(request: Request, error: BruitError) -> Response:
        if isinstance(error, StorageError):
            app.state.failures.note(error)
        return answer(refusal_of(error), request)

    @app.exception_handler(RequestValidationError)
    async def unread(request: Request, error: RequestValidationError) -> Response:
        found = error.errors()
        if not request.url.path.startswith("/api/") and any(one["loc"][0] == "path" for one in found):
            return answer(refusal_of(HTTPException(404)), request)  # to a person, an address of no page
        places = sorted({".".join(str(step) for step in one["loc"][1:2]) for one in found} - {""})
        return answer(
            Refusal(422, f"The request does not fit its description: {', '.join(places) or 'body'}."), request
        )
