"""The pages of the studies: the list, one study, and its files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars
from fastapi import APIRouter, Depends, HTTPException, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response

from bruit.apps.studies import STUDIES
from bruit.apps.studies.book import book_folder, page_provenance, space_thousands, write_value
from bruit.apps.studies.book.earlier import EARLIER
from bruit.apps.studies.documents import DOCUMENTS
from bruit.apps.studies.report import beside, said
from bruit.apps.studies.saved_findings import Kept, read_findings
from bruit.apps.web.paths import STUDIES as FOLDER
from bruit.apps.web.paths import home
from bruit.apps.web.rendering import page
from bruit.apps.web.security.steward_key import is_steward, require_steward

MOST_ROWS = 20
"""Rows of a table that a page shows, unless it sets theirs beside ours; the file has them all."""

KINDS = {".png": "image/png", ".csv": "text/csv"}
router = APIRouter(include_in_schema=False)


@router.get("")
def start(request: Request) -> Response:
    """Every study, with what was found here, or else in the book of results."""
    studies = [(name, line, *_found(request, name)) for name, (_, line, _) in sorted(STUDIES.items())]
    return page(request, "studies/start.html", studies=studies, runs=request.app.state.studies, earlier=EARLIER)


@router.get("/{name}")
def show(request: Request, name: str) -> Response:
    """What a study asks and found, its figures and the first rows of its tables."""
    _require_known(name)
    found, bound = _found(request, name)
    return page(
        request,
        "studies/study.html",
        name=name,
        line=STUDIES[name][1],
        sayings=said(DOCUMENTS.get(name)),
        found=found,
        bound=bound,
        made=page_provenance(name, book=book) if bound and (book := book_folder()) else None,
        beside=[] if found is None or found.size != "full" else beside(DOCUMENTS.get(name), found.findings.figures),
        earlier=EARLIER.get(name) if found is None else None,
        pictures=[] if found is None else [path for path in found.findings.files if path.suffix == ".png"],
        tables=[] if found is None else _tables(found),
        state=request.app.state.studies.state(name),
        busy=request.app.state.studies.busy,
        steward=is_steward(request),
        describe=describe,
        space_thousands=space_thousands,
        write_value=write_value,
    )


@router.get("/{name}/files/{file}")
def download(request: Request, name: str, file: str) -> Response:
    """A figure or table of a study; only files that its findings name."""
    _require_known(name)
    found, _ = _found(request, name)
    wanted = [] if found is None else [path for path in found.findings.files if path.name == file]
    if not wanted or wanted[0].suffix not in KINDS:
        raise HTTPException(404)
    return FileResponse(wanted[0], media_type=KINDS[wanted[0].suffix], headers={"cache-control": "no-cache"})


@router.get("/{name}/state")
def state(request: Request, name: str) -> Response:
    """Whether a study is running, for the page that waits for it."""
    _require_known(name)
    return JSONResponse({"state": request.app.state.studies.state(name)})


@router.post("/{name}/run", dependencies=[Depends(require_steward)])
async def run(request: Request, name: str) -> Response:
    """Runs a study at its small size in another process."""
    _require_known(name)
    if request.app.state.studies.busy:
        raise HTTPException(409, "A study is running; wait until it has ended.")
    await request.app.state.studies.start(name, _folder(request))
    return RedirectResponse(f"/studies/{name}", 303)


def describe(path: Path) -> str:
    """A file's name in words."""
    return path.stem.replace("_", " ").replace("-", " ")


def _found(request: Request, name: str) -> tuple[Kept | None, bool]:
    """What was found by a run here, or else what the book of results holds; and whether it is the book's."""
    own = read_findings(_folder(request) / name)
    if own is not None:
        return own, False
    book = book_folder()
    bound = None if book is None else read_findings(book / name)
    return bound, bound is not None


def _folder(request: Request) -> Path:
    return home(request.app.state.settings) / FOLDER


def _require_known(name: str) -> None:
    if name not in STUDIES:
        raise HTTPException(404, "There is no study of this name.")


def _tables(found: Kept) -> list[dict[str, Any]]:
    shown = []
    for path in (path for path in found.findings.files if path.suffix == ".csv"):
        frame = polars.read_csv(path, infer_schema_length=None)
        most = frame.height if "theirs" in frame.columns else MOST_ROWS
        rows = [[f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row] for row in frame.head(most).rows()]
        shown.append({"path": path, "heads": frame.columns, "rows": rows, "height": frame.height})
    return shown
