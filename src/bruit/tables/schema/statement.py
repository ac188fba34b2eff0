"""Schemas: what is stated about a table before it is read, with equal forms in TOML, JSON and Python."""

from __future__ import annotations

import hashlib
import json
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bruit.core.neighbours import EACH_ROW
from bruit.core.toml import read_toml
from bruit.errors import BadFile, InvalidArgument
from bruit.tables.column_names import check_new_names
from bruit.tables.schema.builders import column_from_json
from bruit.tables.schema.columns import ColumnType, Found, Text, Whole
from bruit.tables.schema.files import File, file_from_json

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")


@dataclass(frozen=True)
class Schema:
    """The columns of a table with their types, whose rows they are, and the format of its file.

    `person` names a column, or is EACH_ROW.

    >>> from bruit.tables.schema import Schema, number, text
    >>> stays = Schema(name="stays", person="patient", columns={"patient": text(), "days": number(0, 60, grid=1)})
    >>> Schema.from_toml(stays.to_toml()) == stays
    True
    """

    person: str
    columns: Mapping[str, ColumnType]
    name: str = "table"
    file: File = field(default_factory=File)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", dict(self.columns))
        if not isinstance(self.name, str) or not self.name:
            raise InvalidArgument(f"name={self.name!r}: give the table a name")
        if EACH_ROW in self.columns:
            raise InvalidArgument(f"a column may not be called {EACH_ROW!r}, which says that each row is a person")
        if self.person != EACH_ROW and not isinstance(self.columns.get(self.person), Text | Whole):
            raise InvalidArgument(
                f"person={self.person!r} must be a column of type text, whole or long, or {EACH_ROW!r}"
            )
        for name in self.columns:
            check_new_names([name])
        if not self.columns:
            raise InvalidArgument("a schema needs at least one column")
        if not _is_unicode(json.dumps(self.to_json(), ensure_ascii=False)):
            raise InvalidArgument("a name or a label of the schema holds half of a character: write it anew")

    def __hash__(self) -> int:
        return hash(self.digest)

    @property
    def digest(self) -> str:
        """The SHA-256 of the schema's sorted JSON, which identifies it publicly."""
        return hashlib.sha256(json.dumps(self.to_json(), sort_keys=True).encode()).hexdigest()

    @property
    def found(self) -> tuple[str, ...]:
        """The columns whose values are found in the data."""
        return tuple(name for name, column in self.columns.items() if isinstance(column, Found))

    def to_json(self) -> dict[str, Any]:
        """A complete description in JSON types."""
        columns = {name: {"type": column.type, **column.to_json()} for name, column in self.columns.items()}
        return {"name": self.name, "person": self.person, "file": self.file.to_json(), "columns": columns}

    @classmethod
    def from_json(cls, description: Mapping[str, Any] | str) -> Schema:
        """Reads a schema from what `to_json` wrote, or its JSON text; an option given twice is refused."""
        values = json.loads(description, object_pairs_hook=_once) if isinstance(description, str) else description
        if not isinstance(values, Mapping):
            raise InvalidArgument("a schema is a mapping with person, columns and file")
        unknown = sorted(set(values) - {"name", "person", "file", "columns"})
        if unknown:
            raise InvalidArgument(f"a schema has no option {unknown[0]!r}; it has name, person, file and columns")
        if "person" not in values or not isinstance(values.get("columns"), Mapping):
            raise InvalidArgument(f"a schema needs person (a column, or {EACH_ROW!r}) and columns")
        columns = {name: column_from_json(name, each) for name, each in values["columns"].items()}
        return cls(
            values["person"], columns, name=values.get("name", "table"), file=file_from_json(values.get("file", {}))
        )

    def to_toml(self) -> str:
        """The schema as TOML, which `from_toml` reads back."""
        description = self.to_json()
        columns, facts = description.pop("columns"), description.pop("file")
        blocks = [_block(None, description), _block("file", facts)]
        return "\n".join([*blocks, *(_block(f"columns.{_key(name)}", each) for name, each in columns.items())])

    @classmethod
    def from_toml(cls, text: str) -> Schema:
        """Reads a schema from TOML; numbers keep every digit."""
        try:
            values = read_toml(text, parse_float=str)
        except tomllib.TOMLDecodeError as error:
            raise BadFile(f"the schema is no TOML: {error}") from None
        return cls.from_json(values)


def _is_unicode(text: str) -> bool:
    """Whether an engine can hold the text: Python's may have halves of characters, which no encoding writes."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        names = [name for name, _ in pairs]
        raise InvalidArgument(f"{max(names, key=names.count)!r} is given twice; state each option once")
    return values


def _block(title: str | None, values: Mapping[str, Any]) -> str:
    lines = [] if title is None else [f"[{title}]"]
    return "".join(
        f"{line}\n" for line in (*lines, *(f"{_key(key)} = {_toml(value)}" for key, value in values.items()))
    )


def _key(name: str) -> str:
    return name if _BARE.match(name) else _quote(name)


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return str(value) if isinstance(value, int) else _quote(value)


def _quote(text: str) -> str:
    """A basic string of TOML, which is one of JSON whose rarer signs are escaped by their numbers."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
