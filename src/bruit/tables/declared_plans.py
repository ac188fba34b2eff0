"""Turns a table with declared columns into a plan, from which its exact integers are read."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars

from bruit.core.neighbours import EACH_ROW
from bruit.errors import InvalidArgument
from bruit.tables.expressions.nodes import Field, Node
from bruit.tables.opened import Declared
from bruit.tables.plan.expressions import Expression
from bruit.tables.plan.operators import Plan, plan_of
from bruit.tables.relations.on_polars import Frames
from bruit.tables.relations.operations import PERSON, Operation, Project, Scan, same
from bruit.tables.relations.running import run, withheld
from bruit.tables.schema.columns import ColumnType, Text
from bruit.tables.schema.statement import Schema
from bruit.tables.table import Column, Table, UndeclaredColumn

Columns = Sequence[Column | UndeclaredColumn]
Code = tuple[Callable[[Node], Node], type[polars.DataType]]
"""What becomes of the integer of a cell, and the type of that."""


THEIRS = {PERSON: "person"}
"""The person under the name by which the rows of a table are told from each other outside an engine."""


def plan_for(table: Table, columns: Columns) -> tuple[Plan, tuple[Expression, ...]]:
    """The plan of a table under its declared columns, and each of these columns as an expression.

    A column that is declared in two ways has a second name.
    """
    names, declared = _declared(table, columns)
    schema = _schema(table, declared)
    plan = plan_of(table.opened.source(declared), schema)
    return plan, tuple(plan[name] for name in names)


def read_integers(table: Table, columns: Columns, *, codes: Sequence[Code] | None = None) -> polars.DataFrame:
    """The declared columns of every row as `integer 0`, …, null where missing, and `person` where there is one.

    `codes` say what becomes of each integer inside the engine, and in which type it is kept. Rows that name nobody are
    left out. This is private, and no choice of rows is made yet.
    """
    names, declared = _declared(table, columns)
    source = table.opened.source(declared)
    rows: Operation = Scan(source, _schema(table, declared), tuple(dict.fromkeys(names)), person=True)
    whose = same((PERSON,)) if table.person != EACH_ROW else ()
    makes = [code[0] for code in codes] if codes is not None else [_as_it_is] * len(names)
    made = tuple((f"integer {place}", makes[place](Field(name))) for place, name in enumerate(names))
    if made or whose:
        rows = Project(rows, (*made, *whose))
    kinds: dict[str, type[polars.DataType]] = {f"integer {place}": code[1] for place, code in enumerate(codes or ())}
    if source.engine != "polars":
        return run([rows])[0].cast(kinds).rename(THEIRS, strict=False)  # type: ignore[arg-type]
    frames = Frames()
    if isinstance(table.named, Text):
        kinds[PERSON] = polars.String
    with withheld():
        found = frames.frame(rows).cast(kinds).collect(engine="streaming")  # type: ignore[arg-type]
    return found.rename(THEIRS, strict=False)


def _as_it_is(cell: Node) -> Node:
    return cell


def _declared(table: Table, columns: Columns) -> tuple[list[str], Declared]:
    names: list[str] = []
    found: dict[str, tuple[str, ColumnType]] = {}
    for column in columns:
        if column.name == table.person:
            raise InvalidArgument(f"{column.name!r} says whose row it is: it can be counted, not shown or compared")
        name, copy = column.name, 1
        while found.get(name, (column.name, column.declared)) != (column.name, column.declared):
            copy += 1
            name = f"{column.name} ({copy})"
        found[name] = (column.name, column.declared)
        names.append(name)
    if table.named is not None:
        found.setdefault(table.person, (table.person, table.named))
    if not found:  # a schema needs a column, which a count of rows does not read
        first = next(iter(table.opened.kinds))
        found[first] = (first, Text())
    return names, found


def _schema(table: Table, declared: Declared) -> Schema:
    return Schema(
        table.person, {name: column for name, (_, column) in declared.items()}, file=table.opened.reading.file
    )
