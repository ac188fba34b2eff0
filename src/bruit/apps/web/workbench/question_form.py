"""The form of a question: by clicking or by SQL, with limit, ledger and price; nothing private is guessed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from bruit.apps.steward.queries import Query
from bruit.apps.steward.recipe.written_questions import EXTRACTS, PARTS, SQL_BY_NAME, quote, select_of
from bruit.apps.web.digits import read_digits
from bruit.central.questions import Limit
from bruit.core.neighbours import EACH_ROW
from bruit.errors import InvalidArgument
from bruit.tables.plan.operators import Plan
from bruit.tables.schema import Category, Date, Found, Number, Schema, Time, YesNo

KEYS = ("key_1", "key_2", "key_3")
ASKED = ("1", "2", "3")
CONDITIONS = ("1", "2")
SIGNS = ("=", "<>", "<", "<=", ">", ">=")
SIGN_CHOICES = tuple(zip(SIGNS, ("equal to", "other than", "below", "at most", "above", "at least"), strict=True))
OF_COLUMNS = tuple((name, name) for name in SQL_BY_NAME if name not in ("rows", "people"))
MOST_LABELS = 400
"""Different numbers of a column that can be groups one by one."""


@dataclass(frozen=True)
class Asked:
    """What the steward filled in: the SQL, the limit per person, the ledger and the price."""

    sql: str
    limit: Limit | None
    most: int | None
    confidence: float
    book: str
    price: dict[str, str]

    def query(self, tables: Mapping[str, Plan]) -> Query:
        """The query over the tables of the session."""
        return Query(self.sql, dict(tables), self.limit, self.most, self.confidence)

    def to_json(self) -> dict[str, Any]:
        """All fields in JSON types."""
        limit = None if self.limit is None else self.limit.to_json()
        return {**vars(self), "limit": limit}


def read_question(form: Mapping[str, str], schema: Schema) -> Asked:
    """Reads a question from a form; an error names what is missing."""
    filled = {name: text.strip() for name, text in form.items() if text.strip()}
    for name, label in (("book", "the book that pays"), ("epsilon", "the price ε")):
        if name not in filled:
            raise InvalidArgument(f"say {label}: nothing private has a default")
    by_sql = filled.get("mode") == "sql"
    if by_sql and "sql" not in filled:
        raise InvalidArgument("write a SELECT, or choose to ask by clicking")
    sizes = {name: whole_number(filled, name) for name in ("rows", "groups", "each")}
    stated = {name: value for name, value in sizes.items() if value is not None}
    if not stated and schema.person != EACH_ROW:
        raise InvalidArgument(
            f"one {schema.person!r} may have many rows: say how many of them count, 1 where each has one"
        )
    return Asked(
        filled["sql"] if by_sql else clicked_sql(filled, schema),
        Limit(**stated) if stated else None,
        whole_number(filled, "most"),
        _confidence(filled.get("confidence", "")),
        filled["book"],
        {name: filled[name] for name in ("epsilon", "delta") if name in filled},
    )


def clicked_sql(filled: Mapping[str, str], schema: Schema) -> str:
    """The SELECT that the form's choices mean."""
    keys = list(dict.fromkeys(filled[name] for name in KEYS if name in filled))
    asked: list[tuple[str, str | None]] = [(what, None) for what in ("rows", "people") if f"{what}_asked" in filled]
    for number in ASKED:
        what, column = filled.get(f"what_{number}"), filled.get(f"of_{number}")
        if (what is None) != (column is None):
            raise InvalidArgument("a statistic of a column needs both: which statistic, and of which column")
        if what is not None:
            asked.append((what, column))
    person = None if schema.person == EACH_ROW else schema.person
    where = " and ".join(condition for number in CONDITIONS if (condition := _condition(filled, number, schema)))
    return select_of(schema.name, keys, asked, where=where, person=person)


def _condition(filled: Mapping[str, str], number: str, schema: Schema) -> str:
    column, sign, value = (filled.get(f"{part}_{number}") for part in ("where", "sign", "value"))
    if column is None and value is None:
        return ""
    if column is None or value is None or sign not in SIGNS:
        raise InvalidArgument("a condition needs a column, a sign and a value")
    if isinstance(schema.columns.get(column), Number):
        return f"{quote(column)} {sign} {_number(value)}"
    text = value.replace("'", "''")
    return f"{quote(column)} {sign} '{text}'"


def key_choices(schema: Schema) -> list[tuple[str, str]]:
    """The possible group keys: declared columns, parts of dates, bins of numbers, found texts."""
    choices: list[tuple[str, str]] = []
    for name, column in schema.columns.items():
        if isinstance(column, Category | YesNo):
            choices.append((name, name))
        elif isinstance(column, Date | Time):
            parts = [*PARTS, *(part for part in EXTRACTS if part != "hour" or isinstance(column, Time))]
            choices += [(f"{name}.{part}", f"{name}: {part.replace('_', ' ')}") for part in parts]
        elif isinstance(column, Number):
            size = column.highest - column.lowest + 1
            choices += [(name, name)] if size <= MOST_LABELS else []
            choices += [(f"{name}/{width}", f"{name} in bins of {width}") for width in _widths(column)]
        elif isinstance(column, Found):
            choices.append((name, f"{name} (groups that nobody listed; needs a δ)"))
    return choices


def _widths(column: Number) -> list[int]:
    """Round widths of bins that make from four to forty groups."""
    span = float(column.high - column.low)
    rounds = [factor * 10**power for power in range(10) for factor in (1, 2, 5)]
    return [width for width in rounds if 4 <= span / width <= 40 and (width / column.grid).denominator == 1][:4]


def number_columns(schema: Schema) -> list[tuple[str, str]]:
    """The numeric columns, for statistics."""
    return [(name, name) for name, column in schema.columns.items() if isinstance(column, Number)]


def condition_columns(schema: Schema) -> list[tuple[str, str]]:
    """The columns that a condition may compare."""
    kinds = Number | Category | YesNo | Date | Time
    return [(name, name) for name, column in schema.columns.items() if isinstance(column, kinds)]


def whole_number(filled: Mapping[str, str], name: str) -> int | None:
    """A field as a whole number; None where it is empty."""
    if name not in filled:
        return None
    if (number := read_digits(filled[name])) is None:
        raise InvalidArgument(f"{name}: give a whole number, at least 1")
    return number


def _number(text: str) -> str:
    try:
        float(text)
    except ValueError:
        raise InvalidArgument("compare a column of numbers with a number, such as 18 or -0.5") from None
    if not all(letter in "0123456789.-" for letter in text):
        raise InvalidArgument("compare a column of numbers with digits alone, such as 18 or -0.5")
    return text


def _confidence(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise InvalidArgument("confidence: give a number between 0 and 1, such as 0.95") from None
