"""The pages of streams: the list, one stream with live updates, and its numbers as a file."""

from __future__ import annotations

from typing import Any, Final
from urllib.parse import urlencode

import polars
from fastapi import APIRouter, HTTPException, Request
from starlette.responses import Response

from bruit.apps.steward.csv_safety import csv_of
from bruit.apps.web.polls.broadcast import EventStream
from bruit.apps.web.rendering import page
from bruit.apps.web.streams.band_figure import band_figure
from bruit.apps.web.streams.following import followers_of
from bruit.continual import Stream
from bruit.errors import UnknownLedger
from bruit.ledger import Ledger

MOST_LINES: Final = 6
"""Lines of a figure that can be told apart; the file has all."""

MOST_PERIODS: Final = 400
"""The last periods that a figure shows."""

router = APIRouter(include_in_schema=False)


@router.get("")
def start(request: Request) -> Response:
    """Every stream of every ledger, with its last period."""
    found = []
    for name in Ledger.names(_store(request)):
        book = Ledger.open(name, _store(request))
        found += [(name, Stream.open(stream, book)) for stream in Stream.names(book)]
    streams = [(_about(book, stream.name), book, stream) for book, stream in found]
    return page(request, "streams/start.html", streams=streams)


@router.get("/show")
def show(request: Request, book: str, stream: str) -> Response:
    """One stream: its figure and last numbers, updated as new periods are published."""
    found = _open(request, book, stream)
    return page(request, "streams/stream.html", about=_about(book, stream), book=book, **_live(found))


@router.get("/live")
def live(request: Request, book: str, stream: str) -> Response:
    """The part of the page that changes with each period."""
    found = _open(request, book, stream)
    headers = {"cache-control": "no-store"}
    return page(request, "streams/live.html", about=_about(book, stream), book=book, headers=headers, **_live(found))


@router.get("/events")
async def events(request: Request, book: str, stream: str) -> Response:
    """Server-sent events: the number of the last period at once, then of each new one."""
    found = _open(request, book, stream)
    return EventStream(followers_of(request).follow((book, stream), found), request.app.state.streams, signed_in=True)


@router.get("/numbers")
def numbers(request: Request, book: str, stream: str) -> Response:
    """Every published number with its interval, as a CSV file."""
    found = _open(request, book, stream)
    series = found.series() if found.period else polars.DataFrame(schema=["period", "label", "value", "low", "high"])
    headers = {"content-disposition": 'attachment; filename="stream.csv"'}
    return Response(csv_of(series), media_type="text/csv; charset=utf-8", headers=headers)


def _live(stream: Stream) -> dict[str, Any]:
    """What the changing part of a page shows, from published numbers alone."""
    period, shown = stream.period, {"stream": stream, "period": stream.period, "figure": None, "rows": []}
    if not period:
        return shown
    series = stream.series(first=max(1, period - MOST_PERIODS + 1))
    last = series.filter(polars.col("period") == period)
    labels = last.sort("value", descending=True)["label"].to_list()[:MOST_LINES]
    kept = [label for label in last["label"].to_list() if label in labels]
    so_far = float(stream.guarantee_after(period).epsilon)
    rows = last.select("label", "value", "low", "high").rows()
    return {
        **shown,
        "figure": band_figure(series, kept),
        "rows": rows,
        "so_far": so_far,
        "hidden": len(last) - len(kept),
    }


def _open(request: Request, book: str, stream: str) -> Stream:
    try:
        if "\0" in book + stream:  # PostgreSQL would refuse the question itself
            raise UnknownLedger(stream)
        return Stream.open(stream, Ledger.open(book, _store(request)))
    except UnknownLedger:
        raise HTTPException(404, "There is no stream of this name.") from None


def _about(book: str, stream: str) -> str:
    """The query that names a stream: names may hold any character."""
    return urlencode({"book": book, "stream": stream})


def _store(request: Request) -> str:
    return str(request.app.state.settings.database)
