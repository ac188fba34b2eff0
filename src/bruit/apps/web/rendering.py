"""Pages from templates, and the addresses of static files."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from bruit.apps.web import forgery

FOLDER = Path(__file__).parent
PLOTLY = "plotly.min.js"


@cache
def environment() -> Environment:
    """The templates of the base and of every part: `<part>/<file>` stands in `<part>/templates/<file>`."""
    folders = {path.parent.name: FileSystemLoader(path) for path in FOLDER.glob("*/templates")}
    made = Environment(
        loader=PrefixLoader(folders),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals["static"] = static
    return made


def page(
    request: Request, template: str, *, status: int = 200, headers: Mapping[str, str] | None = None, **context: Any
) -> HTMLResponse:
    """A page made from a template, which knows `request`, the `parts`, and `csrf` for its forms."""
    ticket, fresh = forgery.ticket(request)
    known = {"request": request, "parts": _parts(request), "csrf": forgery.token(ticket), "path": request.url.path}
    made = HTMLResponse(environment().get_template(template).render({**known, **context}), status, dict(headers or {}))
    if fresh:
        forgery.keep(made, request, ticket)
    return made


def static(name: str) -> str:
    """The address of a static file `<part>/<file>`, with its content's hash so that browsers may keep it for good."""
    return f"/static/{name}?{version(name)}"


@cache
def version(name: str) -> str:
    """Sixteen digits of the hash of a static file."""
    return hashlib.sha256(static_file(name).read_bytes()).hexdigest()[:16]


def static_file(name: str) -> Path:
    """Where a static file lies; plotly's comes from its wheel."""
    if name == f"base/{PLOTLY}":
        return Path(str(files("plotly") / "package_data" / PLOTLY))
    part, _, file = name.partition("/")
    return FOLDER / part / "static" / file


def _parts(request: Request) -> tuple[Any, ...]:
    parts: tuple[Any, ...] = request.app.state.parts
    return parts
