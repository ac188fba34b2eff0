"""Renders pages from templates, and gives the addresses of static files."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, PrefixLoader, StrictUndefined, select_autoescape
from starlette.requests import Request
from starlette.responses import HTMLResponse

from bruit.apps.languages import FALLBACK
from bruit.apps.web.languages import preferred_language, translated, words
from bruit.apps.web.security import csrf

FOLDER = Path(__file__).parent
PLOTLY = "plotly.min.js"


@cache
def environment() -> Environment:
    """The Jinja environment over all parts' templates; `<part>/<file>` is `<part>/templates/<file>`."""
    folders = {path.parent.name: FileSystemLoader(path) for path in FOLDER.glob("*/templates")}
    made = Environment(
        loader=PrefixLoader(folders),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.globals.update(static=static, words=words)
    return made


def page(
    request: Request,
    template: str,
    *,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
    words_of: str | None = None,
    **context: Any,
) -> HTMLResponse:
    """Renders a template, which can use `request`, `parts`, `csrf` for its forms, and `say`, its words.

    A template that stands in a `words.toml`, or whose words are those of another one, is in the browser's language.
    """
    secret, fresh = csrf.session_secret(request)
    known: dict[str, object] = {
        "request": request,
        "parts": _parts(request),
        "csrf": csrf.token(secret),
        "path": request.url.path,
    }
    known |= in_language(request, words_of or template)
    made = HTMLResponse(environment().get_template(template).render({**known, **context}), status, dict(headers or {}))
    if translated(words_of or template):
        made.headers["vary"] = "accept-language"
    if fresh:
        csrf.keep(made, request, secret)
    return made


def in_language(request: Request, template: str) -> dict[str, object]:
    """The language of a page as `lang`, and its words as `say`."""
    language = preferred_language(request) if translated(template) else FALLBACK
    return {"lang": language, "say": words(template, language)}


def static(name: str) -> str:
    """The address of a static file `<part>/<file>` with its content hash, so that browsers may cache it for good."""
    return f"/static/{name}?{version(name)}"


@cache
def version(name: str) -> str:
    """Sixteen hexadecimal digits of the hash of a static file."""
    return hashlib.sha256(static_file(name).read_bytes()).hexdigest()[:16]


@cache
def compressed(name: str) -> bytes:
    """A static file compressed by gzip."""
    return gzip.compress(static_file(name).read_bytes(), 9)


def static_file(name: str) -> Path:
    """The path of a static file; plotly's is inside its wheel."""
    if name == f"base/{PLOTLY}":
        return Path(str(files("plotly") / "package_data" / PLOTLY))
    part, _, file = name.partition("/")
    return FOLDER / part / "static" / file


def _parts(request: Request) -> tuple[Any, ...]:
    parts: tuple[Any, ...] = request.app.state.parts
    return parts
