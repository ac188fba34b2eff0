"""Exact figures on how a table's cells are read, free for its curator; not private, never to be released.

Every cell is judged by the function that the engines are held to, once for each different value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice
from pathlib import Path
from typing import Any

import polars

from bruit.core.neighbours import EACH_ROW
from bruit.errors import InvalidArgument
from bruit.tables.cells.single import read_cell
from bruit.tables.cells.texts import Reading
from bruit.tables.plan.operators import Plan
from bruit.tables.plan.steps import Leaf
from bruit.tables.schema import Category, ColumnType, Date, File, Found, Number, Text, Time, YesNo

NOTICE = "EXACT FIGURES FOR THE CURATOR ONLY: not private, not a release. Do not publish or pass on."
WIDEST = 2**32
"""Steps of a grid to bounds so wide that a number outside the declared ones is still read."""

EARLIEST, LATEST = date(1600, 1, 1), date(2999, 12, 31)
MOST_VALUES = 10
"""Unreadable texts that are shown where they were asked for."""

QUANTILES = (0.5, 0.9, 0.99, 1.0)


@dataclass(frozen=True)
class ColumnLook:
    """How many cells of a column are read as declared, missing, unreadable, or outside the bounds or list."""

    name: str
    type: str
    declared: int
    missing: int
    unreadable: int
    outside: int
    odd: tuple[tuple[str, int], ...] = ()
    """The commonest texts that were unreadable or outside, where they were asked for."""


@dataclass(frozen=True)
class Look:
    """Exact, not private: rows, people, lost lines, and how the cells of each column were read."""

    rows: int
    lost_lines: int | None
    """Lines of a CSV file that are no rows; None where there are no lines."""

    people: int | None
    rows_per_person: dict[str, int]
    columns: tuple[ColumnLook, ...]

    def to_json(self) -> dict[str, Any]:
        """The figures in JSON types, the notice first."""
        return {
            "notice": NOTICE,
            "rows": self.rows,
            "lines_that_are_no_rows": self.lost_lines,
            "people": self.people,
            "rows_per_person": self.rows_per_person,
            "columns": [vars(each) | {"odd": list(each.odd)} for each in self.columns],
        }


def look_at(plan: Plan, path: Path | None = None, *, values: bool = False) -> Look:
    """Reads a table under its schema and counts how its cells were read."""
    (leaf,) = plan.leaves
    frame = _frame(leaf)
    rows = int(frame.select(polars.len()).collect(engine="streaming").item())
    people, spread = _people(leaf, frame)
    columns = tuple(_column(leaf, frame, name, values=values) for name in leaf.schema.columns)
    is_csv = path is not None and leaf.schema.file.kind == "csv"
    lost = _lines(path, leaf.schema.file) - rows if is_csv and path is not None else None
    return Look(rows, lost, people, spread, columns)


def judge(value: object, column: ColumnType, reading: Reading) -> str:
    """The class of one cell: declared, missing, unreadable or outside."""
    if read_cell(value, Text(), reading) is None and not isinstance(value, bool | int | float | date):
        return "missing"
    if isinstance(value, float) and value != value:
        return "missing"
    if isinstance(column, Number):
        wide = read_cell(
            value, replace(column, low=-WIDEST * column.grid, high=WIDEST * column.grid, missing=None), reading
        )
    elif isinstance(column, Date | Time):
        wide = read_cell(value, replace(column, first=EARLIEST, last=LATEST, outside=None), reading)
    elif isinstance(column, Category):
        return "outside" if read_cell(value, replace(column, others=None), reading) is None else "declared"
    else:
        found = read_cell(value, column, reading) is not None
        return "declared" if found else "outside" if isinstance(column, YesNo) else "unreadable"
    if wide is None or isinstance(wide, str):
        return "unreadable"
    return "declared" if column.lowest <= wide <= column.highest else "outside"


def _frame(leaf: Leaf) -> polars.LazyFrame:
    source = leaf.source
    if source.engine == "duckdb":
        return polars.DataFrame(source.frame.pl()).lazy()
    if source.engine != "polars":
        raise InvalidArgument("look reads files, databases and DuckDB; look at a table of Spark with Spark itself")
    if source.read:
        raise InvalidArgument("look reads files, databases and DuckDB; look at a frame of pandas with pandas itself")
    frame: polars.LazyFrame = source.frame
    return frame


def _column(leaf: Leaf, frame: polars.LazyFrame, name: str, *, values: bool) -> ColumnLook:
    column, reading = leaf.schema.columns[name], leaf.source.reading
    counted = frame.group_by(polars.col(name).alias("value")).len("rows").collect(engine="streaming")
    found, odd = Counter[str](), Counter[str]()
    for value, rows in _plain_pairs(counted):
        verdict = judge(value, column, reading)
        found[verdict] += rows
        if verdict in ("unreadable", "outside"):
            odd[str(value)] += rows
    shown = tuple(odd.most_common(MOST_VALUES)) if values and not isinstance(column, Text | Found) else ()
    declared, missing = found["declared"], found["missing"]
    return ColumnLook(name, column.type, declared, missing, found["unreadable"], found["outside"], shown)


def _plain_pairs(counted: polars.DataFrame) -> Iterable[tuple[object, int]]:
    series = counted["value"]
    plain = series.cast(polars.String) if isinstance(series.dtype, polars.Categorical | polars.Enum) else series
    return zip(plain.to_list(), counted["rows"].to_list(), strict=True)


def _people(leaf: Leaf, frame: polars.LazyFrame) -> tuple[int | None, dict[str, int]]:
    """How many people there are, and how many rows they have; a row that names nobody belongs to none."""
    person = leaf.schema.person
    if person == EACH_ROW:
        return None, {}
    named = frame.group_by(polars.col(person).alias("value")).len("rows").collect(engine="streaming")
    held = Counter[object]()
    for value, rows in _plain_pairs(named):
        whose = read_cell(value, leaf.schema.columns[person], leaf.source.reading)
        if whose is not None:
            held[whose] += rows
    ordered = polars.Series(list(held.values()), dtype=polars.Int64)
    spread = {f"{share:.0%}": int(ordered.quantile(share, "higher") or 0) for share in QUANTILES} if held else {}
    return len(held), spread


def _lines(path: Path, facts: File) -> int:
    """Lines below the names of the columns that are not empty."""
    files = [path] if path.is_file() else sorted(path.rglob("*.csv"))
    lines = 0
    for each in files:
        with each.open(encoding=facts.encoding, errors="replace", newline="\n") as file:
            lines += sum(1 for line in islice(file, facts.header, None) if line.strip())
    return lines
