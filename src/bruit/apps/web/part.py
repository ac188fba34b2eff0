"""A part of the application: a package of pages with a router, templates and static files of its own."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path

from fastapi import APIRouter, FastAPI
from starlette.types import ASGIApp

SMALL = 64 * 1024
"""Bytes that a request may send where nothing larger is asked for."""


@dataclass(frozen=True)
class Part:
    """A package of pages, as it registers with the application under the name `part` in its `__init__`.

    Its routes stand under `/<name>`, its files `templates/x.html` and `static/x.js` in its folder are the template
    `<name>/x.html` and the address `/static/<name>/x.js`, and its `words.toml` has its title and line in the table
    `part`. Pages of a part with `steward=True` are for whoever holds the steward's key. `others` are routes at
    addresses of their own, such as those for programs, which no form sends to: the guard alone stands before them.
    `body_limit` is the most bytes a request to the part may send. `middleware` wraps all routes, for what is asked too
    often to be routed. `running` is entered while the application runs.
    """

    name: str
    router: APIRouter
    folder: Path
    steward: bool = False
    body_limit: int = SMALL
    others: tuple[APIRouter, ...] = ()
    middleware: tuple[Callable[[ASGIApp], ASGIApp], ...] = ()
    running: Callable[[FastAPI], AbstractAsyncContextManager[None]] | None = None
