"""A growing folder as the source of a stream: the files not read yet are the rows of the next period."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

import polars

from bruit.errors import BadFile, MissingData
from bruit.tables import Table, read
from bruit.tables.reading import KINDS


def new_files(folder: str | Path, known: Collection[str]) -> list[Path]:
    """The files of a folder that are not in `known`, by name; names that start with a dot are skipped."""
    return [path for path in data_files(folder) if path.name not in known]


def read_files(folder: str | Path, files: Sequence[Path], person: str) -> Table:
    """The rows of some files of a folder; without files, an empty table with the folder's columns.

    Every file has the columns of the first one by name; another schema is refused before any row is read.
    """
    first = read(data_files(folder)[0], person=person)
    tables = [read(file, person=person) for file in files]
    for file, table in zip(files, tables, strict=True):
        if table.columns != first.columns:
            raise BadFile(f"{file.name}: its columns are not those of the other files in {folder}; take it away")
    frames = [first.frame.head(0), *(table.frame for table in tables)]
    return read(polars.concat(frames), person=person)


def data_files(folder: str | Path) -> list[Path]:
    """The CSV and Parquet files of a folder, sorted by name."""
    path = Path(folder)
    files = sorted(file for file in path.glob("*") if file.suffix.lower() in KINDS and not file.name.startswith("."))
    if not files:
        raise MissingData(f"{path}: no CSV or Parquet file in this folder; the first one tells its columns")
    return files
