"""The pages of the book in Markdown: one a study, and the index."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import polars

from bruit.apps.findings import Findings
from bruit.apps.studies.book.earlier import EARLIER
from bruit.apps.studies.book.provenance import Provenance
from bruit.apps.studies.documents import DOCUMENTS, SOURCES, Document
from bruit.apps.studies.printed.rows import LEFT
from bruit.apps.studies.registry import STUDIES
from bruit.apps.studies.report import beside, said

INTRODUCTION = """\
# The book of results

What the five [source documents](../documents.md) print, what `bruit` finds at full size, and why they differ. Nothing
has to be run to read it: begin with [every number and figure that they print](printed.md), or with a study below.

**To make it again.** `make book` makes anew what is not current, all of it in about an hour of one core; `make studies`
also what takes hours or a graphics card. Both go on where they were stopped. A page ends with the command, seed, commit
and machine that made it. The same seed gives the same numbers, on another kind of processor up to their last digits.
Seconds below are those of one core, or of the clock beside a graphics card. `bruit study --book docs/results --seed 1`
lists the pages that are older than the code of their study; to see what a change elsewhere does to a page, delete its
folder and run `make book`.
"""

LONG_NUMBER = re.compile(r"(?<![\w.,-])\d{5,}(?![\w.])")
"""A whole number of five digits or more that stands alone."""


def study_page(name: str, findings: Findings, made: Provenance) -> str:
    """The page of a study that was run at full size; its files stand in the folder of its name."""
    sayings = DOCUMENTS.get(name)
    pictures = [path for path in findings.files if path.suffix == ".png"]
    tables = [path for path in findings.files if path.suffix == ".csv"]
    parts = [
        _head(name),
        _table(("", "theirs", "ours"), [[*map(space_thousands, row)] for row in beside(sayings, findings.figures)]),
        f"## Found here\n\n{space_thousands(findings.summary)}\n",
        *(f"![{name}: {describe(path)}]({name}/{path.name})\n" for path in pictures),
        "## Numbers\n",
        _table(
            ("number", "value"),
            [(what.replace("_", " "), write_value(value)) for what, value in findings.figures.items()],
        ),
        *(_comparison(path) for path in tables),
        _links(name, tables),
        _made(made),
    ]
    return "\n".join(part for part in parts if part)


def earlier_page(name: str) -> str:
    """The page of a study that is not run with the others: its figures of another day, and where they come from."""
    told = EARLIER[name]
    parts = [
        _head(name),
        f"## Measured earlier\n\nThis study needs {told.why}: it is not run with the others. "
        f"These figures come from [{told.page}](../{told.page}), which says how they were measured: on {told.machine}, "
        f"told first at commit {told.commit}. "
        f"`bruit study {name} --book docs/results --seed 1` puts a page with pictures in the place of this one.\n",
        _table(("", "theirs", "ours"), told.rows),
    ]
    return "\n".join(parts)


def index(pages: Mapping[str, Provenance | None]) -> str:
    """The index of the book: each study under its document, and how its page was made; None if it was not run."""
    parts = [INTRODUCTION]
    groups = {key: [name for name in pages if _source(name) == key] for key in (None, *SOURCES, "")}
    for key, names in groups.items():
        title = {None: "All five documents", "": "Studies of our own"}.get(key) or _title(SOURCES[str(key)])
        states = {name: _state(pages[name]) for name in names}
        rows = [(f"[{name}]({name}.md)", STUDIES[name][1], states[name]) for name in names]
        parts += [f"## {title}\n", _table(("study", "what it shows", "page"), rows)]
    return "\n".join(part for part in parts if part)


def _state(made: Provenance | None) -> str:
    """Whether a page was made by the program, and in how much time."""
    if made is None:
        return "measured earlier"
    if made.with_card:
        return f"full size, {made.seconds:.0f} s with a graphics card"
    return f"full size, {max(1, round(made.seconds if made.cpu_seconds is None else made.cpu_seconds))} s"


def describe(path: Path) -> str:
    """The name of a file in words."""
    return path.stem.replace("_", " ").replace("-", " ")


def _source(name: str) -> str | None:
    """The document of a study; None for the study of all of them, an empty text for a study of our own."""
    return DOCUMENTS[name].source if name in DOCUMENTS else None if name == "printed" else ""


def write_value(value: float) -> str:
    """A number with four digits, or whole with spaces between its thousands."""
    return f"{value:,.0f}".replace(",", " ") if value.is_integer() or abs(value) >= 10_000 else f"{value:.4g}"


def space_thousands(text: str) -> str:
    """A text with spaces between the thousands of its long numbers."""
    return LONG_NUMBER.sub(lambda number: write_value(float(number[0])), text)


def _title(document: Document) -> str:
    return f"{document.kind}, *{document.title}*"


def _head(name: str) -> str:
    terms = "\n".join(f"- **{term}:** {text}" for term, text in said(DOCUMENTS.get(name)).items())
    return f"# {name}\n\n{STUDIES[name][1]}\n" + (f"\n{terms}\n" if terms else "")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines) + "\n"


def _comparison(path: Path) -> str:
    """A table that sets theirs beside ours, whole and by document; nothing of any other table."""
    table = polars.read_csv(path, infer_schema_length=0).fill_null("")
    if not {"theirs", "ours"} <= set(table.columns):
        return ""
    heads = ("item", "what", "theirs", "ours", "what differs, and why")
    parts = [f"## {describe(path).capitalize()} of the documents\n"]
    for key, document in SOURCES.items():
        own = table.filter(polars.col("item").str.starts_with(key))
        if len(own):
            rows = [_compared(row) for row in own.iter_rows(named=True)]
            parts += [f"### {_title(document)} ([{key}](../spec.md))\n", _table(heads, rows)]
    return "\n".join(parts)


def _compared(row: Mapping[str, str]) -> tuple[str, ...]:
    """The cells of one line: an experiment is linked in the place of ours, any other study behind the reason."""
    link = f"[{row['study']}]({row['study']}.md)" if row["study"] else ""
    left = row["ours"] == LEFT
    why = row["why"] if left or not link else f"{row['why']} See {link}.".strip()
    return row["item"], row["what"], row["theirs"], link if left else row["ours"], why


def _links(name: str, tables: Sequence[Path]) -> str:
    if not tables:
        return ""
    return "Tables: " + ", ".join(f"[{path.name}]({name}/{path.name})" for path in tables) + ".\n"


def _made(made: Provenance) -> str:
    core = f"{made.cpu_seconds:.0f} s of one core; " if made.cpu_seconds is not None else ""
    return (
        f"## Made by\n\n`{made.command}` in {made.seconds:.0f} s ({core}parts that were interrupted are counted), at "
        f"commit {made.commit} (program {made.program}), seed {made.seed}, on {made.machine}.\n"
    )
