"""The pages of a table: upload, schema, the curator's exact look, and the risk report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from bruit.anonymity import report
from bruit.apps.steward import sections
from bruit.apps.steward.looking import NOTICE, look_at
from bruit.apps.steward.statements import LOOKED
from bruit.apps.web.rendering import page
from bruit.apps.web.workbench import context, schema_form
from bruit.apps.web.workbench.context import router
from bruit.apps.web.workbench.uploads import KINDS, LARGEST, Loaded
from bruit.core.neighbours import EACH_ROW
from bruit.errors import BruitError, StorageError
from bruit.tables import read


async def form_fields(request: Request) -> dict[str, str]:
    """The fields of a form as texts."""
    return {name: value for name, value in (await request.form()).items() if isinstance(value, str)}


Form = Annotated[dict[str, str], Depends(form_fields)]
Columns = Annotated[list[str] | None, Query()]


@router.get("")
def start(request: Request) -> Response:
    """The start page: loaded tables, ledgers, and where to begin."""
    books = context.books(request)
    tables = context.session(request).tables.values()
    shown: dict[str, Any] = {"tables": tables, "books": books, "largest": LARGEST, "kinds": ",".join(KINDS)}
    return page(request, "workbench/start.html", address=context.address, **shown)


@router.post("/tables")
async def load(request: Request, name: str) -> Response:
    """Receives an uploaded file as a stream."""
    found = await context.session(request).load(name, request.stream())
    return JSONResponse({"address": f"/workbench/tables/{found.key}"}, 201)


@router.get("/tables/{key}")
def table(request: Request, key: str, change: bool = False) -> Response:  # noqa: FBT001, FBT002  a query parameter
    """The page of a table: the form of its schema until stated, then what can be done with it."""
    one = context.find_table(request, key)
    if one.schema is None or change:
        return _schema_page(request, one, one.form or schema_form.fill_facts(one.head.file))
    return page(request, "workbench/table.html", loaded=one, books=context.paying_books(request, one.schema.person))


@router.post("/tables/{key}/schema")
def state_schema(request: Request, key: str, form: Form) -> Response:
    """Stores the schema of a table, or says what is missing."""
    one, held = context.find_table(request, key), context.session(request)
    fields = {name: value for name, value in form.items() if name not in ("csrf", "action")}
    try:
        if form.get("action") == "names":
            held.tables[key] = one.read_again(schema_form.read_facts(form, one.head.file))
            return _schema_page(request, held.tables[key], fields)
        schema = schema_form.read_schema_form(form, one)
        kept = schema_form.fill_form(schema, one) if form.get("toml", "").strip() else fields
        held.tables[key] = one.with_schema(schema, kept)
    except StorageError:
        raise
    except BruitError as error:
        return _schema_page(request, one, fields, refused=str(error), status=400)
    return RedirectResponse(f"/workbench/tables/{key}", 303)


@router.get("/tables/{key}/schema.toml")
def download_schema(request: Request, key: str) -> Response:
    """The schema as a file for `bruit ask` and recipes."""
    one = context.find_table(request, key)
    text = "" if one.schema is None else one.schema.to_toml()
    headers = {"content-disposition": 'attachment; filename="schema.toml"'}
    return Response(text, media_type="text/plain; charset=utf-8", headers=headers)


@router.post("/tables/{key}/look")
def look(request: Request, key: str, form: Form) -> Response:
    """Exact figures for the curator only; the ledger records that they were seen, never what was seen."""
    one = context.find_table(request, key)
    plan, values = one.plan(), form.get("values") == "on"
    assert one.schema is not None
    if form.get("book"):
        context.book(request, form["book"]).note(LOOKED, about={"table": one.schema.name, "values": values})
    return page(request, "workbench/look.html", loaded=one, look=look_at(plan, one.path, values=values), notice=NOTICE)


@router.post("/tables/{key}/remove")
def remove(request: Request, key: str) -> Response:
    """Removes an uploaded table."""
    context.session(request).remove(key)
    return RedirectResponse("/workbench", 303)


@router.get("/tables/{key}/risk")
def risk(request: Request, key: str, quasi: Columns = None, sensitive: Columns = None) -> Response:
    """The disclosure-risk report of the table, for its curator."""
    one = context.find_table(request, key)
    found = report(read(one.frame(), person=EACH_ROW), quasi=quasi or (), sensitive=sensitive or ())
    return page(request, "workbench/risk.html", loaded=one, report=found, sections=sections(found))


def _schema_page(
    request: Request, one: Loaded, form: Mapping[str, str], *, refused: str = "", status: int = 200
) -> Response:
    return page(
        request,
        "workbench/schema.html",
        status=status,
        loaded=one,
        form=form,
        refused=refused,
        choices=schema_form,
        people=schema_form.people_of(one),
        name=schema_form.default_name(one),
    )
