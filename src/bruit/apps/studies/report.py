"""Builds one self-contained HTML page of figures, tables and paragraphs."""

from __future__ import annotations

import base64
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

from bruit.apps.findings import Findings
from bruit.apps.languages import FALLBACK, Language
from bruit.apps.studies.documents import DOCUMENTS, Sayings
from bruit.apps.studies.registry import STUDIES

STYLE = """
body { font: 16px/1.55 system-ui, sans-serif; max-width: 56rem; margin: 2rem auto; padding: 0 1rem; color: #222 }
h1 { margin-bottom: .2rem } h2 { margin-top: 2.5rem; border-bottom: 2px solid #0072B2; padding-bottom: .2rem }
img { max-width: 100%; height: auto; display: block; margin: 1rem 0 }
table { border-collapse: collapse; margin: 1rem 0 } th, td { border-bottom: 1px solid #ddd; padding: .25rem .8rem }
th, td { text-align: left } .files, .guarantee { color: #595959; font-size: .9rem }
nav ul { columns: 2 } dt { font-weight: bold } dd { margin: 0 0 .6rem 0 }
"""


@dataclass(frozen=True)
class Part:
    """A titled section: paragraphs, a table (its head first), definitions, figures and other files."""

    title: str
    paragraphs: Sequence[str] = ()
    table: Sequence[Sequence[object]] = ()
    terms: Mapping[str, str] = field(default_factory=dict)
    figures: Sequence[Path] = ()
    files: Sequence[Path] = ()
    guarantee: str = ""


def page(title: str, introduction: str, parts: Sequence[Part], *, folder: Path, language: Language = FALLBACK) -> str:
    """The page as HTML, with figures embedded and other files linked relative to `folder`."""
    contents = "".join(
        f'<li><a href="#part-{number}">{escape(part.title)}</a></li>' for number, part in _summarise(parts)
    )
    body = "\n".join(_part(number, part, folder) for number, part in _summarise(parts))
    return (
        f'<!doctype html>\n<html lang="{language}">\n<head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style></head>\n<body>\n<h1>{escape(title)}</h1>\n"
        f"<p>{escape(introduction)}</p>\n<nav><ul>{contents}</ul></nav>\n{body}\n</body>\n</html>\n"
    )


def studies_page(found: Mapping[str, Findings], *, folder: Path, size: str) -> str:
    """Every study on one page: what its source document asks, what that prints, what was found here."""
    parts = [study_part(name, findings, size=size) for name, findings in found.items()]
    introduction = (
        f"What the source documents ask, what they found, and what bruit finds ({size} size). Every number is "
        "written by `bruit study --all`; the tables hold each repeat, so that every spread can be computed again."
    )
    return page("The studies", introduction, parts, folder=folder)


def study_part(name: str, findings: Findings, *, size: str) -> Part:
    """One study as a part of the page."""
    pictures = [path for path in findings.files if path.suffix == ".png"]
    others = [path for path in findings.files if path.suffix != ".png"]
    return Part(
        f"{name}: {STUDIES[name][1]}",
        table=[("number", "value"), *findings.figures.items()] if findings.figures else (),
        terms={**said(DOCUMENTS.get(name)), "Found here": findings.summary, **used(findings, size)},
        figures=pictures,
        files=others,
    )


def said(sayings: Sayings | None) -> dict[str, str]:
    """What the document of a study asks and prints, and what differs here, as terms."""
    if sayings is None:
        return {}
    told = {"asks": sayings.asks, "prints": sayings.found}
    terms = {f"{sayings.document} {verb}": text for verb, text in told.items()}
    return terms | ({"What differs here, and why": sayings.differs} if sayings.differs else {})


def used(findings: Findings, size: str) -> dict[str, str]:
    """A warning where a study did not use all the data at full size; empty where it did."""
    if findings.data:
        return {"Not the whole data": f"{findings.data}. These numbers stand beside nobody's."}
    return {} if size == "full" else {"Small size": "few repeats: these numbers stand beside nobody's."}


def beside(sayings: Sayings | None, figures: Mapping[str, float]) -> list[tuple[str, str, str]]:
    """The numbers that the document prints with ours beside them, where the study has ours."""
    lines = () if sayings is None else sayings.beside
    return [(line.what, line.theirs, format(figures[line.ours], line.form)) for line in lines if line.ours in figures]


def _summarise(parts: Sequence[Part]) -> Iterable[tuple[int, Part]]:
    return enumerate(parts, 1)


def _part(number: int, part: Part, folder: Path) -> str:
    terms = "".join(f"<dt>{escape(term)}</dt><dd>{escape(text)}</dd>" for term, text in part.terms.items())
    pieces = [
        f'<section id="part-{number}">\n<h2>{escape(part.title)}</h2>',
        *(f"<p>{escape(text)}</p>" for text in part.paragraphs),
        f"<dl>{terms}</dl>" if terms else "",
        _table(part.table),
        *(_figure(path, part.title) for path in part.figures),
        f'<p class="guarantee" lang="en">{escape(part.guarantee)}</p>' if part.guarantee else "",
        _files(part.files, folder),
        "</section>",
    ]
    return "\n".join(piece for piece in pieces if piece)


def _table(rows: Sequence[Sequence[object]]) -> str:
    if not rows:
        return ""
    head, *body = ["".join(f"<{tag}>{escape(_text(cell))}</{tag}>" for cell in row) for tag, row in _tag(rows)]
    return f"<table><tr>{head}</tr>\n" + "\n".join(f"<tr>{line}</tr>" for line in body) + "</table>"


def _tag(rows: Sequence[Sequence[object]]) -> Iterable[tuple[str, Sequence[object]]]:
    return ((("th" if number == 0 else "td"), row) for number, row in enumerate(rows))


def _figure(path: Path, title: str) -> str:
    picture = base64.b64encode(path.read_bytes()).decode()
    name = path.stem.replace("_", " ").replace("-", " ")
    return f'<img alt="{escape(title)}: {escape(name)}" src="data:image/png;base64,{picture}">'


def _files(files: Sequence[Path], folder: Path) -> str:
    if not files:
        return ""
    links = ", ".join(f'<a href="{escape(_from(folder, path))}">{escape(path.name)}</a>' for path in files)
    return f'<p class="files">Tables: {links}</p>'


def _from(folder: Path, path: Path) -> str:
    try:
        return path.resolve().relative_to(folder.resolve()).as_posix()
    except ValueError:
        return path.resolve().as_uri()


def _text(cell: object) -> str:
    return f"{cell:.4g}" if isinstance(cell, float) else str(cell)
