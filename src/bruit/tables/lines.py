"""CSV files read line by line: one line is at most one row, so that no row hides another or makes two."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars

from bruit.errors import BadFile
from bruit.tables._line_kernels import QUOTE, RETURN, SEPARATOR, keep_rows, next_states
from bruit.tables.batches import in_batches

BLOCK = 1 << 23
"""Bytes that are in memory at once."""


def scan_lines(files: Sequence[Path], separator: str) -> polars.LazyFrame:
    """The rows of CSV files that name the same columns in their first lines; every column is text.

    A line is a row where it has as many fields as the first line and every quote opens, closes or doubles in a field of
    that line. Any other line is none: what a line is hangs on that line alone.
    """
    head = first_line(files[0])
    schema = _schema(files[0], head, separator)

    def blocks(columns: list[str] | None) -> Iterator[polars.DataFrame]:
        for file in files:
            for block in _blocks(file):
                yield _frame(head + rows_of(block, separator, len(schema)), separator, columns)

    return in_batches(blocks, schema)


def first_line(path: Path) -> bytes:
    """The line that names the columns, of a file whose last line ends: of one that was cut it does not."""
    with path.open("rb") as file:
        first = file.readline()
        if not first.strip():
            raise BadFile(f"{path}: the first line of a CSV file names the columns; it is empty")
        file.seek(-1, os.SEEK_END)
        if file.read() != b"\n":
            raise BadFile(
                f"{path}: the last line does not end, as in a file that was cut half-way; "
                "if the file is whole, add a line break at its end"
            )
    return first.removeprefix(b"\xef\xbb\xbf").rstrip(b"\r\n") + b"\n"


def _schema(path: Path, head: bytes, separator: str) -> polars.Schema:
    try:
        schema = _frame(head, separator, None).schema
    except polars.exceptions.PolarsError:
        schema = polars.Schema()
    if rows_of(head, separator, len(schema)) != head:
        raise BadFile(f"{path}: the first line must name the columns; a quote in it is not that of a CSV writer")
    return schema


def rows_of(block: bytes, separator: str, fields: int) -> bytes:
    """Those lines of a block that are rows of so many fields."""
    data = np.frombuffer(block, np.uint8)
    kept, kinds = np.empty_like(data), np.zeros(256, np.uint8)
    kinds[[ord(separator), ord('"'), ord("\r")]] = SEPARATOR, QUOTE, RETURN
    return kept[: keep_rows(data, kept, kinds, next_states(), fields)].tobytes()


def _blocks(file: Path) -> Iterator[bytes]:
    """Whole lines without the first, about a block at a time."""
    with file.open("rb") as stream:
        stream.readline()
        while block := stream.read(BLOCK):
            block += stream.readline()
            yield block if block.endswith(b"\n") else block + b"\n"


def _frame(lines: bytes, separator: str, columns: list[str] | None) -> polars.DataFrame:
    encoding = "utf8" if lines.isascii() else "utf8-lossy"  # the same for these bytes, and twice as fast
    return polars.read_csv(lines, columns=columns, separator=separator, infer_schema=False, encoding=encoding)
