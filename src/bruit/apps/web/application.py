"""The application: its parts, the guard before them, and what all pages share."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from importlib import import_module

from fastapi import Depends, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.middleware import Middleware
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, Response
from starlette.types import Scope

from bruit.apps.web import forgery, steward
from bruit.apps.web.guard import Guard
from bruit.apps.web.part import SMALL, Part
from bruit.apps.web.refusals import Refusal, answer, refusal_of
from bruit.apps.web.rendering import page, static_file, version
from bruit.apps.web.settings import Settings
from bruit.errors import BruitError

PARTS = ("polls", "explorer", "workbench", "studies")
"""The packages of pages, in the order of the menu."""
LONGEST_NAME = 100
"""Characters of the name of a static file; a file system refuses longer ones in its own words."""


def application(settings: Settings) -> FastAPI:
    """The application over one database."""
    parts: Sequence[Part] = [import_module(f"bruit.apps.web.{name}").part for name in PARTS]
    app = FastAPI(
        title="bruit",
        summary="The collector of noised reports.",
        docs_url=None,
        redoc_url=None,
        lifespan=_running(parts),
        middleware=[
            Middleware(Guard, rates=settings.rates, kind_of=_kind, body_limit=_limits(parts)),
            *(Middleware(door) for part in parts for door in part.doors),
        ],
    )
    app.state.settings, app.state.parts, app.state.ending = settings, tuple(parts), []
    _add_shared_pages(app)
    for part in parts:
        guards = [Depends(steward.require_steward)] if part.steward else []
        app.include_router(part.router, prefix=f"/{part.name}", dependencies=[*guards, Depends(forgery.check)])
        for other in part.others:
            app.include_router(other, dependencies=guards)
    _add_refusals(app)
    return app


def _running(parts: Sequence[Part]) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            for part in parts:
                if part.running is not None:
                    await stack.enter_async_context(part.running(app))
            yield

    return lifespan


def _limits(parts: Sequence[Part]) -> Callable[[Scope], int]:
    limits = {part.name: part.body_limit for part in parts}

    def body_limit(scope: Scope) -> int:
        return limits.get(scope["path"].split("/")[1], SMALL)

    return body_limit


def _kind(scope: Scope) -> str:
    """The bucket that a request takes its token from."""
    path = scope["path"]
    if scope["method"] in forgery.SAFE:
        return "pages"  # secret links too: 144 random bits are not found by trying
    if path.endswith("/password"):
        return "passwords"
    return "reports" if path.endswith(("/reports", "/reports/many")) else "actions"


def _add_shared_pages(app: FastAPI) -> None:
    @app.get("/", include_in_schema=False)
    async def home(request: Request) -> Response:
        return page(request, "base/home.html", steward=steward.is_steward(request))

    @app.get("/enter/{key}", include_in_schema=False)
    async def enter(request: Request, key: str) -> Response:
        return steward.enter(request, key)

    @app.get("/static/{name:path}", include_in_schema=False)
    async def static(request: Request, name: str) -> Response:
        path = static_file(name)
        if len(name) > LONGEST_NAME or ".." in name or name.count("/") != 1 or not path.is_file():
            raise HTTPException(404)
        kept = request.url.query == version(name)
        return FileResponse(path, headers={"cache-control": "max-age=31536000, immutable" if kept else "no-cache"})


def _add_refusals(app: FastAPI) -> None:
    """Every error is one sentence; none repeats what was sent."""

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        return answer(refusal_of(error), request)

    @app.exception_handler(BruitError)
    async def said(request: Request, error: BruitError) -> Response:
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
