"""The pages of polls: create, share, answer and watch."""

from __future__ import annotations

import asyncio
import gzip
from typing import Any, Final
from urllib.parse import urlsplit

import segno
from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response, StreamingResponse

from bruit.apps.web.admission.routes import pages as admission_pages
from bruit.apps.web.digits import read_digits
from bruit.apps.web.languages import Words, preferred_language, words
from bruit.apps.web.polls import access, exports, forms, plain_words, results
from bruit.apps.web.polls.api import Identity, describe_poll
from bruit.apps.web.polls.collector import collector_of
from bruit.apps.web.polls.live_poll import LivePoll
from bruit.apps.web.polls.publishing import publish
from bruit.apps.web.polls.question import PollQuestion, protocol, search
from bruit.apps.web.rendering import environment, in_language, page
from bruit.apps.web.report_format import Wire
from bruit.apps.web.security import steward_key
from bruit.apps.web.security.csp import content_security_policy

router = APIRouter(include_in_schema=False)
short = APIRouter(include_in_schema=False)
ANSWER: Final = "polls/answer.html"
DASHBOARD: Final = "polls/dashboard.html"
"""Its words are those of the page to project too."""
_steward = [Depends(steward_key.require_steward)]


# ------------------------------------------------------------ making one
@router.get("")
async def start(request: Request) -> Response:
    """The steward's list of polls; for others, a page on what a poll is."""
    polls = await asyncio.to_thread(collector_of(request).store.all) if steward_key.is_steward(request) else []
    live = [await collector_of(request).poll(poll.identity) for poll in polls[:200]]
    return page(request, "polls/start.html", polls=live, steward=steward_key.is_steward(request))


@router.get("/new", dependencies=_steward)
async def new(request: Request) -> Response:
    """An empty form for a new poll."""
    return page(request, "polls/new.html", given=dict.fromkeys(forms.FIELDS, ""), wrong=[])


@router.post("/preview", dependencies=_steward)
async def preview(request: Request) -> Response:
    """What the poll would cost and how precise it would be; or the form again with what is wrong."""
    given = forms.read_fields(await request.form())
    (question, wrong), (people, unknown) = forms.read_question(given), forms.read_people(given)
    if question is None or people is None or (await request.form()).get("change"):
        wrong = [*wrong, *unknown]
        return page(request, "polls/new.html", status=422 if wrong else 200, given=given, wrong=wrong)
    wire = Wire(await asyncio.to_thread(protocol, question))
    context: dict[str, Any] = {
        "given": given,
        "question": question,
        "people": people,
        "error": await asyncio.to_thread(results.error_at, question, wire, people),
        "protocol": type(wire.protocol).__name__,
        "meaning": plain_words.meaning(question),
        "noise": plain_words.noise(wire),
        "view": plain_words.noise_view(question, wire, people),
        "errors": await asyncio.to_thread(results.error_table, question, wire),
        "wanted": [(error, results.people_for(wire, error)) for error in _errors(question)],
        "reach": _reach(question),
        "one_device": plain_words.one_device(),
    }
    return page(request, "polls/preview.html", **context)


def _errors(question: PollQuestion) -> list[float]:
    """Errors worth aiming at: ten, five and two percentage points, or as much of the range."""
    return [] if question.kind in ("text", "open") else [_reach(question) * part for part in (0.1, 0.05, 0.02)]


def _reach(question: PollQuestion) -> float:
    """The width of the range of possible answers; an error this large would say nothing."""
    return float(question.high or 0) - float(question.low or 0) if question.kind == "number" else 1.0


@router.post("/publish", dependencies=_steward)
async def publish_poll(request: Request) -> Response:
    """Publishes the poll that was previewed."""
    given = forms.read_fields(await request.form())
    question, wrong = forms.read_question(given)
    if question is None:
        return page(request, "polls/new.html", status=422, given=given, wrong=wrong)
    identity, secret = await publish(collector_of(request), question, given["password"])
    return RedirectResponse(f"/polls/{identity}/enter/{secret}", 303)


