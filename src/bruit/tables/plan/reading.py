"""Reads the exact integers of a question: chooses rows once, and computes every part of every statistic on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import prod

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.errors import InvalidArgument
from bruit.tables.choice.choosing import Coded, Layout, choose_rows
from bruit.tables.choice.hashing import RowKey, draw_row_key
from bruit.tables.choice.limits import Limit
from bruit.tables.expressions.nodes import Constant, Field, If, IsMissing, Node
from bruit.tables.plan.expressions import Expression, narrow
from bruit.tables.plan.kinds import Bounded, Labels, Moments, Numbers, Texts
from bruit.tables.plan.lowering import Lowering
from bruit.tables.plan.operators import Plan
from bruit.tables.plan.steps import With
from bruit.tables.relations.operations import PERSON, Filter, Group, Operation, Project, same
from bruit.tables.relations.running import run, withheld
from bruit.tables.schema.columns import Text

MOST_CELLS = 2**27
"""The most cells of a dense answer: a gibibyte of counts."""

MOST_STEPS_SQUARED = 2**16
"""The widest column whose squares are summed, so that 2^31 rows stay within 64 bits."""

ROWS = (("rows", "count", None),)
"""What a tally says of each value."""

SUMS = ("rows", "sum", "above", "below", "twice below", "between", "twice above")
"""The parts that are sums over rows."""


def term(what: str, x: Node, low: int, high: int) -> Node:
    """What one row with the integer x, between low and high, adds to the sum named `what`.

    `above` and `below` are the two ends of a mean, (x - low) + (high - x) = high - low for every row; `twice below`,
    `between` and `twice above` the three ends of a variance, which add up to (high - low)^2.
    """
    above, below = x - low, Constant(high) - x
    match what:
        case "rows":
            return If(IsMissing(x), Constant(0), Constant(1))
        case "sum":
            return x
        case "above":
            return above
        case "below":
            return below
        case "twice below":
            return below * below
        case "between":
            return below * above * 2
    return above * above


@dataclass(frozen=True, eq=False)
class Part:
    """One exact integer per group: a sum of `SUMS`, `people`, `distinct` or `tally`, of a value or of whole rows."""

    what: str
    value: Expression | None = None


@dataclass(frozen=True)
class ExactIntegers:
    """The exact integers of a question: for each part an array with one entry per group, for a tally one row per value.

    `found` are the texts of found groups, in order, one tuple for each entry; with declared groups alone it is None and
    the arrays have an entry for each declared cell.
    """

    parts: tuple[NDArray[np.int64], ...]
    tallies: dict[int, polars.DataFrame] = field(default_factory=dict)
    found: tuple[tuple[int, tuple[str, ...]], ...] | None = None


class Keys:
    """The hash keys that choose each person's rows, drawn once and replayed for every slice of the people."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng, self.place = rng, 0
        self.drawn: list[RowKey] = []

    def begin(self) -> None:
        """Starts again from the first key."""
        self.place = 0

    def fresh(self) -> RowKey:
        """The next key, drawn the first time and replayed afterwards."""
        if self.place == len(self.drawn):
            self.drawn.append(draw_row_key(self.rng))
        self.place += 1
        return self.drawn[self.place - 1]


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads the parts of a plan by group keys; checked when it is made, no row is read before `read`."""

    plan: Plan
    keys: tuple[Expression, ...]
    parts: tuple[Part, ...]
    limit: Limit | None
    """None where each row is a person."""

    def __post_init__(self) -> None:
        if (self.limit is None) != (self.plan.named is None):
            raise InvalidArgument(
                "each row is a person of its own: no limit applies"
                if self.limit is not None
                else f"rows belong to {self.plan.person!r}, who may have many: give limit(rows=...), or groups and each"
            )
        for key in self.keys:
            self.plan.require_own(key)
        for part in self.parts:
            self._check(part)
        if self.cells > MOST_CELLS:
            raise InvalidArgument(f"{self.cells} cells are too many; at most 2^27: use coarser or fewer keys")
        self.layout  # noqa: B018  a layout that cannot be told apart is refused here

    def _check(self, part: Part) -> None:
        if part.value is None:
            return
        self.plan.require_own(narrow(part.value))
        if part.what == "twice below" and part.value.numbers.size > MOST_STEPS_SQUARED:
            raise InvalidArgument(f"the grid of {part.value.words} is too fine for a variance: at most 2^16 steps")

    @property
    def declared(self) -> tuple[tuple[str, Bounded], ...]:
        """The group keys with public labels, by the names of their columns."""
        named = ((f"key {i}", key.kind) for i, key in enumerate(self.keys))
        return tuple((name, kind) for name, kind in named if not isinstance(kind, Texts))

    @property
    def texts(self) -> tuple[str, ...]:
        """The columns of group keys whose values are found in the data."""
        return tuple(f"key {i}" for i, key in enumerate(self.keys) if isinstance(key.kind, Texts))

    @property
    def cells(self) -> int:
        """The number of groups that the declared keys make."""
        return prod(kind.highest - kind.lowest + 1 for _, kind in self.declared)

    @property
    def values(self) -> dict[Node, tuple[str, Expression]]:
        """The different expressions that parts are computed from, each with the name of its column."""
        found: dict[Node, tuple[str, Expression]] = {}
        for part in self.parts:
            if part.value is not None:
                found.setdefault(part.value.node, (f"value {len(found)}", part.value))
        return found

    @property
    def layout(self) -> Layout:
        """The columns that are kept of each chosen row."""
        values = self.values.values()
        numbers = tuple(Coded(n, v.kind.lowest, v.kind.highest) for n, v in values if not isinstance(v.kind, Texts))
        texts = tuple(name for name, value in values if isinstance(value.kind, Texts))
        return Layout(tuple(Coded(n, k.lowest, k.highest) for n, k in self.declared), numbers, self.texts, texts)

    def read(self, rng: np.random.Generator) -> ExactIntegers:
        """The exact integers of each group by all keys, from rows chosen with fresh hash keys."""
        return self.read_levels(rng, [tuple(range(len(self.keys)))])[0]

    def read_levels(self, rng: np.random.Generator, levels: Sequence[tuple[int, ...]]) -> list[ExactIntegers]:
        """The exact integers by several subsets of the keys (given by index), all from one choice of rows.

        A table larger than its stated memory is read in passes, each of a slice of the people: their integers add up.
        """
        keys, passes = Keys(rng), self.passes
        frames = [self._frames(keys, levels, (place, passes)) for place in range(passes)]
        notice_contents(self.plan)
        merged = iter(frames[0] if passes == 1 else map(_added, zip(*frames, strict=True)))
        counted = self._counted
        return [self._arranged(next(merged), {place: next(merged) for place in counted}, level) for level in levels]

    @property
    def passes(self) -> int:
        """In how many passes the people are read, slice by slice; 1 where each row is a person."""
        return 1 if self.limit is None else max(leaf.source.passes for leaf in self.plan.leaves)

    @property
    def _counted(self) -> list[int]:
        """The parts that are counted value by value: tallies, and different values that slices may share."""
        apart = ("tally",) if self.passes == 1 else ("tally", "distinct")
        return [place for place, part in enumerate(self.parts) if part.what in apart]

    def _frames(
        self, keys: Keys, levels: Sequence[tuple[int, ...]], slice_of: tuple[int, int]
    ) -> list[polars.DataFrame]:
        """For each level one row a group, and for each part that is counted by value one row a group and value."""
        kept = self.chosen(keys, slice_of, placed=True)
        asked = [
            operation
            for level in levels
            for operation in (self._group(kept, level), *(self._tally(kept, level, place) for place in self._counted))
        ]
        return run(asked, shared=kept if self.limit is not None or len(asked) > 1 else None)

    def integers(self, rng: np.random.Generator) -> NDArray[np.int64]:
        """The value of every chosen row that has one, in no order; counted by value where the rows are elsewhere."""
        [(name, _)] = self.values.values()
        if self.passes > 1 or any(leaf.source.engine != "polars" for leaf in self.plan.leaves):
            tally = self.read(rng).tallies[0]
            return np.repeat(_integers(tally, name), _integers(tally, "rows"))
        [frame] = run([Filter(Project(self.chosen(rng, placed=True), same((name,))), ~IsMissing(Field(name)))])
        notice_contents(self.plan)
        return _integers(frame, name)

    def rows(self, rng: np.random.Generator) -> polars.DataFrame:
        """The chosen rows as a frame: `key 0`, ..., `value 0`, ... and, where people are named, `person`."""
        [frame] = run([self.chosen(rng)])
        return frame.rename({PERSON: "person"}, strict=False)

    def chosen(
        self, keys: Keys | np.random.Generator, slice_of: tuple[int, int] = (0, 1), *, placed: bool = False
    ) -> Operation:
        """The operation that chooses rows of one slice of the people: `key 0`, ..., `value 0`, ... and the person.

        People named by texts who are `placed` are whole numbers in it. Spark, which has no list of texts, names them.
        """
        drawn = keys if isinstance(keys, Keys) else Keys(keys)
        drawn.begin()
        named = [(f"key {i}", key.node) for i, key in enumerate(self.keys)]
        columns = (*named, *((name, value.node) for name, value in self.values.values()))
        lowering = Lowering(self.plan.named, drawn.fresh, slice_of=slice_of)
        rows = lowering.lower(With(self.plan.step, columns), tuple(name for name, _ in columns))
        for name, _ in named:
            rows = Filter(rows, ~IsMissing(Field(name)))
        if self.limit is None:
            return rows
        text = isinstance(self.plan.named, Text)
        placed = placed and all(leaf.source.engine != "spark" for leaf in self.plan.leaves)
        return choose_rows(rows, self.layout, self.limit, drawn.fresh(), drawn.fresh(), text=text, placed=placed)

    def _level(self, level: tuple[int, ...]) -> tuple[list[tuple[str, Bounded]], tuple[str, ...]]:
        """The declared keys of a level with what they hold, and its columns of found texts."""
        names = {f"key {place}" for place in level}
        return [each for each in self.declared if each[0] in names], tuple(each for each in self.texts if each in names)

    def _cell(self, declared: list[tuple[str, Bounded]]) -> Node:
        cell: Node = Constant(0)
        for place, (name, kind) in enumerate(declared):
            digit = Field(name) - kind.lowest
            cell = digit if place == 0 else cell * (kind.highest - kind.lowest + 1) + digit
        return cell

    def _group(self, kept: Operation, level: tuple[int, ...]) -> Operation:
        """One row a group, with each part that is a sum or a number of different ones."""
        declared, texts = self._level(level)
        columns: list[tuple[str, Node]] = [("cell", self._cell(declared)), *same(texts)]
        aggregates: list[tuple[str, str, str | None]] = []
        for place, part in enumerate(self.parts):
            name = f"part {place}"
            if part.what in SUMS and part.value is not None:
                column, value = self.values[part.value.node]
                low, high = (value.numbers.lowest, value.numbers.highest) if part.what != "rows" else (0, 0)
                columns.append((name, term(part.what, Field(column), low, high)))
                aggregates.append((name, "sum", name))
            elif part.what == "people" and self.limit is not None:
                columns += [each for each in same((PERSON,)) if each not in columns]
                aggregates.append((name, "distinct", PERSON))
            elif part.what == "distinct" and part.value is not None:
                columns.append((name, Field(self.values[part.value.node][0])))
                aggregates.append((name, "distinct", name))
            else:
                aggregates.append((name, "count", None))
        return Group(Project(kept, tuple(columns)), ("cell", *texts), tuple(aggregates))

    def _tally(self, kept: Operation, level: tuple[int, ...], place: int) -> Operation:
        value = self.parts[place].value
        assert value is not None
        name, (declared, texts) = self.values[value.node][0], self._level(level)
        columns = (("cell", self._cell(declared)), *same((*texts, name)))
        return Group(Filter(Project(kept, columns), ~IsMissing(Field(name))), ("cell", *texts, name), ROWS)

    def _arranged(
        self, frame: polars.DataFrame, tallies: dict[int, polars.DataFrame], level: tuple[int, ...]
    ) -> ExactIntegers:
        declared, texts = self._level(level)
        counted = self._with_distinct(frame, tallies)
        if texts:
            ordered = counted.sort("cell", *texts)
            labels = ordered.select("cell", *texts).rows()
            found = tuple((int(cell), tuple(own)) for cell, *own in labels)
            arrays = [_integers(ordered, f"part {i}") for i in range(len(self.parts))]
            return ExactIntegers(tuple(arrays), tallies, found)
        places = counted["cell"].to_numpy()
        cells = prod(kind.highest - kind.lowest + 1 for _, kind in declared)
        arrays = [np.zeros(cells, np.int64) for _ in self.parts]
        for i, array in enumerate(arrays):
            array[places] = _integers(counted, f"part {i}")
        return ExactIntegers(tuple(arrays), tallies)

    def _with_distinct(self, frame: polars.DataFrame, tallies: dict[int, polars.DataFrame]) -> polars.DataFrame:
        """The sums of all slices, with different values counted over all of them."""
        for place, tally in tallies.items():
            if self.parts[place].what == "distinct":
                groups = [name for name in tally.columns if not name.startswith(("value", "rows"))]
                counted = tally.group_by(groups).agg(polars.len().cast(polars.Int64).alias(f"part {place}"))
                frame = frame.drop(f"part {place}").join(counted, on=groups, how="left")
        return frame


def notice_contents(plan: Plan) -> None:
    """Notes, in the curator's own file only, each registered table whose content changed since registration."""
    with withheld():
        for leaf in plan.leaves:
            if leaf.registration is not None:
                leaf.registration.notice()


def key_labels(key: Expression) -> tuple[str, ...]:
    """The public labels of a declared group key, in order."""
    kind = key.kind
    if isinstance(kind, Labels | Numbers):
        return kind.labels
    raise InvalidArgument(f"{key.words} has no labels: take a part of it, such as its month")


def group_key(expression: Expression) -> Expression:
    """Prepares an expression as a group key; dates are grouped by day."""
    kind = expression.kind
    return expression.part("day") if isinstance(kind, Moments) else narrow(expression)


def _added(frames: tuple[polars.DataFrame, ...]) -> polars.DataFrame:
    """The rows of all slices, those of one group and value added up."""
    whole = polars.concat(frames)
    sums = [name for name in whole.columns if name.startswith("part ") or name == "rows"]
    groups = [name for name in whole.columns if name not in sums]
    return whole.group_by(groups).agg(polars.col(sums).sum())


def _integers(frame: polars.DataFrame, name: str) -> NDArray[np.int64]:
    column = frame[name]
    whole = column.fill_null(0) if column.null_count() else column
    return whole.to_numpy().astype(np.int64, copy=False)
