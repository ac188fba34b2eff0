"""The form of a synthetic table: columns, cells, limit, mode, rows, ledger and price; nothing private is guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bruit.apps.steward.synthetic_tables.request import SynthesisRequest, columns_of, read_impossible_lines
from bruit.apps.web.workbench.question_form import whole_number
from bruit.core.neighbours import EACH_ROW
from bruit.errors import InvalidArgument
from bruit.synthetic import Mode
from bruit.tables.choice.limits import Limit
from bruit.tables.schema import Number, Schema

MODES = (
    (Mode.ADAPTIVE.value, "Adaptive: rounds of choosing and fitting; the most exact"),
    (Mode.TREE.value, "Tree: pairs of columns only; about twice the error, at once"),
)
NOISY, PUBLIC = "noisy", "public"
SIZES = ((NOISY, "private: it will be noisy"), (PUBLIC, "public: stated below"))
NEEDED = (
    ("book", "the book that pays"),
    ("epsilon", "the price ε"),
    ("delta", "the price δ, below one in the number of people"),
    ("rows_are", "whether the number of rows is private or public"),
)


@dataclass(frozen=True)
class AskedSynthesis:
    """What the steward filled in: the synthetic table, the ledger and the price."""

    request: SynthesisRequest
    book: str
    price: dict[str, str]


def read_synthesis(form: Mapping[str, str], schema: Schema) -> AskedSynthesis:
    """Reads a request for a synthetic table from a form; an error names what is missing."""
    filled = {name: text.strip() for name, text in form.items() if text.strip()}
    for name, label in NEEDED:
        if name not in filled:
            raise InvalidArgument(f"say {label}: nothing private has a default")
    rows = whole_number(filled, "rows")
    if rows is None and schema.person != EACH_ROW:
        raise InvalidArgument(
            f"one {schema.person!r} may have many rows: say how many of them count, 1 where each has one"
        )
    size = whole_number(filled, "size")
    if (filled["rows_are"] == PUBLIC) != (size is not None):
        raise InvalidArgument("give the number of rows where it is public, and only there")
    places = list(enumerate(columns_of(schema)))
    request = SynthesisRequest(
        tuple(name for place, name in places if f"column_{place}" in filled),
        None if rows is None or schema.person == EACH_ROW else Limit(rows=rows),
        filled.get("mode", Mode.ADAPTIVE.value),
        size,
        whole_number(filled, "expected_rows"),
        {name: _edges(filled[f"edges_{place}"]) for place, name in places if f"edges_{place}" in filled},
        read_impossible_lines(filled.get("impossible", "")),
        filled.get("predict"),
    )
    return AskedSynthesis(request, filled["book"], {name: filled[name] for name in ("epsilon", "delta")})


def every_column(schema: Schema) -> dict[str, str]:
    """The form before anything is filled in: every column is wanted."""
    return {f"column_{place}": "on" for place, _ in enumerate(columns_of(schema))}


def column_lines(schema: Schema) -> list[tuple[str, bool]]:
    """The columns that can be synthesised, each with whether it holds numbers, whose cells may be stated."""
    return [(name, isinstance(schema.columns[name], Number)) for name in columns_of(schema)]


def _edges(text: str) -> list[str]:
    return [part.strip() for part in text.replace(";", ",").split(",") if part.strip()]
