"""The pages of a question about a loaded table: form, preview and release."""

from __future__ import annotations

import logging
import secrets
from collections.abc import Mapping
from typing import Any

from fastapi import HTTPException, Request
from starlette.responses import RedirectResponse, Response

from bruit.apps.steward.answers import answer_table
from bruit.apps.steward.queries import preview_query
from bruit.apps.web.rendering import page
from bruit.apps.web.security.safe_logs import OWN, place
from bruit.apps.web.workbench import context, question_form
from bruit.apps.web.workbench.context import router
from bruit.apps.web.workbench.kept_answers import KeptAnswer
from bruit.apps.web.workbench.question_form import Asked, read_question
from bruit.apps.web.workbench.table_pages import Form
from bruit.apps.web.workbench.uploads import Loaded
from bruit.core.neighbours import EACH_ROW
from bruit.errors import BruitError, BudgetExceeded, StorageError
from bruit.ledger import Ledger
from bruit.tables.schema import Schema

log = logging.getLogger(OWN)

ONCE = 32
"""Digits of the number that a preview carries, so that it is paid once."""


@router.get("/tables/{key}/ask")
def ask(request: Request, key: str) -> Response:
    """The empty form of a question; no privacy setting has a default."""
    one = context.find_table(request, key)
    if one.schema is None:
        return RedirectResponse(f"/workbench/tables/{key}", 303)
    return _form(request, one, {})


@router.post("/tables/{key}/preview")
def show_preview(request: Request, key: str, form: Form) -> Response:
    """The question in words, its price and precision, before payment; or what is missing."""
    one = context.find_table(request, key)
    try:
        asked = read_question(form, schema_of(one))
        book = context.book(request, asked.book)
        found = preview_query(asked.query(context.plans(request, book)), book, asked.price)
    except StorageError:
        raise
    except BruitError as error:
        return _form(request, one, form, refused=str(error), status=400)
    return _form(request, one, form, found=found, asked=asked, once=secrets.token_hex(ONCE // 2))


@router.post("/tables/{key}/release")
def release(request: Request, key: str, form: Form) -> Response:
    """Pays and releases, once per preview however often the button is pressed."""
    one, session, once = context.find_table(request, key), context.session(request), form.get("once", "")
    if len(once) != ONCE:
        raise HTTPException(400, "Look at the preview first: the release is asked for from there.")
    asked = read_question(form, schema_of(one))
    book = context.book(request, asked.book)
    with session.paying:
        if once not in session.done:
            try:
                session.done[once] = _pay_and_release(request, asked, book)
            except BudgetExceeded:
                again = f"/workbench/tables/{key}/preview"
                return over_budget(request, book.name, asked.price["epsilon"], form, again=again)
    return RedirectResponse(session.done[once], 303)


def _pay_and_release(request: Request, asked: Asked, book: Ledger) -> str:
    """Pays, releases and keeps how the answer is arranged; returns the address of the release."""
    query = asked.query(context.plans(request, book))
    made = query.release(book, asked.price)
    assert made.receipt is not None  # what a book paid for has one
    number = made.receipt.number
    kept = KeptAnswer.of(asked.to_json(), context.schemas(request), answer_table(query, made))
    try:
        context.kept_answers(request).keep(book.name, number, kept)
    except OSError as error:  # it is paid for and stands in the book: nobody should have to press again
        log.error("%s", place(error))
    return context.address("release", book=book.name, number=number)


def over_budget(request: Request, book: str, price: str, form: Mapping[str, str], *, again: str) -> Response:
    """The page of a refused charge: what is left, what can be done, and the question as it was filled in."""
    shown: dict[str, Any] = {"book": context.book(request, book), "price": price, "form": question_fields(form)}
    return page(request, "workbench/exceeded.html", status=409, again=again, address=context.address, **shown)


def question_fields(form: Mapping[str, str]) -> dict[str, str]:
    """The fields of a question, to be filled in again."""
    return {name: value for name, value in form.items() if name not in ("csrf", "once")}


def schema_of(one: Loaded) -> Schema:
    """The schema of a table, which must have been stated."""
    if one.schema is None:
        raise HTTPException(400, "State the schema of this table first.")
    return one.schema


def _form(request: Request, one: Loaded, form: Mapping[str, str], *, status: int = 200, **more: Any) -> Response:
    schema = schema_of(one)
    shown: dict[str, Any] = {"found": None, "asked": None, "refused": "", "once": "", **more}
    return page(
        request,
        "workbench/ask.html",
        status=status,
        loaded=one,
        schema=schema,
        form=question_fields(form),
        books=context.paying_books(request, schema.person),
        choices=question_form,
        each_row=EACH_ROW,
        address=context.address,
        **shown,
    )
