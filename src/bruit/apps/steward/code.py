"""Generates code that repeats a question: a recipe for `bruit release`, or a Python program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

STORE = 'os.environ.get("BRUIT_STORE", "sqlite:///bruit.db")'
"""Where the code looks for the book; an address may hold a password, so it is not written down."""


def schema_file(source: str) -> str:
    """The file name of the schema that belongs to a data file."""
    return f"{source.rpartition('.')[0] or source}.toml"


def recipe_of(asked: Mapping[str, Any], schemas: Mapping[str, str]) -> str:
    """A recipe that asks the same question of the same files and ledger; each schema lies beside its file."""
    limit = ", ".join(f"{name} = {value}" for name, value in (asked["limit"] or {}).items())
    lines = [
        "# Running this asks again, draws new noise and pays again.",
        f"book = {_text(asked['book'])}",
        *(f"{name} = {_text(value)}" for name, value in asked["price"].items()),
        *([f"limit = {{ {limit} }}"] if limit else []),
        *([] if asked["most"] is None else [f"most = {asked['most']}"]),
        f"confidence = {asked['confidence']}",
        "",
    ]
    for file, schema in schemas.items():
        lines += [f"[tables.{_text(_name(schema))}]", f"source = {_text(file)}"]
        lines += [f"schema = {_text(schema_file(file))}", ""]
    lines += ["[[question]]", f"title = {_text('Asked in the workbench')}", f"sql = {_text(asked['sql'])}", ""]
    return "\n".join(
        [*lines, "[output]", "csv = true", "excel = true", "json = true", 'figure = "svg"', 'statement = "html"', ""]
    )


def python_of(asked: Mapping[str, Any], schemas: Mapping[str, str]) -> str:
    """A ready-to-run Python program that asks the same question of the same files and ledger.

    Every name is written as a Python literal, so that no column or category can add code of its own.
    """
    budget = ", ".join(f"{name}={value!r}" for name, value in asked["price"].items())
    limit = ", ".join(f"{name}={value}" for name, value in (asked["limit"] or {}).items())
    tables = [
        f"    {_name(schema)!r}: bruit.tables.open_table({file!r}, Schema.from_toml({schema!r})),"
        for file, schema in schemas.items()
    ]
    return "\n".join(
        (
            "# Running this asks again, draws new noise and pays again; ledger.releases reads what stands for free.",
            "import os",
            "",
            "import bruit",
            "from bruit.central.questions import Limit",
            "from bruit.tables.schema import Schema",
            "",
            f"ledger = bruit.Ledger.open({asked['book']!r}, {STORE})",
            "tables = {",
            *tables,
            "}",
            "answered = bruit.sql.ask(",
            f"    {asked['sql']!r},",
            "    tables=tables,",
            f"    budget=ledger.budget({budget}),",
            f"    limit={f'Limit({limit})' if limit else None},",
            f"    most={asked['most']!r},",
            f"    confidence={asked['confidence']!r},",
            ")",
            "print(answered.frame)",
            "print(answered.release.guarantee)",
            "",
        )
    )


def _name(schema: str) -> str:
    from bruit.tables.schema import Schema

    return Schema.from_toml(schema).name


def _text(value: object) -> str:
    """A basic string of TOML."""
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
