"""Reads a sheet of an Excel file with every cell as a text, so that no type is guessed from other cells."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars

from bruit.errors import BadFile, MissingExtra
from bruit.tables.batches import in_batches
from bruit.tables.schema.files import File


def scan_excel(path: Path, facts: File) -> polars.LazyFrame:
    """The rows of the declared sheet below its declared header row."""
    names = _load(path, facts, rows=0).columns

    def batches(columns: list[str] | None) -> Iterator[polars.DataFrame]:
        frame = _load(path, facts, rows=None)
        yield frame if columns is None else frame.select(columns)

    return in_batches(batches, dict.fromkeys(names, polars.String))


def _load(path: Path, facts: File, *, rows: int | None) -> polars.DataFrame:
    sheets = sheet_names(path)
    import fastexcel

    try:
        book: Any = fastexcel.read_excel(path)
        sheet = book.load_sheet(facts.sheet, header_row=facts.header - 1, n_rows=rows, dtypes="string")
        return sheet.to_polars().cast(polars.String)  # type: ignore[no-any-return]
    except Exception:
        raise BadFile(
            f"{path}: sheet {facts.sheet!r} with names in row {facts.header} cannot be read; state sheet and header "
            f"in the schema's [file]; the sheets are {', '.join(sheets)}"
        ) from None


def sheet_names(path: Path) -> list[str]:
    """The names of a workbook's sheets, in order."""
    try:
        import fastexcel
    except ImportError:
        raise MissingExtra("Excel files", "excel") from None
    try:
        names: list[str] = fastexcel.read_excel(path).sheet_names
    except Exception:
        raise BadFile(f"{path}: this is no whole Excel file: it was cut, or is of another kind") from None
    return names
