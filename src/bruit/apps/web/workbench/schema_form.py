"""The form of a schema: file format, person, one line per column; empty fields are never guessed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bruit.apps.web.digits import read_digits
from bruit.apps.web.workbench.uploads import Loaded
from bruit.core.neighbours import EACH_ROW
from bruit.errors import InvalidArgument
from bruit.tables.schema import File, Schema

TYPES = (
    ("number", "number"),
    ("category", "category"),
    ("yesno", "yes or no"),
    ("date", "date"),
    ("time", "date and time"),
    ("text", "text that names people"),
    ("whole", "whole number that names people"),
    ("long", "long number that names people"),
    ("found", "groups that nobody listed"),
)
SEPARATORS = ((";", "semicolon ;"), (",", "comma ,"), ("\t", "tab"), ("|", "bar |"))
ENCODINGS = (("utf-8", "UTF-8"), ("windows-1252", "windows-1252 (Excel)"), ("latin-1", "Latin 1"), ("utf-16", "UTF-16"))
DECIMALS = ((".", "point 1.5"), (",", "comma 1,5"))
THOUSANDS = (
    ("", "none"),
    (" ", "space 1 000"),
    (".", "point 1.000"),
    (",", "comma 1,000"),
    ("'", "apostrophe 1'000"),
    ("?", "1?000, a narrow space that Excel lost"),
)
FIELDS = (
    "type",
    "low",
    "high",
    "grid",
    "values",
    "others",
    "format",
    "zone",
    "yes",
    "no",
    "missing",
    "strip",
    "longest",
)
"""The fields of a column's line; each is called after the place of its column."""

OPTIONS = {
    "number": ("low", "high", "grid", "missing", "strip"),
    "category": ("values", "others"),
    "yesno": ("yes", "no"),
    "date": ("format", "low", "high", "others"),
    "time": ("format", "low", "high", "zone", "others"),
    "found": ("longest",),
}
"""The fields that a type has."""


def read_facts(form: Mapping[str, str], held: File) -> File:
    """The file's format from a form; what the form does not name stays as it was."""
    facts: dict[str, Any] = held.to_json()
    facts |= {name: form[name] for name in ("separator", "encoding", "decimal", "thousands") if name in form}
    if "missing_texts" in form:
        facts["missing"] = ["", *(line.strip() for line in form["missing_texts"].splitlines() if line.strip())]
    if held.kind == "csv" and "separator" in form:
        facts["complete"] = form.get("complete") == "on"
    if "header" in form:
        facts["header"] = _whole(form["header"], "the line that holds the names")
    if held.kind == "excel":
        sheet = form.get("sheet", "0").strip()
        number = read_digits(sheet)
        facts["sheet"] = sheet if number is None else number
    return File(**facts | {"missing": tuple(facts["missing"])})


def read_schema_form(form: Mapping[str, str], loaded: Loaded) -> Schema:
    """Reads a schema from a form, or from TOML pasted into it; an error says what is missing."""
    if form.get("toml", "").strip():
        return Schema.from_toml(form["toml"])
    person = form.get("person", "")
    if not person:
        raise InvalidArgument("say whose rows these are: nothing private has a default")
    columns: dict[str, Any] = {}
    for place, name in enumerate(loaded.columns):
        line = {each: form.get(f"{each}_{place}", "").strip() for each in FIELDS}
        kind = line["type"] or ("text" if name == person else "")
        if kind:
            columns[name] = {"type": kind, **_options(kind, line, name)}
    facts = read_facts(form, loaded.head.file)
    return Schema.from_json(
        {
            "name": form.get("table_name", "").strip() or default_name(loaded),
            "person": person,
            "file": facts.to_json(),
            "columns": columns,
        }
    )


def default_name(loaded: Loaded) -> str:
    """The name of a table in SQL: that of its file, reduced to letters, digits and underscores."""
    plain = re.sub(r"\W+", "_", loaded.name.rpartition(".")[0]).strip("_").lower()
    return plain if plain and not plain[0].isdigit() else f"table_{plain}".rstrip("_")


def fill_form(schema: Schema, loaded: Loaded) -> dict[str, str]:
    """The form fields of a schema, so that a pasted one can be edited by clicking."""
    facts = schema.file
    form = {"table_name": schema.name, "person": schema.person, **fill_facts(facts)}
    for place, name in enumerate(loaded.columns):
        column = schema.columns.get(name)
        if column is None:
            continue
        told = {"type": column.type, **column.to_json()}
        told |= {ours: told.pop(theirs) for ours, theirs in _dates(column.type).items()}
        for each, value in told.items():
            mark = "\n" if each == "values" else ", "
            form[f"{each}_{place}"] = mark.join(value) if isinstance(value, list) else str(value)
    return form


def fill_facts(facts: File) -> dict[str, str]:
    """The form fields of a file's format."""
    told = {name: str(getattr(facts, name)) for name in ("separator", "encoding", "decimal", "thousands", "header")}
    told |= {"sheet": str(facts.sheet), "missing_texts": "\n".join(text for text in facts.missing if text)}
    return told | ({"complete": "on"} if facts.complete else {})


def _dates(kind: str) -> dict[str, str]:
    return {"low": "first", "high": "last", "others": "outside"} if kind in ("date", "time") else {}


def _options(kind: str, line: Mapping[str, str], name: str) -> dict[str, Any]:
    """The options of a type from the fields of its line, named as a schema names them."""
    names, options = _dates(kind), {}
    for each in OPTIONS.get(kind, ()):
        if not line[each]:
            continue
        value: Any = line[each]
        if each == "values":
            value = [text.strip() for text in value.splitlines() if text.strip()]
        elif each in ("yes", "no", "strip"):
            value = [text.strip() for text in value.split(",") if text.strip()]
        elif each == "longest":
            value = _whole(value, f"column {name!r}: the longest text")
        options[names.get(each, each)] = value
    return options


def people_of(loaded: Loaded) -> list[tuple[str, str]]:
    """The choices for the person: a column, or each row."""
    return [(EACH_ROW, "each row is a person of its own"), *((name, f"a value of {name}") for name in loaded.columns)]


def _whole(text: str, what: str) -> int:
    if (number := read_digits(text.strip())) is None:
        raise InvalidArgument(f"{what}: give a whole number")
    return number