# ------------------------------------------------------------ watching it
@router.get("/{identity}/enter/{secret}")
async def enter(request: Request, identity: Identity, secret: str) -> Response:
    """Signs in to a poll by its secret link."""
    poll = await collector_of(request).poll(identity)
    if not access.opens(secret, poll.stored):
        raise HTTPException(401, "This is not the secret link of the poll.")
    return await _enter_response(request, poll, secret, link=secret)


@router.get("/{identity}/password")
async def ask_password(request: Request, identity: Identity) -> Response:
    """The form for a poll's password."""
    poll = await collector_of(request).poll(identity)
    return page(request, "polls/password.html", poll=poll, wrong=False)


@router.post("/{identity}/password")
async def try_password(request: Request, identity: Identity) -> Response:
    """Signs in to a poll by its password."""
    poll = await collector_of(request).poll(identity)
    given = str((await request.form()).get("password", ""))[:200]
    salt = poll.stored.password_salt or "00" * 16
    secret = await asyncio.to_thread(access.stretch_password, given, salt)
    if not access.opens(secret, poll.stored):
        return page(request, "polls/password.html", status=401, poll=poll, wrong=True)
    return await _enter_response(request, poll, secret)


async def _enter_response(request: Request, poll: LivePoll, secret: str, *, link: str = "") -> Response:
    made = RedirectResponse(f"/polls/{poll.stored.identity}", 303)
    await access.keep(made, request, poll.stored, secret, link=link)
    return made


@router.get("/{identity}")
async def dashboard(request: Request, identity: Identity) -> Response:
    """The live dashboard of a poll."""
    return await _results(request, identity, DASHBOARD)


@router.get("/{identity}/present")
async def present(request: Request, identity: Identity) -> Response:
    """The page to project: the question, the way in and the live chart; no button that changes the poll."""
    return await _results(request, identity, "polls/present.html")


async def _results(request: Request, identity: str, template: str) -> Response:
    poll = await collector_of(request).poll(identity)
    if poll.question.results != "everyone" and not access.is_admin(request, poll):
        return RedirectResponse(f"/polls/{identity}/password", 303)
    return await _dashboard(request, poll, template)


async def _dashboard(request: Request, poll: LivePoll, template: str) -> Response:
    base, secret, language = _base(request), access.link_secret(request, poll), preferred_language(request)
    link = f"{base}/p/{poll.stored.identity}"
    told = {
        "id": poll.stored.identity,
        "kind": poll.question.kind,
        "errors": await collector_of(request).error_table(poll),
        "low": poll.question.low,
        "high": poll.question.high,
        "rounds": poll.question.rounds,
        "results": await collector_of(request).results_at_hand(poll),
        "say": words(DASHBOARD, language)["script"],
    }
    return page(
        request,
        template,
        words_of=DASHBOARD,
        poll=poll,
        link=link,
        only_here=_is_loopback(link),
        qr=segno.make(link, error="m").svg_inline(
            border=2, light="white", svgclass="qr", lineclass=None, omitsize=True
        ),
        admin=access.is_admin(request, poll),
        admin_link=f"{base}/polls/{poll.stored.identity}/enter/{secret}" if secret else None,
        told=told,
        postgres=request.app.state.settings.database.startswith("postgresql"),
        meaning=plain_words.meaning(poll.question, language),
        noise=plain_words.noise(poll.wire, language),
        view=plain_words.noise_view(poll.question, poll.wire, plain_words.MOST_SHOWN, language),
        one_device=plain_words.one_device(language),
        code=exports.code(poll),
        cards=await asyncio.to_thread(collector_of(request).admissions.count, poll.stored.identity),
    )


def _is_loopback(link: str) -> bool:
    """Whether a link leads no other device here."""
    host = urlsplit(link).hostname or ""
    return host == "localhost" or host == "::1" or host.startswith("127.")


def _base(request: Request) -> str:
    return request.app.state.settings.public_url or str(request.base_url).rstrip("/")


router.include_router(admission_pages)


