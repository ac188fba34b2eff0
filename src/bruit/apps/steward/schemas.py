"""Reads schema files, with the path in every error, and drafts schemas from a file's header.

A draft holds names of columns, the dialect of the first line and the types that a Parquet file states: no record is
read, so nothing in a draft depends on one. What must be known beforehand is left empty, and a schema with an empty
place is refused by name until somebody fills it in.
"""

from __future__ import annotations

import codecs
import json
import re
from dataclasses import dataclass, replace
from pathlib import Path

import polars

from bruit.errors import BadFile, BruitError, InvalidArgument, MissingData
from bruit.tables.schema import File, Schema, csv, excel, parquet
from bruit.tables.sources.csv_lines import scan_csv
from bruit.tables.sources.excel_sheets import scan_excel, sheet_names
from bruit.tables.sources.opening import SUFFIXES

SEPARATORS = (";", "\t", "|", ",")
"""The separators looked for in a header line; those that are rare inside column names come first."""

MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
LONGEST_HEAD = 1 << 20
"""Bytes in which the first line must end."""

CHOICES = {
    "number": "low, high, grid",
    "category": 'values = ["a", "b"]',
    "yesno": 'yes = ["oui"], no = ["non"]',
    "date": 'format = "dd/mm/yyyy", first, last',
    "time": "format, first, last, zone",
    "whole": "or text, long: names people; 0012 and 12 are one whole number, two texts",
    "found": "longest: groups that nobody listed",
}
"""What each type must say, for whoever completes a draft."""

TWICE = "# Several columns are called so: give each a name of its own in the file, or leave this one out."

UNNAMED = "__UNNAMED__"
"""How a column of an Excel sheet without a name is called."""

REMARKS = {
    "sheet": "  # for another: bruit schema FILE --sheet NAME --header LINE",
    "header": "  # the line that names the columns, where titles stand above it",
    "encoding": "  # utf-8, windows-1252 (Excel in Western Europe), latin-1 or utf-16",
    "decimal": '  # "." or ","',
    "thousands": '  # the sign in 1 250: " " (any blank), ".", ",", "\'", or "?" (a narrow blank that Excel lost)',
}


@dataclass(frozen=True)
class Head:
    """A file's format and its columns with their stated types, known before any record is read."""

    file: File
    columns: dict[str, str]
    """The type that the file states; empty where it states none, as in a CSV or Excel file."""

    ends: bool = True
    """Whether the last line of a CSV file ends; where it does not, the file may have been cut."""

    twice: tuple[str, ...] = ()
    """Names that several columns of a CSV or Excel file have: none of these can be declared."""


def read_schema(path: Path) -> Schema:
    """Reads a schema from a TOML or JSON file; every error names the file."""
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        raise MissingData(f"{path}: no such file; `bruit schema FILE` writes a draft to be completed") from None
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{path} cannot be read as a schema: {error}") from None
    try:
        return Schema.from_json(text) if path.suffix.lower() == ".json" else Schema.from_toml(text)
    except json.JSONDecodeError as error:
        raise BadFile(f"{path}: the schema is no JSON: {error}") from None
    except BruitError as error:
        raise type(error)(f"{path}: {error}") from None


def read_names(path: Path, facts: File | None = None, *, header: int = 1, sheet: str | None = None) -> Head:
    """Reads column names and stated types of a file; without `facts`, the format is guessed from its header line.

    The header line of a CSV or Excel file and the sheet are the first ones unless stated.
    """
    kind = kind_of(path)
    if facts is None and kind == "excel":
        facts = excel(header=header, sheet=sheet_names(path)[0] if sheet is None else sheet)
    if facts is None:
        facts = _facts(path, header) if kind == "csv" else parquet()
    if kind == "parquet":
        try:
            kinds = polars.read_parquet_schema(path)
        except (polars.exceptions.PolarsError, OSError):
            raise BadFile(f"{path}: this is no whole Parquet file: it was cut, or is of another kind") from None
        return Head(facts, {name: _stated_type(each) for name, each in kinds.items()})
    frame = scan_csv([path], replace(facts, complete=True)) if kind == "csv" else scan_excel(path, facts)
    ends = kind != "csv" or b"\n" in _last_bytes(path)
    named = [name for name in frame.collect_schema().names() if not is_nameless(name)]
    twice = [name for name in named if f"{name}_duplicated_0" in named]
    again = {each for each in named for name in twice if re.fullmatch(rf"{re.escape(name)}_duplicated_[0-9]+", each)}
    return Head(facts, {name: "" for name in named if name not in again}, ends, tuple(twice))


