"""The pages on which a synthetic table is asked for: form, preview, and progress while it is made."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from functools import partial
from typing import Any

from fastapi import HTTPException, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from bruit.apps.steward.synthetic_tables.request import preview_synthesis
from bruit.apps.web.rendering import page
from bruit.apps.web.workbench import context, synthesis_form
from bruit.apps.web.workbench.ask_pages import ONCE, over_budget, question_fields, schema_of
from bruit.apps.web.workbench.context import router
from bruit.apps.web.workbench.kept_tables import KeptTable, KeptTables
from bruit.apps.web.workbench.synthesis_form import AskedSynthesis, read_synthesis
from bruit.apps.web.workbench.synthesis_jobs import SynthesisJob
from bruit.apps.web.workbench.table_pages import Form
from bruit.apps.web.workbench.uploads import Loaded
from bruit.core.neighbours import EACH_ROW
from bruit.errors import BruitError, BudgetExceeded, StorageError
from bruit.synthetic.synthesis import Prepared


@router.get("/tables/{key}/synthesise")
def ask(request: Request, key: str) -> Response:
    """The form of a synthetic table; no privacy setting has a default."""
    one = context.find_table(request, key)
    if one.schema is None:
        return RedirectResponse(f"/workbench/tables/{key}", 303)
    return _form(request, one, synthesis_form.every_column(one.schema))


@router.post("/tables/{key}/synthesise/preview")
def show_preview(request: Request, key: str, form: Form) -> Response:
    """What will be done, in words, and its price, before payment; or what is missing."""
    one = context.find_table(request, key)
    try:
        asked = read_synthesis(form, schema_of(one))
        book = context.book(request, asked.book)
        found = preview_synthesis(asked.request.prepare(one.plan(book), book, asked.price), book)
    except StorageError:
        raise
    except BruitError as error:
        return _form(request, one, form, refused=str(error), status=400)
    return _form(request, one, form, found=found, once=secrets.token_hex(ONCE // 2))


@router.post("/tables/{key}/synthesise/release")
def release(request: Request, key: str, form: Form) -> Response:
    """Pays for a synthetic table and makes it in a thread, once per preview however often the button is pressed."""
    one, session, once = context.find_table(request, key), context.session(request), form.get("once", "")
    if len(once) != ONCE:
        raise HTTPException(400, "Look at the preview first: the release is asked for from there.")
    asked = read_synthesis(form, schema_of(one))
    book = context.book(request, asked.book)
    plan, tables = one.plan(book), context.kept_tables(request)
    tables.require_folder(book.name)
    prepared = asked.request.prepare(plan, book, asked.price)
    with session.paying:
        if once not in session.jobs:
            context.find_table(request, key)  # from here on it cannot be removed until its synthetic table is made
            job = session.jobs[once] = SynthesisJob(key, book.name, question_fields(form))
            make = partial(_pay_and_keep, prepared, job, _facts(asked, one), tables)
            request.app.state.synthesising.submit(job.run, make)
    return RedirectResponse(f"/workbench/synthesis/{once}", 303)


@router.get("/synthesis/{once}")
def progress(request: Request, once: str) -> Response:
    """How far a synthetic table is; leads to its release when it is made, or says why there is none."""
    job = _find_job(request, once)
    if job.address is not None:
        return RedirectResponse(job.address, 303)
    if job.error is None:
        return page(request, "workbench/making.html", job=job, once=once, address=context.address)
    if isinstance(job.error, BudgetExceeded):
        again, price = f"/workbench/tables/{job.table}/synthesise/preview", job.form["epsilon"]
        return over_budget(request, job.book, price, job.form, again=again)
    told = isinstance(job.error, BruitError) and not isinstance(job.error, StorageError)
    shown: dict[str, Any] = {"job": job, "sentence": str(job.error) if told else ""}
    return page(request, "workbench/not_made.html", status=500, address=context.address, **shown)


@router.get("/synthesis/{once}/state")
def state(request: Request, once: str) -> Response:
    """The progress of a synthesis as JSON, for the page that waits: noisy answers taken, of how many."""
    job = _find_job(request, once)
    return JSONResponse({"done": job.done, "steps": job.steps, "ended": job.ended})


def _find_job(request: Request, once: str) -> SynthesisJob:
    found = context.session(request).jobs.get(once)
    if found is None:
        raise HTTPException(404, "No synthetic table is being made here; what was charged and made is in its book.")
    return found


def _facts(asked: AskedSynthesis, one: Loaded) -> dict[str, Any]:
    """What is kept beside a synthetic table: what was asked, of which file, under which schema."""
    stated = {**asked.request.to_json(), "book": asked.book, "price": asked.price}
    return {"asked": stated, "file": one.name, "schema": schema_of(one).to_toml()}


def _pay_and_keep(prepared: Prepared, job: SynthesisJob, asked: Mapping[str, Any], tables: KeptTables) -> str:
    """Pays, makes the table and keeps it; returns the address of its release."""
    made = prepared.release(job.count)
    assert made.receipt is not None  # what a book paid for has one
    tables.keep(job.book, made.receipt.number, KeptTable(**asked, made=made.value))
    return context.address("release", book=job.book, number=made.receipt.number)


def _form(request: Request, one: Loaded, form: Mapping[str, str], *, status: int = 200, **more: Any) -> Response:
    schema = schema_of(one)
    shown: dict[str, Any] = {"found": None, "refused": "", "once": "", **more}
    return page(
        request,
        "workbench/synthesise.html",
        status=status,
        loaded=one,
        schema=schema,
        form=question_fields(form),
        books=context.paying_books(request, schema.person),
        choices=synthesis_form,
        each_row=EACH_ROW,
        **shown,
    )