@router.post("/{identity}/{action}")
async def change(request: Request, identity: Identity, action: str) -> Response:
    """Opens, closes or deletes a poll, or ends the round that the page showed: pressed twice, it ends one."""
    poll, collector = await collector_of(request).poll(identity), collector_of(request)
    access.require_admin(request, poll)
    if action == "delete":
        await collector.forget(poll)
        return RedirectResponse("/polls", 303)
    if action in ("open", "close"):
        await collector.set_open(poll, is_open=action == "open")
    elif action == "next-round" and poll.has_rounds:
        ends = read_digits(str((await request.form()).get("round", "")))
        if ends == poll.stored.round:
            _require_next(poll)
            await collector.next_round(poll, ends=ends)
    else:
        raise HTTPException(404, "A poll can be opened, closed, asked again where it was planned so, or deleted.")
    return RedirectResponse(f"/polls/{identity}", 303)


def _require_next(poll: LivePoll) -> None:
    """Refuses the next round of an open question whose last one has begun, or whose present one has no answer."""
    if poll.question.kind != "open":
        return
    if poll.stored.round >= search(poll.question).rounds:
        raise HTTPException(409, "This was the last round: what the question has found stands there.")
    if not poll.counts[0]:
        raise HTTPException(409, "Nobody has answered in this round yet: the next one asks about what it finds.")


# ------------------------------------------------------------ taking it away
@router.get("/{identity}/{name}")
async def export(request: Request, identity: Identity, name: str) -> Response:
    """Downloads the reports, the estimates, or the code that computes one from the other."""
    poll = await collector_of(request).poll(identity)
    access.require_viewer(request, poll)
    headers = {"content-disposition": f'attachment; filename="{name}"'}
    if name == "reports.csv":
        rows = exports.reports_csv(collector_of(request).store, poll)
        return StreamingResponse(rows, media_type="text/csv", headers=headers)
    if name == "estimates.csv":
        text = exports.estimates_csv(poll, await collector_of(request).results(poll))
        return PlainTextResponse(text, media_type="text/csv", headers=headers)
    if name == "reproduce.py":
        return PlainTextResponse(exports.code(poll), media_type="text/x-python", headers=headers)
    raise HTTPException(404, "There is reports.csv, estimates.csv and reproduce.py.")


# ------------------------------------------------------------ answering it
@short.get("/p/{identity}")
async def answer(request: Request, identity: Identity) -> Response:
    """The participant's page: sets no cookie, submits no form; its script randomises the answer."""
    poll = await collector_of(request).poll(identity)
    language, shown = preferred_language(request), in_language(request, ANSWER)
    say = words(ANSWER, language)
    block = describe_poll(poll).model_dump(include={"id", "round", "open", "protocol", "admission", "search"})
    block |= {"epsilon": poll.question.epsilon, "forever": poll.question.forever}  # what is shown, and checked there
    block["say"] = say["script"]
    if poll.question.kind == "open":
        block["rounds"] = words("polls/rounds", language)
    context = {"question": poll.question, "described": block, "choices": _choices(poll, say)}
    context |= {"meaning": plain_words.meaning(poll.question, language)[0]}
    context |= {"noise": plain_words.noise(poll.wire, language)}
    body = environment().get_template(ANSWER).render({**shown, **context}).encode()
    headers = {
        "content-security-policy": content_security_policy().replace("form-action 'self'", "form-action 'none'"),
        "vary": "accept-encoding, accept-language",
    }
    if "gzip" in request.headers.get("accept-encoding", ""):  # long lists come thrice; there is no secret to guess
        body, headers["content-encoding"] = gzip.compress(body, 6), "gzip"
    return HTMLResponse(body, headers=headers)


def _choices(poll: LivePoll, say: Words) -> list[tuple[str, object]]:
    """The answers in the order in which they are shown, each with its label."""
    if poll.question.kind == "yes-no":
        return [(answer, say[answer]) for answer in ("yes", "no")]
    return [(answer, answer) for answer in poll.question.choices]
