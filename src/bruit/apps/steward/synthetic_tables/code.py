"""Generates a Python program that makes a synthetic table again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bruit.apps.steward.code import STORE
from bruit.apps.steward.synthetic_tables.request import read_where


def python_of_synthesis(asked: Mapping[str, Any], file: str, schema: str) -> str:
    """A ready-to-run program that asks for the same synthetic table of the same file and ledger.

    Every name is written as a Python literal, so that no column or category can add code of its own.
    """
    budget = ", ".join(f"{name}={value!r}" for name, value in asked["price"].items())
    limit = ", ".join(f"{name}={value}" for name, value in (asked["limit"] or {}).items())
    return "\n".join(
        (
            "# Running this draws new noise and pays again; bruit.synthetic.load('synthetic.npz') reads what stands.",
            "import os",
            "",
            "import bruit",
            "from bruit.tables.choice.limits import Limit",
            "from bruit.tables.schema import Schema",
            "",
            f"ledger = bruit.Ledger.open({asked['book']!r}, {STORE})",
            "release = bruit.synthetic.synthesise(",
            f"    bruit.tables.open_table({file!r}, Schema.from_toml({schema!r})),",
            f"    {asked['columns']!r},",
            f"    budget=ledger.budget({budget}),",
            f"    limit={f'Limit({limit})' if limit else None},",
            *(f"    {name}={asked.get(name)!r}," for name in ("edges", "mode", "size", "expected_rows", "predict")),
            f"    impossible={[dict(read_where(each)) for each in asked['impossible']]!r},",
            ")",
            'release.value.write("synthetic.csv")',
            "print(release.value.statement)",
            "",
        )
    )
