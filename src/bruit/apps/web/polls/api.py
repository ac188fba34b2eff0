"""The HTTP API of polls, described by OpenAPI at /openapi.json."""

from __future__ import annotations

from typing import Annotated, Any, Final

from fastapi import APIRouter, Depends, HTTPException, Path, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from bruit.apps.web.polls import access
from bruit.apps.web.polls.broadcast import EventStream
from bruit.apps.web.polls.collector import collector_of
from bruit.apps.web.polls.live_poll import LivePoll
from bruit.apps.web.polls.publishing import publish
from bruit.apps.web.polls.question import PollQuestion, search
from bruit.apps.web.polls.report_endpoint import Report, require_admission
from bruit.apps.web.security import steward_key
from bruit.apps.web.security.connection_limits import StreamCount
from bruit.local.heavy_hitters.prefix_search import LAST_SHARE

MOST_IN_ONE_REQUEST: Final = 500
Identity = Annotated[str, Path(pattern="^[a-z2-9]{10}$", description="The ten letters and digits of a poll's link.")]

router = APIRouter(prefix="/api/polls", tags=["collector"])
_REPORT: Final = {"$ref": f"#/components/schemas/{Report.__name__}"}
"""Where the description of many reports has put that of one."""


class Refused(BaseModel):
    """Why the request was refused, in one sentence."""

    detail: str


class Draft(PollQuestion):
    """A question to publish, with the password for its results, or an empty one for none."""

    password: Annotated[str, Field(max_length=200)]


class Published(BaseModel):
    """A new poll; `secret` is shown once."""

    id: str
    secret: str


class Searched(BaseModel):
    """What a device needs to know of an open question: how answers are spelled, and how it draws its round."""

    alphabet: str
    length: int
    rounds: int
    last: Annotated[float, Field(description="The share of devices that answer in the last round.")]


class Described(BaseModel):
    """What a respondent's device needs to know: the question, the protocol and the round."""

    id: str
    kind: str
    question: str
    round: int
    open: bool
    choices: list[str]
    search: Searched | None
    admission: dict[str, str] | None
    protocol: dict[str, Any]


class Reports(BaseModel):
    """Many reports at once, all accepted or none."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reports: Annotated[list[Report], Field(min_length=1, max_length=MOST_IN_ONE_REQUEST)]


class Accepted(BaseModel):
    """The report is stored. `counted` is false when its token was accepted before."""

    accepted: bool
    counted: bool


class AllAccepted(BaseModel):
    """The reports are stored; the number of those that are new."""

    accepted: int
    counted: int


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The OpenAPI description of the errors that a route may answer with."""
    return {status: {"model": Refused} for status in (429, *statuses)}


@router.post(
    "",
    status_code=201,
    dependencies=[Depends(steward_key.require_steward)],  # before the draft is looked at: a law is made to check it
    responses=refusals(400, 401, 403, 413, 422, 503),
)
async def create(request: Request, draft: Draft) -> Published:
    """Publish a poll. Needs the steward's key as a bearer token."""
    question = PollQuestion(**draft.model_dump(exclude={"password"}))
    identity, secret = await publish(collector_of(request), question, draft.password)
    return Published(id=identity, secret=secret)


@router.get("/{identity}", responses=refusals(404, 422, 503))
async def describe(request: Request, identity: Identity) -> Described:
    """The question and the exact law of its noise, for the device of a respondent."""
    return describe_poll(await collector_of(request).poll(identity))


def describe_poll(poll: LivePoll) -> Described:
    """What a respondent's device needs to know of a poll: question, protocol, round."""
    question, stored = poll.question, poll.stored
    return Described(
        id=stored.identity,
        kind=question.kind,
        question=question.question,
        round=stored.round,
        open=stored.is_open,
        choices=question.choices,
        search=describe_search(question),
        admission=describe_key(poll),
        protocol=poll.wire.protocol.to_json(),
    )


def describe_search(question: PollQuestion) -> Searched | None:
    """How a device spells its answer to an open question; None for another kind."""
    if question.kind != "open":
        return None
    found = search(question)
    return Searched(alphabet=found.alphabet, length=found.length, rounds=found.rounds, last=LAST_SHARE)


def describe_key(poll: LivePoll) -> dict[str, str] | None:
    """The public key that verifies the poll's cards; None where it uses no cards."""
    if poll.signing is None:
        return None
    public = poll.signing.public
    return {"n": f"{public.n:0{2 * public.size}x}", "e": str(public.e)}


@router.post(
    "/{identity}/reports",
    response_model=Accepted,
    responses=refusals(400, 403, 404, 409, 410, 413, 422, 423, 503),
    openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": _REPORT}}}},
)
async def send(identity: Identity) -> Response:  # noqa: ARG001
    """Send one noisy report. The response comes once the report is stored."""
    # described here and served by ReportMiddleware, before the routes: only an address that is none gets this far
    raise HTTPException(404, "There is no such poll.")


@router.post("/{identity}/reports/many", responses=refusals(400, 403, 404, 410, 413, 422, 423, 503))
async def send_many(request: Request, identity: Identity, body: Reports) -> AllAccepted:
    """Send up to five hundred noisy reports, such as those a device collected while offline."""
    poll = await collector_of(request).poll(identity)
    rate_reports(request, len(body.reports))
    for one in body.reports:
        require_admission(poll, one)
    given = [(one.token, one.round, one.report) for one in body.reports]
    counted = await collector_of(request).submit(poll, given)
    return AllAccepted(accepted=len(counted), counted=sum(counted))


def rate_reports(request: Request, reports: int) -> None:
    """Counts each report of the request against the rate limit; the request itself counted as the first."""
    wait = request.scope["take_reports"](reports - 1)
    if wait:
        raise HTTPException(429, "Too many reports from this address.", {"retry-after": str(int(wait) + 1)})


@router.get("/{identity}/results", responses=refusals(401, 404, 422, 503))
async def show_results(request: Request, identity: Identity) -> dict[str, Any]:
    """The raw counts of this round and the estimate with its intervals."""
    poll = await collector_of(request).poll(identity)
    access.require_viewer(request, poll)
    return await collector_of(request).results(poll)


@router.get("/{identity}/events", include_in_schema=False)
async def events(request: Request, identity: Identity) -> Response:
    """The results as they change, as server-sent events."""
    poll = await collector_of(request).poll(identity)
    access.require_viewer(request, poll)
    streams: StreamCount = request.app.state.streams
    return EventStream(collector_of(request).watch(poll), streams, signed_in=access.is_admin(request, poll))
