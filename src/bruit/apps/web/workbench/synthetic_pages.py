"""The pages of a synthetic table that was released: what it is, questions to it, and the curator's comparison."""

from __future__ import annotations

from typing import Any

from fastapi import HTTPException, Request
from markupsafe import Markup
from starlette.responses import Response

from bruit.apps.steward.charts import svg_on_page
from bruit.apps.steward.looking import NOTICE
from bruit.apps.steward.statements import LOOKED
from bruit.apps.steward.synthetic_tables.comparison import compare_exactly
from bruit.apps.steward.synthetic_tables.results import is_measured, read_conditions
from bruit.apps.web.digits import read_digits
from bruit.apps.web.rendering import page
from bruit.apps.web.workbench import context
from bruit.apps.web.workbench.context import router
from bruit.apps.web.workbench.downloads import find_release
from bruit.apps.web.workbench.synthetic_view import SyntheticView
from bruit.apps.web.workbench.table_pages import Form
from bruit.apps.web.workbench.uploads import Loaded
from bruit.core.release import Release
from bruit.errors import BruitError
from bruit.synthetic.files.statement import MAY, MAY_NOT
from bruit.tables.choice.limits import Limit
from bruit.tables.schema import Schema

LINES = ("1", "2", "3")
"""Conditions of one question."""

CHART_WIDTH = 420
"""Pixels of a chart, two of which stand side by side."""


def show(request: Request, view: SyntheticView, *, status: int = 200, **more: Any) -> Response:
    """The page of a synthetic table: its promise, files, use, charts, and a form to ask it."""
    shown: dict[str, Any] = {"form": {}, "answer": None, "refused": "", **more}
    return page(
        request,
        "workbench/synthetic.html",
        status=status,
        view=view,
        charts=[(each, Markup(svg_on_page(each, width=CHART_WIDTH))) for each in view.kept.charts],
        may=MAY,
        may_not=MAY_NOT,
        lines=LINES,
        tables=_same_tables(request, view),
        address=context.address,
        **shown,
    )


@router.get("/release/count")
def count(request: Request, book: str, number: int) -> Response:
    """A count asked of a synthetic table, with its interval; it costs nothing."""
    view = _find(request, book, number)
    form = {name: text.strip() for name, text in request.query_params.items()}
    filled = [tuple(form.get(f"{part}_{line}", "") for part in ("column", "value", "high")) for line in LINES]
    try:
        where = read_conditions(view.kept.made, [(name, value, high) for name, value, high in filled if name])
        found: Release[float] = view.kept.made.count(where)
    except BruitError as error:
        return show(request, view, form=form, refused=str(error), status=400)
    assert found.interval is not None
    answer = {
        "value": found.value,
        "low": float(found.interval.low),
        "high": float(found.interval.high),
        "confidence": found.interval.confidence,
        "measured": is_measured(view.kept.made, where),
    }
    return show(request, view, form=form, answer=answer)


@router.post("/release/compare")
def compare(request: Request, form: Form) -> Response:
    """The synthetic table beside the true one, exactly, for the curator only; the ledger records that they looked."""
    number = read_digits(form.get("number", ""))
    view = _find(request, form.get("book", ""), number or 0)
    one = next((each for each in _same_tables(request, view) if each.key == form.get("table")), None)
    if one is None or one.schema is None:
        raise HTTPException(404, "Load the true table under the same schema first.")
    view.book.note(LOOKED, about={"table": one.schema.name, "values": False, "compared": view.line.number})
    limit = view.kept.asked["limit"]
    found = compare_exactly(one.plan(), view.kept.made, None if limit is None else Limit(**limit))
    drawn = [(each, Markup(each.svg)) for each in found.columns]
    shown: dict[str, Any] = {"view": view, "loaded": one, "found": found, "drawn": drawn, "notice": NOTICE}
    return page(request, "workbench/compared.html", address=context.address, **shown)


def _find(request: Request, book: str, number: int) -> SyntheticView:
    found = find_release(request, book, number)
    if not isinstance(found, SyntheticView):
        raise HTTPException(404, "No synthetic table stands at this place of the book.")
    return found


def _same_tables(request: Request, view: SyntheticView) -> list[Loaded]:
    """The loaded tables under the very schema that the synthetic table was made with."""
    digest = Schema.from_toml(view.kept.schema).digest
    tables = context.session(request).tables.values()
    return [one for one in tables if one.schema is not None and one.schema.digest == digest]
