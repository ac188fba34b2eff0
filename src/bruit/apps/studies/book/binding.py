"""Puts what a study found into the book: its pictures, its short tables, its page, and the index."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

from bruit.apps.findings import Findings
from bruit.apps.studies.book.earlier import EARLIER
from bruit.apps.studies.book.pages import earlier_page, index, study_page
from bruit.apps.studies.book.provenance import Provenance, program
from bruit.apps.studies.registry import STUDIES
from bruit.apps.studies.saved_findings import FILE, keep, read_findings

LONGEST_TABLE = 60_000
"""Bytes of a table that the book takes along; longer ones, as those with every repeat, are made by the command."""

MADE = "made.json"


def bind(name: str, findings: Findings, made: Provenance, *, book: Path) -> None:
    """Copies the files of a study that was run at full size, and writes its page."""
    folder = book / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    taken = [path for path in findings.files if path.suffix == ".png" or path.stat().st_size <= LONGEST_TABLE]
    kept = replace(findings, files=tuple(Path(shutil.copy(path, folder / path.name)) for path in taken))
    keep(kept, folder, size="full")
    (folder / MADE).write_text(json.dumps(made.to_json(), ensure_ascii=False, indent=2) + "\n", encoding="utf-8")
    (book / f"{name}.md").write_text(written_page(name, book=book), encoding="utf-8")


def written_page(name: str, *, book: Path) -> str:
    """The page of a study whose findings are kept in the book, in the words of today."""
    found = read_findings(book / name)
    if found is None:
        return earlier_page(name)
    return study_page(name, found.findings, page_provenance(name, book=book))


def page_provenance(name: str, *, book: Path) -> Provenance:
    """How the page of a study in the book was made."""
    return Provenance(**json.loads((book / name / MADE).read_text(encoding="utf-8")))


def is_current(name: str, *, seed: int, book: Path) -> bool:
    """Whether the book holds a page of this study that the same program made with the same seed."""
    try:
        made = json.loads((book / name / MADE).read_text(encoding="utf-8"))
        return bool(made["seed"] == seed and made["program"] == program(name)) and (book / name / FILE).is_file()
    except (OSError, ValueError, KeyError, TypeError):
        return False


def page_state(name: str, *, seed: int, book: Path) -> str:
    """Whether the book holds a page of the study's code as it is today."""
    if read_findings(book / name) is None:
        return "measured earlier" if name in EARLIER else "not made"
    return "current" if is_current(name, seed=seed, book=book) else "to be made anew"


def write_index(book: Path) -> None:
    """Writes the index and every page again in the words of today, without running anything.

    A study that was not run into the book has a page with earlier figures.
    """
    book.mkdir(parents=True, exist_ok=True)
    pages: dict[str, Provenance | None] = {}
    for name in sorted(STUDIES):
        run = read_findings(book / name) is not None
        if run or name in EARLIER:
            pages[name] = page_provenance(name, book=book) if run else None
            (book / f"{name}.md").write_text(written_page(name, book=book), encoding="utf-8")
    (book / "index.md").write_text(index(pages), encoding="utf-8")


def book_folder() -> Path | None:
    """Where the book stands: inside an installed package, else in the repository; None where there is none."""
    here = Path(__file__)
    places = (here.parents[1] / "results", here.parents[5] / "docs" / "results")
    return next((place for place in places if (place / "index.md").is_file()), None)
