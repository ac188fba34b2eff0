"""Answers a query: the released numbers as SQL asked; arithmetic, HAVING, ORDER BY and LIMIT cost nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars
from sqlglot import exp

from bruit.core.release import Release
from bruit.ledger import Budget, Ledger
from bruit.sql.options import take_options
from bruit.sql.rows import Tables
from bruit.sql.translating import DEVIATIONS, Translated, translate
from bruit.tables.choice.limits import Limit


@dataclass(frozen=True)
class Answered:
    """A frame with the selected columns, and the release that it was computed from."""

    frame: polars.DataFrame
    release: Release[Any]


def ask(
    query: str,
    *,
    tables: Tables,
    budget: Budget | Ledger | None,
    limit: Limit | None = None,
    dialect: str = "duckdb",
    most: int | None = None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Answered:
    """Answers a SELECT over registered tables, or refuses it with the reason before anything is paid.

    `limit` says how much of one person counts; `most` how many rows of a person a join or a summary per person keeps.
    Price and limit may stand in the query instead, as BigQuery writes them: SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS
    (epsilon = 0.5, max_rows_contributed = 3, ...); `budget` is then the book that it is paid from.
    Variances are those of the rows themselves (`var_pop`), also where SQL asks for a sample's.
    """
    found = translate(query, tables, limit=limit, dialect=dialect, most=most, confidence=confidence)
    price = take_options(query, dialect)[1].budget(budget)
    release = found.question.release(budget=price, rng=rng)
    return Answered(arranged(found, release), release)


def arranged(found: Translated, release: Release[Any], *, intervals: bool = False) -> polars.DataFrame:
    """The selected columns of the released groups that HAVING keeps, in the order asked.

    With `intervals`, each selected statistic is followed by `... low` and `... high` where it has an interval.
    """
    columns = release.details["columns"]
    values = np.asarray(release.value, np.float64).reshape(len(release.details["groups"]), len(columns))
    names = {sql: values[:, columns.index(_column(columns, name))] for sql, name in found.measured.items()}
    cells = release.details["cells"]
    keys = {name: [cell[place] for cell in cells] for place, name in enumerate(found.question.keys)}
    rows = len(cells)
    ends = _ends(found, release, columns) if intervals else {}
    frame = polars.DataFrame(
        {
            shown: values
            for name, node in found.selected
            for shown, values in (
                (name, _broadcast(_computed(node, found, names, keys), rows)),
                *((f"{name} {end}", each) for end, each in ends.get(node.sql(), {}).items()),
            )
        }
    )
    if found.having is not None:
        frame = frame.filter(polars.Series(np.broadcast_to(_kept(found.having, found, names, keys), rows)))
    for name, descending in reversed(found.order):
        frame = frame.sort(name, descending=descending, maintain_order=True)
    return frame if found.first is None else frame.head(min(found.first, len(frame)))


def _ends(found: Translated, release: Release[Any], columns: list[str]) -> dict[str, dict[str, Any]]:
    """The bounds of each measured statistic that has an interval, by its SQL: one entry a group."""
    if release.interval is None:
        return {}
    rows = len(release.details["groups"])
    low, high = (np.reshape(each, (rows, len(columns))) for each in (release.interval.low, release.interval.high))
    ends: dict[str, dict[str, Any]] = {}
    for sql, name in found.measured.items():
        place = columns.index(_column(columns, name))
        if not np.isnan(low[:, place]).any():
            root = np.sqrt if sql in found.deviations else np.asarray
            ends[sql] = {"low": root(low[:, place]), "high": root(high[:, place])}
    return ends


def _broadcast(values: Any, rows: int) -> Any:
    return np.full(rows, values) if isinstance(values, float) else values


def _column(columns: list[str], name: str) -> str:
    return next(column for column in columns if column == name or column.startswith(f"{name} "))


def _computed(node: exp.Expr, found: Translated, names: dict[str, Any], keys: dict[str, Any]) -> Any:
    sql = node.sql()
    if sql in names:
        return np.sqrt(names[sql]) if isinstance(node, DEVIATIONS) else names[sql]
    if sql in found.keyed or node.name in keys:
        return keys[found.keyed.get(sql, node.name)]
    if isinstance(node, exp.Literal):
        return float(node.name)
    if isinstance(node, exp.Paren):
        return _computed(node.this, found, names, keys)
    if isinstance(node, exp.Neg):
        return -_computed(node.this, found, names, keys)
    left, right = (_computed(each, found, names, keys) for each in (node.this, node.expression))
    with np.errstate(divide="ignore", invalid="ignore"):
        operations: dict[type[exp.Expr], Any] = {
            exp.Add: np.add,
            exp.Sub: np.subtract,
            exp.Mul: np.multiply,
            exp.Div: np.divide,
        }
        return operations[type(node)](left, right)


def _kept(node: exp.Expr, found: Translated, names: dict[str, Any], keys: dict[str, Any]) -> Any:
    if isinstance(node, exp.Paren):
        return _kept(node.this, found, names, keys)
    if isinstance(node, exp.And | exp.Or):
        left, right = (_kept(each, found, names, keys) for each in (node.left, node.right))
        return left & right if isinstance(node, exp.And) else left | right
    compare: dict[type[exp.Expr], Any] = {
        exp.GT: np.greater,
        exp.GTE: np.greater_equal,
        exp.LT: np.less,
        exp.LTE: np.less_equal,
    }
    return compare[type(node)](*(_computed(each, found, names, keys) for each in (node.this, node.expression)))
