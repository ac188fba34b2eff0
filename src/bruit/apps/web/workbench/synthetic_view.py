"""A released synthetic table as its page and files show it."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bruit.apps.steward.code import schema_file
from bruit.apps.steward.exports import finite
from bruit.apps.steward.statements import Statement, statement_page, statement_text
from bruit.apps.steward.synthetic_tables.code import python_of_synthesis
from bruit.apps.steward.synthetic_tables.results import ENDINGS, synthetic_bytes, synthetic_statement
from bruit.apps.web.workbench.kept_tables import KeptTable
from bruit.ledger import Entry, Ledger
from bruit.ledger.statements import describe_entry
from bruit.synthetic import save

PACKED = ("csv", "xlsx", "parquet", "npz", "json", "html", "txt", "py")
"""What the archive holds; a comparison with the true table is in no file."""

NAMES = {"html": "statement.html", "txt": "statement.txt"}


@dataclass(frozen=True)
class SyntheticView:
    """A synthetic table, the entry that paid for it, and its files."""

    book: Ledger
    line: Entry
    kept: KeptTable
    answer: None = None
    """No table of values belongs to it: its rows are the release."""

    @property
    def title(self) -> str:
        """What was made, in words."""
        return str(describe_entry(self.line)["asked"])

    @property
    def statement(self) -> Statement:
        """The statement: what it is, its use, who is protected and what was paid."""
        assert self.line.release is not None
        return synthetic_statement(self.line.release, self.kept.made, book=self.book, number=self.line.number)

    def file(self, kind: str) -> bytes | None:
        """The bytes of a file by its extension; None where there is no such file."""
        if kind == "zip":
            return self._archive()
        if kind in ENDINGS:
            return synthetic_bytes(self.kept.made, kind)
        if kind == "npz":
            return self._saved()
        if kind == "py":
            return python_of_synthesis(self.kept.asked, self.kept.file, self.kept.schema).encode()
        texts = {"html": statement_page, "txt": statement_text}
        return texts[kind](self.statement).encode() if kind in texts else self._json() if kind == "json" else None

    def _saved(self) -> bytes:
        with TemporaryDirectory() as folder:
            return save(self.kept.made, Path(folder) / "synthetic.npz").read_bytes()

    def _json(self) -> bytes:
        described = {"book": self.book.name, **describe_entry(self.line), "statement": dict(self.statement.facts)}
        return (json.dumps(finite(described), ensure_ascii=False, indent=2) + "\n").encode()

    def _archive(self) -> bytes:
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for kind in PACKED:
                if (content := self.file(kind)) is not None:
                    archive.writestr(NAMES.get(kind, f"synthetic.{kind}"), content)
            archive.writestr(schema_file(self.kept.file), self.kept.schema)
        return packed.getvalue()
