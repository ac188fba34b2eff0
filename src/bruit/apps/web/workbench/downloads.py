"""The files of a release: values, chart, workbook, statement, and code that repeats the question."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from typing import Any

from bruit.apps.steward.answers import AnswerTable, labelled_table
from bruit.apps.steward.code import python_of, recipe_of
from bruit.apps.steward.exports import answer_bytes, finite
from bruit.apps.steward.statements import Statement, make_statement, statement_page, statement_text
from bruit.apps.web.workbench.kept_answers import KeptAnswer
from bruit.ledger import Entry, Ledger
from bruit.ledger.statements import describe_entry

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
        return str(describe_entry(self.line)["asked"] or self.line.what)

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
