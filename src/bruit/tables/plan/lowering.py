"""Lowers a plan to operations that every engine can run, with only the columns that are needed later.

What a choice inside a plan sees is exactly what is read after it, so that rows which are equal in all of it are copies.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars

from bruit.tables.choice.choosing import Coded, Layout, choose_groups, choose_rows
from bruit.tables.choice.hashing import RowKey, residue
from bruit.tables.choice.limits import Limit
from bruit.tables.column_names import OWN
from bruit.tables.expressions.nodes import Constant, Field, If, IsMissing, Node, TextNumber
from bruit.tables.plan.kinds import Kind, Numbers, Texts
from bruit.tables.plan.steps import Joined, Leaf, Parted, Stacked, Step, Summarised, Where, With
from bruit.tables.relations.operations import (
    PERSON,
    Filter,
    Group,
    Join,
    Operation,
    Project,
    Rows,
    Scan,
    Union,
    same,
)
from bruit.tables.schema.columns import Text

Columns = tuple[str, ...]

SLICES = "slices"
"""Names the hash by which people named by texts are dealt into slices."""

CELL = f"{OWN}part"
"""The column that holds the place of a row's cell."""


class Lowering:
    """Translates the steps of one plan into the engine's operations.

    `fresh` makes a new secret key each time some of a person's rows must be picked.
    """

    def __init__(self, named: object, fresh: Callable[[], RowKey], *, slice_of: tuple[int, int] = (0, 1)) -> None:
        self.fresh = fresh
        self.people, self.text = named is not None, isinstance(named, Text)
        self.slice_of = slice_of

    def lower(self, step: Step, needed: Columns) -> Operation:
        """The operation for a step, with the needed columns, and the person where rows belong to one."""
        match step:
            case Leaf(source, schema):
                return self._slice(Scan(source, schema, needed, self.people))
            case Where(inner, condition):
                more = tuple(name for name in dict.fromkeys(condition.fields()) if name not in needed)
                return self._only(Filter(self.lower(inner, (*needed, *more)), condition), needed, more)
            case With(inner, columns):
                return self._with(inner, dict(columns), needed)
            case Stacked(inputs):
                kept = (*needed, *self._person())
                return Union(tuple(self.lower(each, needed) for each in inputs), kept)
            case Joined():
                return self._joined(step, needed)
            case Summarised():
                return self._summarised(step, needed)
            case Parted():
                return self._parted(step, needed)
        raise TypeError(step)

    def _slice(self, scan: Scan) -> Operation:
        """The rows of the people of one slice, by their numbers: what a person gives is the same, alone or not."""
        place, number = self.slice_of
        if number == 1 or not self.people:
            return scan
        who = TextNumber(Field(PERSON), SLICES) if self.text else residue(PERSON).node
        return Filter(scan, (who % number).equals(place))

    def _person(self) -> Columns:
        return (PERSON,) if self.people else ()

    def _only(self, operation: Operation, needed: Columns, more: Columns) -> Operation:
        return Project(operation, same((*needed, *self._person()))) if more and (needed or self.people) else operation

    def _with(self, inner: Step, made: dict[str, Node], needed: Columns) -> Operation:
        own = [name for name in needed if name not in made]
        read = [name for called in needed if called in made for name in made[called].fields()]
        source = self.lower(inner, tuple(dict.fromkeys([*own, *read])))
        if not needed and not self.people:
            return source
        return Project(source, (*((name, made.get(name, Field(name))) for name in needed), *same(self._person())))

    def _chosen(self, step: Step, kinds: Mapping[str, Kind], needed: Columns, most: int) -> Operation:
        numbers = tuple(Coded(n, k.lowest, k.highest) for n in needed if not isinstance(k := kinds[n], Texts))
        texts = tuple(name for name in needed if isinstance(kinds[name], Texts))
        layout = Layout((), numbers, (), texts)
        return choose_rows(
            self.lower(step, needed), layout, Limit(rows=most), self.fresh(), self.fresh(), text=self.text
        )

    def _parted(self, step: Parted, needed: Columns) -> Operation:
        """The rows of one cell of a partition, for the people whose rows count in it; without people, all its rows."""
        rows = self._with(step.input, {CELL: step.column}, (*needed, CELL))
        here = Filter(rows, Field(CELL).equals(step.place))
        if not self.people:
            return Project(here, same(needed)) if needed else here
        if step.kept is not None:
            listed = step.kept.filter(polars.col("part") == step.label).select(polars.col("person").alias(PERSON))
            return Project(Join(here, Rows(listed), (PERSON,), (), outer=False), same((*needed, PERSON)))
        layout = Layout((Coded(CELL, 0, step.size - 1),), ())
        cells = self._with(step.input, {CELL: step.column}, (CELL,))
        kept = choose_groups(Filter(cells, ~IsMissing(Field(CELL))), layout, step.most, step.key, text=self.text)
        own = Project(Filter(kept, Field(CELL).equals(step.place)), same((PERSON,)))
        return Project(Join(here, own, (PERSON,), (), outer=False), same((*needed, PERSON)))

    def _joined(self, step: Joined, needed: Columns) -> Operation:
        left, right = (tuple(name for name in needed if name in kinds) for kinds in step.columns)
        sides = (
            self._chosen(step.left, step.columns[0], left, step.most[0]),
            self._chosen(step.right, step.columns[1], right, step.most[1]),
        )
        return Join(*sides, (PERSON,), right, step.outer)

    def _summarised(self, step: Summarised, needed: Columns) -> Operation:
        wanted = [each for each in step.summaries if each[0] in needed]
        columns = tuple(dict.fromkeys(column for _, _, column in wanted if column is not None))
        rows = self._chosen(step.input, step.columns, columns, step.most)
        present = tuple((f"{OWN}has {name}", If(IsMissing(Field(name)), Constant(0), Constant(1))) for name in columns)
        rows = Project(rows, (*same((*columns, PERSON)), *present))
        sums = [(f"sum {name}", "sum", name) for name in columns] + [
            (f"n {name}", "sum", f"{OWN}has {name}") for name in columns
        ]
        ends = [(f"{end} {name}", end, name) for name in columns for end in ("min", "max")]
        grouped = Group(rows, (PERSON,), (("rows", "count", None), *sums, *ends))
        values = tuple((name, _summary(what, column, step.columns)) for name, what, column in wanted)
        return Project(grouped, (*values, *same((PERSON,))))


def _summary(what: str, column: str | None, kinds: Mapping[str, Kind]) -> Node:
    if column is None:
        return Field("rows")
    total, number = Field(f"sum {column}"), Field(f"n {column}")
    if what == "sum":
        return If(number > 0, total, Constant(0))
    if what == "mean":
        # The nearest step: what is divided is counted from the lowest value, so that it is not negative.
        kind = kinds[column]
        assert isinstance(kind, Numbers)
        above, low = total - number * kind.lowest, kind.lowest
        return If(number > 0, (above * 2 + number) // (If(number > 0, number, Constant(1)) * 2) + low)
    return Field(f"{'min' if what == 'least' else 'max'} {column}")
