"""The pages of split polls: inviting a second collector, closing, and the participant's answer page."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, HTTPException, Request
from fastapi import Path as InPath
from starlette.responses import HTMLResponse, RedirectResponse, Response

from bruit.aggregation import task_from_text
from bruit.aggregation.collecting import State
from bruit.apps.languages import format_number
from bruit.apps.web.collectors.first import FirstCollector, first_of
from bruit.apps.web.collectors.invitations import FIELDS, read_form
from bruit.apps.web.languages import preferred_language
from bruit.apps.web.rendering import environment, in_language, page
from bruit.apps.web.security import steward_key
from bruit.errors import InvalidArgument

router = APIRouter(include_in_schema=False)
ANSWER: Final = "collectors/answer.html"
FILES: Final = {"answer.js", "prio3.js", "report.js", "seal.js", "split.css"}
_FOLDER: Final = Path(__file__).parent / "static"
First = Annotated[FirstCollector, Depends(first_of)]
Name = Annotated[str, InPath(pattern=r"^[0-9a-f]{64}$")]
LONGEST: Final = 20_000
"""Characters of a field of the form that are read."""


@router.get("")
async def start(request: Request, first: First) -> Response:
    """A page on what a split poll is and who is trusted; for the steward also the polls and a form for a new one."""
    return await _start(request, first)


@router.post("/invite", dependencies=[Depends(steward_key.require_steward)])
async def invite(request: Request, first: First) -> Response:
    """Creates the invitation of the form and shows its link, or shows the form again with what is wrong."""
    form = await request.form()
    given = {field: str(form.get(field, ""))[:LONGEST].strip() for field in FIELDS}
    try:
        invitation = read_form(given)
    except InvalidArgument as error:
        return await _start(request, first, given=given, wrong=str(error), status=422)
    link = f"{invitation.address}/collectors/join/{await first.invite(invitation)}"
    return await _start(request, first, link=link)


@router.post("/{name}/close", dependencies=[Depends(steward_key.require_steward)])
async def close(name: Name, first: First) -> Response:
    """Closes a poll; the second collector then finishes it."""
    await first.run((await first.collector(name)).close)
    return RedirectResponse("/collectors", 303)


async def _start(request: Request, first: FirstCollector, *, status: int = 200, **known: object) -> Response:
    is_steward = steward_key.is_steward(request)
    records = await first.run(first.records) if is_steward else []
    polls = [(task_from_text(record.definition), record) for record in records]
    shown: dict[str, Any] = {"given": dict.fromkeys(FIELDS, ""), "wrong": "", "link": "", **known}
    return page(request, "collectors/start.html", status=status, steward=is_steward, polls=polls, **shown)


@router.get("/files/{name}")
async def script(request: Request, name: str) -> Response:
    """A script or style of the answer page, compressed to keep the page within twelve kilobytes."""
    if name not in FILES:
        raise HTTPException(404)
    kind = "text/css" if name.endswith(".css") else "text/javascript"
    return _compressed(request, (_FOLDER / name).read_bytes(), kind)


@router.get("/{name}")
async def answer(request: Request, name: Name, first: First) -> Response:
    """The page on which a participant answers, and later reads the result."""
    record = await first.run((await first.collector(name)).read_record)
    task = task_from_text(record.definition)
    known: dict[str, Any] = {"task": task, "kind": task.circuit.name, "open": record.state is State.OPEN}
    known["release"] = json.loads(record.release) if record.release else None
    width = task.noise.half_width(0.95)
    known |= {"width": width, "epsilon": format_number(float(task.epsilon), "g", preferred_language(request))}
    text = environment().get_template(ANSWER).render(known | in_language(request, ANSWER))
    return _compressed(request, text.encode(), "text/html; charset=utf-8")


def _compressed(request: Request, body: bytes, kind: str) -> Response:
    headers = {"vary": "accept-encoding, accept-language"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        body, headers["content-encoding"] = gzip.compress(body, 9), "gzip"
    return HTMLResponse(body, headers=headers, media_type=kind)
