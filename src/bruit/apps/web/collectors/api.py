"""The HTTP API of the first collector: invitations, reports, and the protocol steps of the second collector."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request
from starlette.responses import Response

from bruit.aggregation.collecting import STEPS, Reception
from bruit.apps.web.collectors.first import PAGE, FirstCollector, first_of
from bruit.apps.web.collectors.invitations import Invitation, Joining
from bruit.apps.web.security import steward_key
from bruit.errors import ProtocolError

router = APIRouter(prefix="/collectors/api", include_in_schema=False)
Name = Annotated[str, Path(pattern=r"^[0-9a-f]{64}$")]
First = Annotated[FirstCollector, Depends(first_of)]

REFUSED = {
    Reception.REPLAYED: (409, "This report was refused: its number or its code was used for another report."),
    Reception.CLOSED: (423, "This poll is closed; nothing was counted."),
}


@router.post("/invitations", dependencies=[Depends(steward_key.require_steward)])
async def invite(invitation: Invitation, first: First) -> dict[str, str]:
    """An invitation for the second collector; whoever has its link becomes that collector."""
    invitation.circuit()  # refused here, not when somebody joins
    return {"link": f"{invitation.address}/collectors/join/{await first.invite(invitation)}"}


@router.post("/join/{secret}")
async def join(secret: str, joining: Joining, first: First) -> dict[str, str]:
    """The task that both collectors now share, as its canonical text, whose hash is the task's name."""
    task = await first.join(secret, joining)
    return {"task": task.text}


@router.get("/{name}")
async def describe(name: Name, first: First) -> dict[str, Any]:
    """A task, its state, and its release once there is one."""
    record = await first.run((await first.collector(name)).read_record)
    release = json.loads(record.release) if record.release else None
    return {"task": record.definition, "state": record.state, "received": record.received, "release": release}


@router.post("/{name}/reports")
async def receive(name: Name, request: Request, first: First) -> dict[str, bool]:
    """Stores a report: nonce, token, public share, first share and sealed half as bytes. Equal bytes count once."""
    try:
        outcome = await first.submit(name, await _read(request, await first.report_size(name)))
    except ProtocolError as error:
        raise HTTPException(422, f"The report was refused: {error}.") from None
    if outcome in REFUSED:
        raise HTTPException(*REFUSED[outcome])
    return {"accepted": True, "counted": outcome is Reception.KEPT}


async def _read(request: Request, most: int) -> bytes:
    """The body, of which no more is kept than a report can have."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > most:
            raise ProtocolError(f"it is longer than {most} bytes, which every report of this poll has")
    return body


@router.post("/{name}/close", dependencies=[Depends(steward_key.require_steward)])
async def close(name: Name, first: First) -> dict[str, int]:
    """Closes the poll; every report that was confirmed before is included."""
    collector = await first.collector(name)
    await first.run(collector.close)
    return {"received": (await first.run(collector.read_record)).received}


# ------------------------------------------------------------ for the second collector
def _secret(request: Request) -> str:
    scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
    return bearer if scheme.lower() == "bearer" else ""


@router.get("/{name}/rows")
async def rows(
    name: Name, request: Request, first: First, after: Annotated[str, Query(max_length=32)] = ""
) -> Response:
    """The next reports of a closed poll for the second collector: nonce, token, public share, sealed half."""
    await first.require_second(name, _secret(request))
    collector = await first.collector(name)
    try:
        found = await first.run(collector.page, bytes.fromhex(after), PAGE)
    except (ProtocolError, ValueError) as error:
        raise HTTPException(409, f"{error}.") from None
    body = b"".join(row.nonce + row.token + row.public + row.sealed for row in found)
    return Response(body, media_type="application/octet-stream")


@router.post("/{name}/steps/{step}")
async def answer(name: Name, step: str, request: Request, first: First) -> Response:
    """The first collector's answer to a protocol step; repeating the step gives the same answer."""
    await first.require_second(name, _secret(request))
    if step not in STEPS:
        raise HTTPException(404, "There is no such step.")
    try:
        answered = await first.answer(name, step, await request.body())
    except ProtocolError as error:
        raise HTTPException(409, f"{error}.") from None
    return Response(answered, media_type="application/octet-stream")
