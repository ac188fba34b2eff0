"""Routes that sign a card's blinded message for devices, and that make cards for the poll's owner."""

from __future__ import annotations

import asyncio
from typing import Annotated, Final

import segno
from fastapi import APIRouter, HTTPException, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from bruit.apps.web.admission import issuing
from bruit.apps.web.digits import read_digits
from bruit.apps.web.polls import access
from bruit.apps.web.polls.api import Identity, refusals
from bruit.apps.web.polls.collector import collector_of
from bruit.apps.web.polls.live_poll import LivePoll
from bruit.apps.web.polls.store.admissions import Claim
from bruit.apps.web.rendering import page
from bruit.errors import ProtocolError

router = APIRouter(prefix="/api/polls", tags=["collector"])
pages = APIRouter(include_in_schema=False)

MOST_CARDS: Final = 500
"""Cards made at once."""
REFUSED: Final = {
    Claim.USED: (409, "This card was used on another device."),
    Claim.UNKNOWN: (403, "This is no card of this poll."),
}


class Asking(BaseModel):
    """A request for a signature: a card's code and a blinded message, in hexadecimal."""

    model_config = ConfigDict(extra="forbid", strict=True)

    code: Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
    blinded: Annotated[str, Field(pattern=r"^[0-9a-f]{512}$")]


class Signed(BaseModel):
    """The blind signature in hexadecimal; repeating the request returns the same one."""

    signature: str


@router.post("/{identity}/admissions", responses=refusals(400, 403, 404, 409, 413, 422, 503))
async def sign(request: Request, identity: Identity, asking: Asking) -> Signed:
    """Sign a blinded message once for a card. The signer learns neither the message nor which report carries it."""
    collector = collector_of(request)
    poll = await collector.poll(identity)
    if poll.signing is None:
        raise HTTPException(404, "This poll asks for no card.")
    hashes = issuing.hash_code(asking.code), issuing.hash_code(asking.blinded)
    claim = await asyncio.to_thread(collector.admissions.claim, identity, *hashes)
    if claim in REFUSED:
        status, sentence = REFUSED[claim]
        raise HTTPException(status, sentence)
    try:
        signed = await asyncio.to_thread(poll.signing.sign, bytes.fromhex(asking.blinded))
    except ProtocolError as error:
        raise HTTPException(422, f"It was not signed: {error}.") from None
    return Signed(signature=signed.hex())


@pages.post("/{identity}/cards")
async def make_cards(request: Request, identity: Identity) -> Response:
    """Makes cards, each with a link and its QR code, shown only once: only hashes of their codes are stored."""
    collector = collector_of(request)
    poll = await collector.poll(identity)
    access.require_admin(request, poll)
    count = _count(poll, str((await request.form()).get("count", "")))
    codes = issuing.new_codes(count)
    await asyncio.to_thread(collector.admissions.add, identity, [issuing.hash_code(code) for code in codes])
    base = request.app.state.settings.public_url or str(request.base_url).rstrip("/")
    links = [f"{base}/p/{identity}#{code}" for code in codes]
    cards = [(link, segno.make(link, error="m").svg_inline(scale=3, border=2, light="white")) for link in links]
    return page(request, "admission/cards.html", poll=poll, cards=cards)


def _count(poll: LivePoll, given: str) -> int:
    if poll.signing is None:
        raise HTTPException(404, "This poll asks for no card.")
    count = read_digits(given, most=MOST_CARDS)
    if not count:
        raise HTTPException(422, f"From 1 to {MOST_CARDS} cards are made at once.")
    return count
