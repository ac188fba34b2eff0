"""Reads CSV files of any separator and encoding line by line; how a line is read depends on that line alone."""

from __future__ import annotations

import codecs
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars

from bruit.errors import BadFile
from bruit.tables.batches import in_batches
from bruit.tables.lines import BLOCK, rows_of
from bruit.tables.schema.files import ENCODINGS, File

MARKS = {"utf-8": (codecs.BOM_UTF8,), "utf-16": (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)}
"""The bytes that a file may begin with to tell its encoding."""

LONGEST_LINE = 1 << 24
"""Bytes of a line that can be a row."""

NO_ROW = b'"\n'
"""A line whose quote never closes."""


def scan_csv(files: Sequence[Path], facts: File) -> polars.LazyFrame:
    """The rows of CSV files whose declared header lines name the same columns; every column is text.

    A line is a row where it has as many fields as the first line and every quote opens, closes or doubles in a field of
    that line; any other line is none.
    """
    heads = [head_of(file, facts) for file in files]
    if any(head != heads[0] for head in heads):
        raise BadFile(f"{files[0].parent}: the files do not have the same columns in the same order")
    names = _names(files[0], heads[0], facts)

    def blocks(columns: list[str] | None) -> Iterator[polars.DataFrame]:
        for file in files:
            lines = _lines(file, facts)
            next(lines)
            for block in lines:
                rows = rows_of(block, facts.separator, len(names))
                yield _frame(heads[0] + rows, facts.separator, columns)

    return in_batches(blocks, dict.fromkeys(names, polars.String))


def head_of(path: Path, facts: File) -> bytes:
    """The header line as UTF-8; a file whose last line does not end must be declared so."""
    first = next(_lines(path, facts), b"")
    if not first.strip():
        raise BadFile(f"{path}: line {facts.header} of the file must name the columns; it is empty")
    if b"\r" in first.rstrip(b"\r\n"):
        raise BadFile(
            f"{path}: its lines end with a carriage return alone, as old programs write them, so that the whole file "
            "is one line; open it and save it as CSV again"
        )
    if not facts.complete and not _ends(path, facts):
        raise BadFile(
            f"{path}: the last line does not end, as in a file that was cut half-way; if the file is whole, "
            "say complete = true in the schema's [file], or add a line break at its end"
        )
    return first.rstrip(b"\r\n") + b"\n"


def _ends(path: Path, facts: File) -> bool:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2))
        last = file.read()
    return last in (b"\n\x00", b"\x00\n") if facts.encoding == "utf-16" else last.endswith(b"\n")


def _names(path: Path, head: bytes, facts: File) -> list[str]:
    try:
        names = _frame(head, facts.separator, None).columns
    except polars.exceptions.PolarsError:
        names = []
    if rows_of(head, facts.separator, len(names)) != head:
        raise BadFile(
            f"{path}: line {facts.header} must name the columns; a quote in it is not that of a CSV writer: write each "
            "name on one line, and where titles stand above the names, state header, the line that holds them"
        )
    return names


def _lines(path: Path, facts: File) -> Iterator[bytes]:
    """The declared header line, then whole lines of about a block at a time, as UTF-8."""
    blocks, titles = _whole_lines(_transcoded(path, facts)), facts.header - 1
    for block in blocks:
        lines = block
        while titles and lines:
            lines, titles = lines.partition(b"\n")[2], titles - 1
        if lines:
            head, _, below = lines.partition(b"\n")
            yield head + b"\n"
            if below:
                yield below
            break
    yield from blocks


def _whole_lines(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """The blocks cut where lines end, whatever the blocks were; a last line without its end is given one.

    In place of a line beyond LONGEST_LINE stands one that is never a row, so that memory holds a bounded text.
    """
    held: list[bytes] = []
    size = 0
    for block in blocks:
        end = block.find(b"\n") + 1
        size += end or len(block)
        if size > LONGEST_LINE:
            held.clear()
        elif not end:
            held.append(block)
        if not end:
            continue
        first = NO_ROW if size > LONGEST_LINE else b"".join([*held, block[:end]])
        cut = block.rfind(b"\n") + 1
        yield first + block[end:cut]
        held, size = [block[cut:]], len(block) - cut
    if size:
        yield NO_ROW if size > LONGEST_LINE else b"".join([*held, b"\n"])


def _transcoded(path: Path, facts: File) -> Iterator[bytes]:
    """The file in blocks of UTF-8; bytes that the encoding does not know become U+FFFD, each by itself."""
    marks = MARKS.get(facts.encoding, ())
    with path.open("rb") as file:
        start = file.read(3)
        mark = next((mark for mark in marks if start.startswith(mark)), b"")
        file.seek(len(mark))
        if facts.encoding == "utf-8":
            while block := file.read(BLOCK):
                yield block
            return
        encoding = ENCODINGS[facts.encoding]
        if encoding == "utf-16":
            encoding = "utf-16-be" if mark == codecs.BOM_UTF16_BE else "utf-16-le"
        decoder = codecs.getincrementaldecoder(encoding)("replace")
        while block := file.read(BLOCK):
            yield decoder.decode(block).encode("utf-8", "replace")
        yield decoder.decode(b"", final=True).encode("utf-8", "replace")


def _frame(lines: bytes, separator: str, columns: list[str] | None) -> polars.DataFrame:
    encoding = "utf8" if lines.isascii() else "utf8-lossy"  # the same for these bytes, and twice as fast
    return polars.read_csv(lines, columns=columns, separator=separator, infer_schema=False, encoding=encoding)