def is_nameless(column: str) -> bool:
    """Whether a column of a file has no name in its header line, such as empty columns at its end."""
    return not column.strip() or column.startswith((UNNAMED, "_duplicated_"))


def kind_of(path: Path) -> str:
    """The kind of a file (csv, excel or parquet) by its extension."""
    if not path.is_file():
        raise MissingData(f"{path}: no such file")
    for kind, suffixes in SUFFIXES.items():
        if path.suffix.lower() in suffixes:
            return kind
    every = ", ".join(suffix for suffixes in SUFFIXES.values() for suffix in suffixes)
    raise InvalidArgument(f"{path.name}: the name must end in one of {every}")


def draft_schema(head: Head, name: str) -> str:
    """A TOML draft with every column named, and every fact that must be stated left open."""
    plain = File().to_json()
    facts = {key: value for key, value in head.file.to_json().items() if value != plain[key] or key == "kind"}
    shown = {"csv": ("separator", "encoding", "decimal", "thousands", "header"), "excel": ("sheet", "header")}
    facts |= {key: getattr(head.file, key) for key in shown.get(head.file.kind, ())}
    lines = [
        "# A draft: fill in every empty place with what is known before the table is seen, then",
        "# `bruit look FILE --schema ...` shows its curator what is read. Columns that no question needs can go.",
        f"name = {json.dumps(name, ensure_ascii=False)}",
        'person = ""  # the column that says whose row it is, or "each row"',
        "",
        "[file]",
        *(f"{key} = {json.dumps(value, ensure_ascii=False)}{REMARKS.get(key, '')}" for key, value in facts.items()),
        *([] if head.ends else ['complete = ""  # the last line does not end: true where the file was not cut']),
        "",
        *(f"# type = {json.dumps(kind)}: {options}" for kind, options in CHOICES.items()),
    ]
    for column, stated in head.columns.items():
        said = [TWICE] if column in head.twice else []
        lines += ["", *said, f"[columns.{json.dumps(column, ensure_ascii=False)}]", *_open_places(stated)]
    return "\n".join(lines) + "\n"


def _open_places(stated: str) -> list[str]:
    """The lines of a column: its type where the file states one, and empty places for the rest."""
    places = {
        "number": ['low = ""', 'high = ""', 'grid = ""'],
        "yesno": ['yes = ["true"]', 'no = ["false"]'],
        "date": ['first = ""', 'last = ""'],
        "time": ['first = ""', 'last = ""', 'zone = ""'],
        "category": ["values = []"],
    }
    return [f"type = {json.dumps(stated)}", *places.get(stated, [])]


def _stated_type(kind: polars.DataType) -> str:
    """The declared type nearest to what a Parquet file says of a column."""
    if kind.is_numeric():
        return "number"
    if isinstance(kind, polars.Boolean):
        return "yesno"
    if isinstance(kind, polars.Date):
        return "date"
    return "time" if isinstance(kind, polars.Datetime) else "category" if isinstance(kind, polars.String) else ""


def _facts(path: Path, header: int) -> File:
    """How a CSV file is written, as far as its header line tells; a semicolon goes with a decimal comma."""
    with path.open("rb") as file:
        start = file.read(LONGEST_HEAD)
    encoding = next((name for mark, name in MARKS.items() if start.startswith(mark)), None)
    if encoding is None:
        lines = b"\n".join(start.split(b"\n", header)[:header])
        encoding = "utf-8" if _is_utf_8(lines) else "windows-1252"
    text = [*start.decode(encoding, "replace").lstrip("\ufeff").split("\n", header)[:header], ""][header - 1]
    separator = next((mark for mark in SEPARATORS if mark in text), ",")
    return csv(separator=separator, encoding=encoding, decimal="," if separator == ";" else ".", header=header)


def _last_bytes(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 2))
        return file.read()


def _is_utf_8(line: bytes) -> bool:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
