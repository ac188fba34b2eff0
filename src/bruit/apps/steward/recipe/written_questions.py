"""Translates questions written by name (keys, a column, a statistic) into the SELECT they mean.

Recipes and the workbench's form both come through here, so that one question has one SQL and one digest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlglot import exp

from bruit.errors import InvalidArgument

SQL_BY_NAME = {
    "rows": "count(*)",
    "people": "count(distinct {person})",
    "count": "count({column})",
    "distinct": "count(distinct {column})",
    "sum": "sum({column})",
    "mean": "avg({column})",
    "variance": "var_pop({column})",
    "deviation": "stddev_pop({column})",
    "median": "median({column})",
    "quartiles": "0.25 0.5 0.75",
    "deciles": "0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9",
}
"""What can be asked by name, and the SQL that it means; quartiles and deciles are several quantiles."""

PARTS = ("year", "quarter", "month", "week", "day")
EXTRACTS = {"weekday": "isodow", "month_of_year": "month", "hour": "hour"}


def quote(name: str) -> str:
    """A name quoted as an SQL identifier."""
    return exp.to_identifier(name, quoted=True).sql(dialect="duckdb")


def key_sql(key: str) -> tuple[str, str]:
    """The SQL and the name of a group key such as ward, admitted.month or age/10."""
    column, _, part = key.rpartition(".")
    if column and part in PARTS:
        return f"date_trunc('{part}', {quote(column)})", key
    if column and part in EXTRACTS:
        return f"extract({EXTRACTS[part]} from {quote(column)})", key
    column, _, width = key.rpartition("/")
    if column and width.isdecimal() and int(width) > 0:
        return f"floor({quote(column)} / {int(width)}) * {int(width)}", f"{column} by {width}"
    return quote(key), key


def statistic_sql(what: str, column: str | None, *, person: str | None = None) -> list[tuple[str, str]]:
    """The SQL and the column name of a statistic; several of each for quartiles and deciles."""
    if what not in SQL_BY_NAME:
        raise InvalidArgument(f"{what!r} cannot be asked; choose among {', '.join(SQL_BY_NAME)}")
    template = SQL_BY_NAME[what]
    if what == "people":
        if person is None:
            raise InvalidArgument("each row is a person here, so ask for rows instead of people")
        return [(template.format(person=quote(person)), "people")]
    if what == "rows":
        return [(template, "rows")]
    if column is None:
        raise InvalidArgument(f"{what} needs a column: of which one?")
    if what in ("quartiles", "deciles"):
        return [(f"quantile_cont({quote(column)}, {p})", f"{column} {p}") for p in template.split()]
    return [(template.format(column=quote(column)), f"{column} {what}")]


def select_of(
    table: str,
    keys: Sequence[str],
    asked: Sequence[tuple[str, str | None]],
    *,
    where: str = "",
    person: str | None = None,
) -> str:
    """The SELECT of group keys and statistics, each statistic given as (what, column)."""
    named = [key_sql(key) for key in keys]
    statistics = [each for what, column in asked for each in statistic_sql(what, column, person=person)]
    if not statistics:
        raise InvalidArgument("nothing is asked: choose rows, people, or a statistic of a column")
    columns = ", ".join(f"{sql} as {quote(name)}" for sql, name in (*named, *statistics))
    condition = f" where {where}" if where else ""
    grouped = f" group by {', '.join(str(place) for place in range(1, len(named) + 1))}" if named else ""
    return f"select {columns} from {quote(table)}{condition}{grouped}"


def sql_of(stated: Mapping[str, Any], tables: Sequence[str], person_of: Callable[[str], str | None]) -> str:
    """The SQL of a recipe's question: as written, or built from `by`, `ask` and `where`.

    `person_of` gives the column that names the people of a table, None where each row is one.
    """
    if "sql" in stated:
        odd = sorted({"from", "by", "ask", "where"} & set(stated))
        if odd:
            raise InvalidArgument(f"a question has sql, or from, by, ask and where; here are sql and {odd[0]}")
        return str(stated["sql"])
    if "ask" not in stated:
        raise InvalidArgument("a question states sql = '...', or ask = { days = 'mean' } with by = [...]")
    table = str(stated.get("from", tables[0] if len(tables) == 1 else ""))
    if not table:
        raise InvalidArgument(f"from = ... says which table is asked: {', '.join(tables)}")
    asked = stated["ask"]
    if isinstance(asked, str):
        pairs: list[tuple[str, str | None]] = [(asked, None)]
    else:
        pairs = [
            (what, None if column == "rows" else column) for column, each in asked.items() for what in _several(each)
        ]
    person = person_of(table) if any(what == "people" for what, _ in pairs) else None
    return select_of(table, stated.get("by", []), pairs, where=str(stated.get("where", "")), person=person)


def _several(value: object) -> list[str]:
    return [str(each) for each in value] if isinstance(value, list) else [str(value)]
