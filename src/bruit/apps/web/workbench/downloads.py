"""The files of a release: its values, everything about it, its promise in words, and the Python that made it."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

from bruit.apps.web.cells import csv_of
from bruit.apps.web.workbench.recipes import Recipe
from bruit.ledger import Entry, Ledger
from bruit.ledger.statement import sentence
from bruit.privacy import Release

KINDS = {
    "csv": "text/csv",
    "json": "application/json",
    "txt": "text/plain; charset=utf-8",
    "py": "text/x-python",
    "zip": "application/zip",
}


def files_of(book: Ledger, line: Entry, release: Release[Any], recipe: Recipe | None) -> dict[str, bytes]:
    """Every file by the end of its name; without a recipe there is no Python."""
    texts = {
        "csv": csv_of(release.frame()),
        "json": json.dumps(_described(book, line, release, recipe), ensure_ascii=False, indent=2) + "\n",
        "txt": promise(book, line, release) + "\n",
    }
    if recipe is not None:
        texts["py"] = recipe.python
    files = {kind: text.encode() for kind, text in texts.items()}
    return {**files, "zip": _zipped(files)}


def promise(book: Ledger, line: Entry, release: Release[Any]) -> str:
    """What this release promises, and what the whole book does."""
    return f"This release ({line.what}, {release.method}): {release.guarantee}.\n{sentence(book)}"


def _described(book: Ledger, line: Entry, release: Release[Any], recipe: Recipe | None) -> dict[str, Any]:
    asked = {} if recipe is None else {"asked": recipe.asked.to_json()["question"]}
    where = {
        "book": book.name,
        "entry": line.number,
        "when": line.when.isoformat(timespec="seconds"),
        "what": line.what,
    }
    return {**where, **asked, **json.loads(release.to_json()), "promise": promise(book, line, release)}


def _zipped(files: dict[str, bytes]) -> bytes:
    packed = io.BytesIO()
    names = {"txt": "guarantee.txt"}
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for kind, content in files.items():
            archive.writestr(names.get(kind, f"release.{kind}"), content)
    return packed.getvalue()
