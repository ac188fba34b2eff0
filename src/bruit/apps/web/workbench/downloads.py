"""The files of a release: values, chart, workbook, statement, and code that repeats the question."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from typing import Any

from fastapi import HTTPException, Request

from bruit.apps.steward.answers import AnswerTable, labelled_table
from bruit.apps.steward.code import python_of, recipe_of
from bruit.apps.steward.exports import answer_bytes, finite
from bruit.apps.steward.statements import Statement, make_statement, statement_page, statement_text
from bruit.apps.web.workbench import context
from bruit.apps.web.workbench.kept_answers import KeptAnswer
from bruit.apps.web.workbench.synthetic_view import SyntheticView
from bruit.ledger import Entry, Ledger
from bruit.ledger.statements import describe_entry

STATISTIC_WORDS = {
    "sum": "sum of",
    "mean": "mean of",
    "variance": "variance of",
    "quantiles": "quantiles of",
    "group_by": "sum of",
    "count": "number of rows with",
    "histogram": "number of rows by",
    "most_common": "most common value of",
    "bounds": "bounds of",
}
"""What stands before the columns in the title of a release that was not asked by SQL."""

KINDS = {
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
    "svg": "image/svg+xml",
    "json": "application/json",
    "html": "text/html; charset=utf-8",
    "txt": "text/plain; charset=utf-8",
    "toml": "text/plain; charset=utf-8",
    "py": "text/x-python",
    "npz": "application/octet-stream",
    "zip": "application/zip",
}


@dataclass(frozen=True)
class ReleaseView:
    """A release as its page and files show it."""

    book: Ledger
    line: Entry
    kept: KeptAnswer | None

    @property
    def answer(self) -> AnswerTable | None:
        """The answer as a table; None where the release holds no numbers."""
        release = self.line.release
        if release is None:
            return None
        if self.kept is not None:
            return self.kept.table(release)
        return labelled_table(release, self.title)

    @property
    def title(self) -> str:
        """What was asked, in words where the entry records them."""
        asked, name = describe_entry(self.line)["asked"], self.line.what.removeprefix("central.")
        release = self.line.release
        subject: dict[str, Any] = (None if release is None else release.details.get("asked")) or {}
        if not asked or "words" in subject or name not in STATISTIC_WORDS:
            return str(asked or self.line.what)
        said = STATISTIC_WORDS[name] if subject["columns"] else "number of rows"
        return f"{said} {asked}" if subject["columns"] or subject["by"] else f"{said}; {asked}"

    @property
    def statement(self) -> Statement:
        """The statement: what was asked, who is protected, what was paid and how precise it is."""
        answers = [] if self.answer is None else [self.answer]
        return make_statement(
            f"Statement: {self.title}", answers, book=self.book, guarantee=self.line.guarantee, number=self.line.number
        )

    def file(self, kind: str) -> bytes | None:
        """The bytes of a file by its extension; None where this release has no such file."""
        if kind == "zip":
            return self._archive()
        answer = self.answer
        if kind in ("csv", "xlsx", "parquet", "svg"):
            return None if answer is None else answer_bytes(answer, f".{kind}", about=self.statement.facts)
        if kind in ("py", "toml"):
            if self.kept is None:
                return None
            made = python_of if kind == "py" else recipe_of
            return made(self.kept.asked, self.kept.schemas).encode()
        texts = {"html": statement_page, "txt": statement_text}
        return texts[kind](self.statement).encode() if kind in texts else self._json() if kind == "json" else None

    def _json(self) -> bytes:
        entry = describe_entry(self.line)
        described: dict[str, Any] = {"book": self.book.name, **entry, "statement": dict(self.statement.facts)}
        if self.answer is not None:
            described["answer"] = self.answer.to_json()
        return (json.dumps(finite(described), ensure_ascii=False, indent=2) + "\n").encode()

    def _archive(self) -> bytes:
        packed, names = io.BytesIO(), {"html": "statement.html", "txt": "statement.txt", "toml": "recipe.toml"}
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for kind in KINDS:
                content = None if kind == "zip" else self.file(kind)
                if content is not None:
                    archive.writestr(names.get(kind, f"release.{kind}"), content)
            for file, schema in ({} if self.kept is None else self.kept.schemas).items():
                archive.writestr(f"{file.rpartition('.')[0] or file}.toml", schema)
        return packed.getvalue()


def find_release(request: Request, book: str, number: int) -> ReleaseView | SyntheticView:
    """A release by its ledger and entry, or error 404."""
    ledger = context.book(request, book)
    line = next((one for one in ledger.entries if one.number == number), None)
    if line is None or line.release is None:
        raise HTTPException(404, "No release stands at this place of the book.")
    made = context.kept_tables(request).find(book, number)
    if made is not None:
        return SyntheticView(ledger, line, made)
    return ReleaseView(ledger, line, context.kept_answers(request).find(book, number))
