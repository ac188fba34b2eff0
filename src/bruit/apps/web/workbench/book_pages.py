"""The pages of ledgers, their statements, and their releases."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from fastapi import HTTPException, Request
from markupsafe import Markup
from starlette.responses import RedirectResponse, Response

from bruit.apps.steward.answers import HIGH, LABEL, LOW, UNNAMED, AnswerTable
from bruit.apps.steward.charts import Chart, charts_of, svg_for_any_width
from bruit.apps.steward.quantile_curves import QuantileCurve
from bruit.apps.web.rendering import page
from bruit.apps.web.workbench import context, synthetic_pages
from bruit.apps.web.workbench.context import router
from bruit.apps.web.workbench.downloads import KINDS, find_release
from bruit.apps.web.workbench.synthetic_view import SyntheticView
from bruit.apps.web.workbench.table_pages import Form
from bruit.core.neighbours import EACH_ROW, Neighbours
from bruit.errors import BruitError, StorageError
from bruit.ledger import Entry, Ledger, statement
from bruit.ledger import page as statement_page
from bruit.tables.versions.registering import WHAT as REGISTERING

OFFERED = (
    (Neighbours.ADD_OR_REMOVE_ONE.value, "One person more or less: whether somebody is in the table at all"),
    (Neighbours.REPLACE_ONE.value, "One person replaced by another: the size of the table is known"),
)
HEADS = {UNNAMED + LOW: "from", UNNAMED + HIGH: "to"}
"""How a page calls the columns of a release whose files call them otherwise."""

MOST_SHOWN = 100


@router.get("/new-book")
def new_book(request: Request, person: str = "") -> Response:
    """The form of a new ledger, with only the person filled in where a table's page linked here."""
    return _form(request, {"person": person})


@router.post("/new-book")
def create(request: Request, form: Form) -> Response:
    """Creates a ledger on the stated terms."""
    stated = {name: text.strip() for name, text in form.items()}
    if not stated.get("name", "").isprintable():  # PostgreSQL keeps not every sign, and nobody could type it again
        return _form(request, stated, refused="the name of a book is of letters, digits and signs", status=400)
    try:
        book = Ledger(stated.get("name", ""), **_terms(stated), store=context.store(request))
    except StorageError:
        raise
    except BruitError as error:
        return _form(request, stated, refused=str(error), status=400)
    return RedirectResponse(context.address("book", name=book.name), 303)


@router.get("/book")
def show(request: Request, name: str) -> Response:
    """A ledger: its guarantee, what is left, every charge."""
    book = context.book(request, name)
    shown: dict[str, Any] = {"told": statement(book), "registering": REGISTERING}
    return page(request, "workbench/book.html", book=book, address=context.address, **shown)


@router.get("/registered")
def registered(request: Request) -> Response:
    """The data sets that are registered in the ledgers, each with its versions in order."""
    tables: dict[tuple[Ledger, str], list[Entry]] = {}
    for book in context.books(request):
        for entry in book.entries:
            if entry.what == REGISTERING and entry.release is not None:
                tables.setdefault((book, entry.release.details["table"]), []).append(entry)
    return page(request, "workbench/registered.html", tables=tables, address=context.address)


@router.get("/book/statement")
def download_statement(request: Request, name: str, kind: str) -> Response:
    """The statement of a ledger as JSON or as an HTML page."""
    told = statement(context.book(request, name))
    if kind == "html":
        return _file(statement_page(told).encode(), "statement.html", "text/html; charset=utf-8")
    return _file(json.dumps(told, ensure_ascii=False, indent=2).encode(), "statement.json", KINDS["json"])


@router.get("/release")
def release(request: Request, book: str, number: int) -> Response:
    """A release: a chart of its values with intervals, the values, its guarantee and its files."""
    view = find_release(request, book, number)
    if isinstance(view, SyntheticView):
        return synthetic_pages.show(request, view)
    answer = view.answer
    charts = [] if answer is None else charts_of(answer)
    return page(
        request,
        "workbench/release.html",
        view=view,
        charts=[(each, Markup(svg_for_any_width(each))) for each in charts],
        rows=[] if answer is None else [[_format_cell(cell) for cell in row] for row in _first(answer)],
        more=0 if answer is None else max(len(answer.frame) - MOST_SHOWN, 0),
        heads=_heads(answer, charts),
        python=view.file("py"),
        address=context.address,
    )


@router.get("/release/statement")
def print_statement(request: Request, book: str, number: int) -> Response:
    """The statement of a release as a page to print."""
    view = find_release(request, book, number)
    answer = view.answer
    charts = [] if answer is None else charts_of(answer)
    drawn = [Markup(svg_for_any_width(each)) for each in charts]
    shown: dict[str, Any] = {"view": view, "statement": view.statement, "charts": drawn}
    rows = [] if answer is None else [[_format_cell(cell) for cell in row] for row in _first(answer)]
    heads = _heads(answer, charts)
    return page(request, "workbench/statement.html", rows=rows, heads=heads, address=context.address, **shown)


@router.get("/release/file")
def download(request: Request, book: str, number: int, kind: str) -> Response:
    """One of the files of a release."""
    content = find_release(request, book, number).file(kind) if kind in KINDS else None
    if content is None:
        raise HTTPException(404, "There is no such file of this release.")
    return _file(content, f"release-{number}.{kind}", KINDS[kind])


def _first(answer: AnswerTable) -> list[tuple[object, ...]]:
    return answer.frame.head(MOST_SHOWN).rows()


def _heads(answer: AnswerTable | None, charts: Sequence[Chart]) -> dict[str, str]:
    """What the columns are called; the label of a quantile is the share of rows below it."""
    is_labelled = answer is not None and answer.keys == (LABEL,)
    is_curve = is_labelled and any(isinstance(chart, QuantileCurve) for chart in charts)
    return HEADS | ({LABEL: "share of rows below"} if is_curve else {})


def _terms(stated: dict[str, str]) -> dict[str, Any]:
    """The terms as they were stated; the ledger says what is wrong with them."""
    kind, _, order = stated.get("by", "").partition(":")
    chosen = [each for each in Neighbours if each.value == stated.get("neighbours")]
    return {
        "epsilon": stated.get("epsilon", ""),
        "delta": stated.get("delta") or 0,
        "neighbours": chosen[0] if chosen else None,
        "person": stated.get("person", ""),
        "by": (kind, order) if order else kind,
    }


def _form(request: Request, form: dict[str, str], *, refused: str = "", status: int = 200) -> Response:
    return page(
        request,
        "workbench/new_book.html",
        status=status,
        form=form,
        refused=refused,
        neighbours=OFFERED,
        each_row=EACH_ROW,
    )


def _format_cell(cell: object) -> object:
    """A cell to be read by eye; the files have every digit."""
    if isinstance(cell, bool) or not isinstance(cell, int | float):
        return cell
    short = f"{cell:,.2f}".rstrip("0").rstrip(".") if abs(cell) >= 100 else f"{cell:.4g}"
    return short.replace(",", "\N{NARROW NO-BREAK SPACE}")


def _file(content: bytes, name: str, kind: str) -> Response:
    return Response(content, media_type=kind, headers={"content-disposition": f'attachment; filename="{name}"'})
