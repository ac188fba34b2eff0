"""Loading a table, its risk report, a question about it, its preview, and the release."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, HTTPException, Query, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from bruit.anonymity import report
from bruit.apps.steward import NAMED, SIZES, limited, preview, price_of, python_of, sections
from bruit.apps.web.logs import OWN, place
from bruit.apps.web.rendering import page
from bruit.apps.web.workbench import room
from bruit.apps.web.workbench.asking import STATISTICS, Asked, asked
from bruit.apps.web.workbench.recipes import Recipe, entry_of
from bruit.apps.web.workbench.room import router
from bruit.apps.web.workbench.shelf import LARGEST, Loaded
from bruit.apps.web.workbench.uncertainty import expected_sampling
from bruit.errors import BruitError, BudgetExceeded, StorageError
from bruit.ledger import Ledger
from bruit.privacy import EACH_ROW, LOCAL
from bruit.tables import Table

log = logging.getLogger(OWN)

ONCE = 32
"""Digits of the number that a preview carries, so that it is paid once."""


async def filled(request: Request) -> dict[str, str]:
    """The fields of a form as texts."""
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


Form = Annotated[dict[str, str], Depends(filled)]
Columns = Annotated[list[str] | None, Query()]


@router.get("")
def start(request: Request) -> Response:
    """What is loaded, the books, and where to begin."""
    books = [Ledger.open(name, room.store(request)) for name in Ledger.names(room.store(request))]
    tables = room.session(request).tables.values()
    return page(request, "workbench/start.html", tables=tables, books=books, largest=LARGEST, address=room.address)


@router.post("/tables")
async def load(request: Request, name: str) -> Response:
    """Takes the bytes of a file as they come."""
    found = await room.session(request).load(name, request.stream())
    return JSONResponse({"address": f"/workbench/tables/{found.key}"}, 201)


@router.get("/tables/{key}")
def table(request: Request, key: str) -> Response:
    """The columns of a table, and what can be done with it."""
    return page(request, "workbench/table.html", loaded=room.loaded(request, key), books=_books(request))


@router.post("/tables/{key}/remove")
def remove(request: Request, key: str) -> Response:
    """Takes a table off the shelf."""
    room.session(request).remove(key)
    return RedirectResponse("/workbench", 303)


@router.get("/tables/{key}/risk")
def risk(request: Request, key: str, quasi: Columns = None, sensitive: Columns = None) -> Response:
    """What the table gives away, for its curator."""
    one = room.loaded(request, key)
    found = report(one.table(EACH_ROW), quasi=quasi or (), sensitive=sensitive or ())
    return page(request, "workbench/risk.html", loaded=one, report=found, sections=sections(found))


@router.get("/tables/{key}/ask")
def ask(request: Request, key: str) -> Response:
    """The form of a question, empty: nothing private has a default."""
    return _form(request, room.loaded(request, key), {})


@router.post("/tables/{key}/preview")
def show_preview(request: Request, key: str, form: Form) -> Response:
    """The error to expect and the price, before anything is spent; a question that lacks something says what."""
    one = room.loaded(request, key)
    try:
        question = asked(form)
        told = preview(question.question, _limited(one, question), room.book(request, question.book), question.price)
    except StorageError:
        raise
    except BruitError as error:
        return _form(request, one, form, refused=str(error), status=400)
    return _form(request, one, form, told=told, once=secrets.token_hex(ONCE // 2), sampled=_sampled(question))


@router.post("/tables/{key}/release")
def release(request: Request, key: str, form: Form) -> Response:
    """Pays and releases, once for each preview however often the button is pressed."""
    one, session, once = room.loaded(request, key), room.session(request), form.get("once", "")
    if len(once) != ONCE:
        raise HTTPException(400, "Look at the preview first: the release is asked for from there.")
    question = asked(form)
    book = room.book(request, question.book)
    with session.paying:
        if once not in session.done:
            try:
                session.done[once] = _released(request, one, question, book)
            except BudgetExceeded:
                return _exceeded(request, one, question, book, form)
    return RedirectResponse(session.done[once], 303)


def _released(request: Request, one: Loaded, question: Asked, book: Ledger) -> str:
    """Pays, releases and keeps how it was made; the address of the release."""
    table = _limited(one, question)
    made = question.question.release(table, price_of(book, question.price))
    number = entry_of(book, made).number
    python = python_of(question.question, table, file=one.name, ledger=book.name, price=question.price)
    try:
        room.recipes(request).keep(book.name, number, Recipe(question, python))
    except OSError as error:  # it is paid for and stands in the book: nobody should have to press again
        log.error("%s", place(error))
    return room.address("release", book=book.name, number=number)


def _exceeded(request: Request, one: Loaded, question: Asked, book: Ledger, form: Mapping[str, str]) -> Response:
    """Nothing was charged: what is left, what can be done, and the question as it was filled in."""
    context: dict[str, Any] = {
        "loaded": one,
        "book": book,
        "asked": question,
        "form": _kept(form),
        "address": room.address,
    }
    return page(request, "workbench/exceeded.html", status=409, **context)


def _kept(form: Mapping[str, str]) -> dict[str, str]:
    """The fields of a question, to be filled in again."""
    return {name: value for name, value in form.items() if name not in ("csrf", "once")}


def _limited(one: Loaded, question: Asked) -> Table:
    return limited(one.table(question.person), question.rows, question.groups)


def _sampled(question: Asked) -> list[tuple[int, float | None]]:
    """What sampling would do in tables of several sizes."""
    sizes = SIZES if question.question.size is None else (question.question.size,)
    return [(size, expected_sampling(question.question, size, rows=question.rows or 1)) for size in sizes]


def _books(request: Request) -> list[Ledger]:
    """The books that a table can be paid from: those kept by a curator."""
    every = (Ledger.open(name, room.store(request)) for name in Ledger.names(room.store(request)))
    return [book for book in every if book.neighbours is not LOCAL]


def _form(request: Request, one: Loaded, form: Mapping[str, str], *, status: int = 200, **more: Any) -> Response:
    context: dict[str, Any] = {"told": None, "refused": "", "once": "", "sampled": [], **more}
    return page(
        request,
        "workbench/ask.html",
        status=status,
        loaded=one,
        form=_kept(form),
        books=_books(request),
        statistics=STATISTICS,
        named=sorted(NAMED),
        each_row=EACH_ROW,
        address=room.address,
        number=_number,
        **context,
    )


def _number(value: float) -> str:
    """Four digits, with thousands parted rather than as powers of ten."""
    return f"{float(f'{value:.4g}'):,.10g}"
