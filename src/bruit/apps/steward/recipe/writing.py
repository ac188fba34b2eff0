"""Writes the files of a released recipe: one per question, a workbook, JSON, figures and the statement."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

from bruit.apps.steward.answers import AnswerTable
from bruit.apps.steward.exports import check_ending, check_writable, excel_bytes, finite, write_answer
from bruit.apps.steward.recipe.reading import Recipe
from bruit.apps.steward.recipe.releasing import Published
from bruit.apps.steward.recipe.sections import write_synthetic
from bruit.apps.steward.statements import statement_page
from bruit.errors import InvalidArgument

LONGEST_NAME = 60


def check_outputs(recipe: Recipe, folder: Path) -> None:
    """Makes the folder and refuses outputs that cannot be written there, before anything is paid."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InvalidArgument(f"{folder} cannot be made: {error.strerror}") from error
    kinds = [".csv", ".json", ".parquet", ".xlsx", f".{recipe.output.get('figure', 'svg')}"]
    wanted = [
        kind
        for kind, name in zip(kinds, ("csv", "json", "parquet", "excel", "figure"), strict=True)
        if name in recipe.output
    ]
    check_writable(folder / "x.html")
    for kind in wanted:
        check_ending(folder / f"x{kind}")
    names = [file_name(each.title) for each in recipe.questions]
    if len(set(names)) < len(names):
        raise InvalidArgument(f"two titles make the file name {max(names, key=names.count)!r}: give them other titles")


def write_outputs(published: Published, folder: Path) -> list[Path]:
    """Writes every file that the recipe asks for and returns their paths."""
    output, stem = published.recipe.output, file_name(published.recipe.title)
    written: list[Path] = []
    suffixes = [suffix for name, suffix in (("csv", ".csv"), ("parquet", ".parquet")) if name in output]
    suffixes += [f".{output['figure']}"] if "figure" in output else []
    for answer in published.answers:
        written += [_write_one(answer, folder, suffix) for suffix in suffixes]
    if published.synthetic is not None:
        rows = [*(suffix for suffix in suffixes if suffix in (".csv", ".parquet"))]
        rows += [".xlsx"] if "excel" in output else []
        written += write_synthetic(published.synthetic, folder, stem, rows)
    if "excel" in output:
        written.append(folder / f"{stem}.xlsx")
        written[-1].write_bytes(excel_bytes(published.answers, published.statement.facts))
    if "json" in output:
        written.append(folder / f"{stem}.json")
        written[-1].write_text(json.dumps(finite(to_json(published)), ensure_ascii=False, indent=2) + "\n", "utf-8")
    if "statement" in output:
        written.append(folder / f"{stem}-statement.html")
        written[-1].write_text(statement_page(published.statement), "utf-8")
    return written


def to_json(published: Published) -> dict[str, object]:
    """Everything that was published, in JSON types."""
    return {
        "recipe": published.recipe.title,
        "guarantee": published.release.guarantee.to_json(),
        "statement": dict(published.statement.facts),
        "answers": [answer.to_json() for answer in published.answers],
    }


def file_name(title: str) -> str:
    """Turns a title into a file name of plain letters, digits and hyphens."""
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:LONGEST_NAME] or "answer"


def _write_one(answer: AnswerTable, folder: Path, suffix: str) -> Path:
    path = folder / f"{file_name(answer.title)}{suffix}"
    write_answer(answer, path)
    return path
