"""Reads a sheet of an Excel file with every cell as a text, so that no type is guessed from other cells."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars

from bruit.errors import BadFile, MissingExtra
from bruit.tables.batches import in_batches
from bruit.tables.schema.files import File
from bruit.tables.sources import excel_names


def scan_excel(path: Path, facts: File) -> polars.LazyFrame:
    """The rows of the declared sheet below its declared header row."""
    names = _names(path, facts)
    if any(f"{name}_1" in names for name in names):  # as the reader calls a second column of one name
        names = _with_twice(names, _load(path, facts, heads_only=True).row(0))

    def batches(columns: list[str] | None) -> Iterator[polars.DataFrame]:
        frame = _load(path, facts)
        frame.columns = names
        yield frame if columns is None else frame.select(columns)

    return in_batches(batches, dict.fromkeys(names, polars.String))


def _names(path: Path, facts: File) -> list[str]:
    """The names of the columns, found by a process of its own, since some files end the process that opens them."""
    _reader()
    where = json.dumps([str(path), facts.sheet, facts.header])
    command = [sys.executable, "-P", excel_names.__file__, where]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode < 0:
        raise BadFile(
            f"{path}: sheet {facts.sheet!r} is too large to be opened; delete what stands far from the table, "
            "or save the sheet as CSV"
        )
    if found.returncode:
        raise _unread(path, facts)
    names: list[str] = json.loads(found.stdout)
    return names


def _with_twice(names: list[str], heads: tuple[str | None, ...]) -> list[str]:
    """The names with every further column of one name marked as readers of CSV files mark it."""
    seen: dict[str | None, int] = {}
    marked = []
    for name, head in zip(names, heads, strict=True):
        seen[head] = seen.get(head, -1) + 1
        marked.append(f"{head}_duplicated_{seen[head] - 1}" if head and seen[head] else name)
    return marked


def _load(path: Path, facts: File, *, heads_only: bool = False) -> polars.DataFrame:
    """The rows below the names; with `heads_only`, the names themselves as one row, as they stand in their cells."""
    above = facts.header - 1
    wanted = {"header_row": None, "skip_rows": above, "n_rows": 1} if heads_only else {"header_row": above}
    try:
        book: Any = _reader().read_excel(path)
        sheet = book.load_sheet(facts.sheet, dtypes="string", **wanted)
        return sheet.to_polars().cast(polars.String)  # type: ignore[no-any-return]
    except Exception:
        raise _unread(path, facts) from None


def _reader() -> Any:
    try:
        import fastexcel
    except ImportError:
        raise MissingExtra("Excel files", "excel") from None
    return fastexcel


def sheet_names(path: Path) -> list[str]:
    """The names of a workbook's sheets, in order."""
    reader = _reader()
    try:
        names: list[str] = reader.read_excel(path).sheet_names
    except Exception:
        raise BadFile(f"{path}: this is no whole Excel file: it was cut, or is of another kind") from None
    return names


def _unread(path: Path, facts: File) -> BadFile:
    return BadFile(
        f"{path}: sheet {facts.sheet!r} with names in row {facts.header} cannot be read; state sheet and header "
        f"in the schema's [file]; the sheets are {', '.join(sheet_names(path))}"
    )
