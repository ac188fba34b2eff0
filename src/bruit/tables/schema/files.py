"""Public facts about a file's format: how it writes lines, numbers and missing cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bruit.errors import InvalidArgument

KINDS = ("csv", "excel", "parquet")
ENCODINGS = {"utf-8": "utf-8", "utf-16": "utf-16", "latin-1": "latin-1", "windows-1252": "cp1252"}
THOUSANDS = {
    "": (), " ": (" ", "\u00a0", "\u202f"), ".": (".",), ",": (",",), "'": ("'", "\u2019"), "?": ("?",),
}  # fmt: skip
"""The signs between thousands and how each is written: three blanks stand for each other, and two apostrophes.

A question mark is what Excel on Windows writes for the narrow blank of French numbers, which windows-1252 lacks.
"""


@dataclass(frozen=True)
class File:
    """The format of a file; for a frame or a database, only the facts about texts matter."""

    kind: str = "csv"
    separator: str = ","
    encoding: str = "utf-8"
    decimal: str = "."
    thousands: str = ""
    missing: tuple[str, ...] = ("",)
    complete: bool = False
    sheet: str | int = 0
    header: int = 1

    def __post_init__(self) -> None:
        self._check("kind", self.kind, KINDS)
        self._check("encoding", self.encoding, tuple(ENCODINGS))
        self._check("decimal", self.decimal, (".", ","))
        self._check("thousands", self.thousands, tuple(THOUSANDS))
        single = isinstance(self.separator, str) and len(self.separator) == 1 and self.separator.isascii()
        if not single or self.separator in '"\r\n' or self.separator.isalnum():
            raise InvalidArgument(f"separator={self.separator!r} must be one ASCII sign, such as ';' or a tab")
        if self.thousands == self.decimal:
            raise InvalidArgument(f"thousands and decimal are both {self.decimal!r}; they must differ")
        if self.kind == "excel" and self.thousands == ".":
            raise InvalidArgument("thousands='.' cannot be told from the point of a number cell of an Excel file")
        if not isinstance(self.complete, bool):
            raise InvalidArgument(f"complete={self.complete!r} must be true or false")
        if isinstance(self.header, bool) or not isinstance(self.header, int) or self.header < 1:
            raise InvalidArgument(
                f"header={self.header!r} must be the number of the row that names the columns, from 1"
            )
        if isinstance(self.sheet, bool) or not isinstance(self.sheet, int | str):
            raise InvalidArgument(f"sheet={self.sheet!r} must be the name of a sheet, or its place from 0")
        if isinstance(self.missing, str) or not all(isinstance(text, str) for text in self.missing):
            raise InvalidArgument(f"missing={self.missing!r} must be a list of texts")

    def _check(self, name: str, value: object, allowed: Sequence[str]) -> None:
        if value not in allowed:
            raise InvalidArgument(f"{name}={value!r}; choose among {', '.join(map(repr, allowed))}")

    def to_json(self) -> dict[str, Any]:
        """Every fact about the format, in JSON types."""
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return facts | {"missing": list(self.missing)}


def file_from_json(facts: Mapping[str, Any]) -> File:
    """The file format that a mapping describes; what is left out is as in a plain CSV file."""
    unknown = sorted(set(facts) - set(File.__dataclass_fields__))
    if unknown:
        raise InvalidArgument(f"[file] has no option {unknown[0]!r}; it has {', '.join(File.__dataclass_fields__)}")
    missing = facts.get("missing", ("",))
    return File(**{**facts, "missing": missing if isinstance(missing, str) else tuple(missing)})


def csv(**facts: Any) -> File:
    """The format of a CSV file: separator, encoding, decimal, thousands, missing, complete, header."""
    return file_from_json({"kind": "csv", **facts})


def excel(**facts: Any) -> File:
    """The format of an Excel file: sheet, header, decimal, thousands, missing."""
    return file_from_json({"kind": "excel", **facts})


def parquet(**facts: Any) -> File:
    """The format of a Parquet file; decimal, thousands and missing apply to text columns."""
    return file_from_json({"kind": "parquet", **facts})
