"""Stores every synthetic table that was released here, beside the ledgers, and holds the last ones in memory."""

from __future__ import annotations

import json
import logging
from collections import OrderedDict
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import Any

from bruit.apps.steward.charts import Bars
from bruit.apps.steward.synthetic_tables.results import marginal_charts
from bruit.apps.web.security.safe_logs import OWN, place
from bruit.apps.web.workbench.kept_answers import release_path
from bruit.synthetic import SyntheticTable, load, save

log = logging.getLogger(OWN)

MOST_HELD = 4
"""Synthetic tables in memory; others are read from their files again."""

MOST_CHARTS = 24
"""Columns that a page has charts of; the files have them all."""


@dataclass(frozen=True)
class KeptTable:
    """A synthetic table that was paid for here: what was asked, of which file under which schema, and the table."""

    asked: dict[str, Any]
    file: str
    schema: str
    """The schema of the true table in TOML."""

    made: SyntheticTable

    @cached_property
    def charts(self) -> list[Bars]:
        """The counts of single columns with their intervals."""
        return marginal_charts(self.made, MOST_CHARTS)


@dataclass
class KeptTables:
    """A folder with two files for each synthetic table made here: the table, and what was asked."""

    folder: Path
    held: OrderedDict[tuple[str, int], KeptTable] = field(default_factory=OrderedDict)
    lock: Lock = field(default_factory=Lock)

    def require_folder(self, book: str) -> None:
        """Makes the folder of a book's tables, so that one that cannot be made is noticed before a charge."""
        release_path(self.folder, book, 0, "npz").parent.mkdir(parents=True, exist_ok=True)

    def keep(self, book: str, number: int, kept: KeptTable) -> None:
        """Holds a table and writes its files; one that cannot be written is paid for and stays in memory."""
        self._hold(book, number, kept)
        about = {"asked": kept.asked, "file": kept.file, "schema": kept.schema}
        path = release_path(self.folder, book, number, "synthetic.json")
        try:
            save(kept.made, release_path(self.folder, book, number, "npz"))
            path.with_suffix(".new").write_text(json.dumps(about, ensure_ascii=False), encoding="utf-8")
            path.with_suffix(".new").replace(path)
        except OSError as error:
            log.error("%s", place(error))

    def find(self, book: str, number: int) -> KeptTable | None:
        """The synthetic table of an entry; None where the entry is of another kind or was made elsewhere."""
        if (found := self.held.get((book, number))) is not None:
            return found
        path = release_path(self.folder, book, number, "synthetic.json")
        if not path.is_file():
            return None
        about = json.loads(path.read_text(encoding="utf-8"))
        kept = KeptTable(**about, made=load(release_path(self.folder, book, number, "npz")))
        self._hold(book, number, kept)
        return kept

    def _hold(self, book: str, number: int, kept: KeptTable) -> None:
        with self.lock:
            self.held[book, number] = kept
            while len(self.held) > MOST_HELD:
                self.held.popitem(last=False)
