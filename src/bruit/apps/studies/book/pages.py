"""The pages of the book in Markdown: one a study, and the index."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from bruit.apps.findings import Findings
from bruit.apps.studies.book.earlier import EARLIER
from bruit.apps.studies.book.provenance import Provenance
from bruit.apps.studies.documents import DOCUMENTS, SOURCES
from bruit.apps.studies.registry import STUDIES
from bruit.apps.studies.report import beside, said

INTRODUCTION = """\
# The book of results

What the five [source documents](../documents.md) print, what `bruit` finds at full size, and why they differ. Nothing
has to be run to read it; `make book` makes it anew, goes on where it was stopped, and leaves alone what is current.
Each page ends with the command, seed, commit and machine that made it; the same seed gives the same numbers.
"""


def study_page(name: str, findings: Findings, made: Provenance) -> str:
    """The page of a study that was run at full size; its files stand in the folder of its name."""
    sayings = DOCUMENTS.get(name)
    pictures = [path for path in findings.files if path.suffix == ".png"]
    tables = [path for path in findings.files if path.suffix == ".csv"]
    parts = [
        _head(name),
        _table(("", "theirs", "ours"), beside(sayings, findings.figures)),
        f"## Found here\n\n{findings.summary}\n",
        *(f"![{describe(path)}]({name}/{path.name})\n" for path in pictures),
        "## Numbers\n",
        _table(
            ("number", "value"), [(what.replace("_", " "), f"{value:.4g}") for what, value in findings.figures.items()]
        ),
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
        f"These figures come from [{told.page}](../{told.page}), which says how they were measured. "
        f"`bruit study {name} --book docs/results --seed 1` puts a page with pictures in the place of this one.\n",
        _table(("", "theirs", "ours"), told.rows),
    ]
    return "\n".join(parts)


def index(pages: Mapping[str, bool]) -> str:
    """The index of the book: each study under its document, and whether its page was made by the program."""
    parts = [INTRODUCTION]
    groups = {key: [name for name in pages if _source(name) == key] for key in (*SOURCES, None)}
    for key, names in groups.items():
        title = "Studies of our own" if key is None else f"{SOURCES[key].kind}, *{SOURCES[key].title}*"
        states = {name: "full size" if pages[name] else "measured earlier" for name in names}
        rows = [(f"[{name}]({name}.md)", STUDIES[name][1], states[name]) for name in names]
        parts += [f"## {title}\n", _table(("study", "what it shows", "page"), rows)]
    return "\n".join(part for part in parts if part)


def describe(path: Path) -> str:
    """The name of a file in words."""
    return path.stem.replace("_", " ").replace("-", " ")


def _source(name: str) -> str | None:
    return DOCUMENTS[name].source if name in DOCUMENTS else None


def _head(name: str) -> str:
    terms = "\n".join(f"- **{term}:** {text}" for term, text in said(DOCUMENTS.get(name)).items())
    return f"# {name}\n\n{STUDIES[name][1]}\n" + (f"\n{terms}\n" if terms else "")


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    if not rows:
        return ""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines) + "\n"


def _links(name: str, tables: Sequence[Path]) -> str:
    if not tables:
        return ""
    return "Tables: " + ", ".join(f"[{path.name}]({name}/{path.name})" for path in tables) + ".\n"


def _made(made: Provenance) -> str:
    return (
        f"## Made by\n\n`{made.command}` in {made.seconds:.0f} s (without what an interrupted run had done before), "
        f"at commit {made.commit} (program {made.program}), seed {made.seed}, on {made.machine}.\n"
    )
