"""Plans: tables of people that are filtered, extended, joined and summarised person by person.

Each operator maps the rows of person p to rows of p and looks at rows of p and public things only. Then adding,
removing or replacing one person changes the rows of that person alone after any plan, by induction over its steps: no
stability factor is ever multiplied, and what one person can change is decided by the limit, applied after the plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from bruit.core.arguments import is_whole
from bruit.core.neighbours import EACH_ROW
from bruit.errors import InvalidArgument
from bruit.tables.choice.limits import MOST_ROWS
from bruit.tables.column_names import check_new_names
from bruit.tables.expressions.nodes import Constant, Field, If, Node
from bruit.tables.plan.expressions import DEEPEST, Condition, Expression, narrow, require_short
from bruit.tables.plan.kinds import Kind, Labels, Numbers, kind_of
from bruit.tables.plan.steps import Joined, Leaf, Stacked, Step, Summarised, Where, With, depth
from bruit.tables.relations.running import engine_of
from bruit.tables.schema.columns import ColumnType, Text, Whole
from bruit.tables.schema.statement import Schema
from bruit.tables.sources.opening import Source, open_source

SUMMARIES = ("count", "sum", "mean", "least", "greatest")


@dataclass(frozen=True, eq=False)
class Plan:
    """A query plan over rows of people with typed columns; no row is read before a budget is charged.

    `person` is the name of the person column, `named` its declared type (None where each row is a person); `leaves` are
    the tables it reads and `words` say what was done.
    """

    step: Step
    columns: Mapping[str, Kind]
    person: str
    named: ColumnType | None
    leaves: tuple[Leaf, ...]
    words: str
    looks_up: bool = False
    """Whether columns come from a table that was said to be public."""

    def __post_init__(self) -> None:
        if depth(self.step) > DEEPEST:
            raise InvalidArgument(
                f"a plan of more than {DEEPEST} steps is too long for an engine: join conditions by & and |, and give "
                "all new columns in one with_(...)"
            )

    def __getitem__(self, name: str) -> Expression:
        if name == self.person:
            raise InvalidArgument(
                f"{name!r} says whose row it is: it can be counted or joined on, not shown or compared"
            )
        if name not in self.columns:
            declared = {column for leaf in self.leaves for column in leaf.schema.columns}
            if name in declared:
                kind_of(next(leaf.schema.columns[name] for leaf in self.leaves if name in leaf.schema.columns), name)
            raise InvalidArgument(f"no column {name!r} was declared; there are {', '.join(self.columns)}")
        return Expression(self.columns[name], Field(name, self.columns[name]), name)

    def where(self, condition: Condition) -> Plan:
        """The rows where a condition is true; a comparison with a missing value is false."""
        if not isinstance(condition, Condition):
            raise InvalidArgument("where(...) needs a comparison of columns, such as table['age'] >= 18")
        require_short(condition)
        self.require_own(condition)
        return replace(self, step=Where(self.step, condition.node), words=f"{self.words} where {condition.words}")

    def require_own(self, stated: Expression | Condition) -> None:
        """Refuses columns of another plan which here are missing or can hold something else: their bounds would lie."""
        for column in stated.node.columns():
            if self.columns.get(column.name) != column.kind:
                raise InvalidArgument(
                    f"{stated.words}: {column.name!r} was taken from another table, or before it was changed; take it "
                    f"from the table that is asked, table[{column.name!r}]"
                )

    def _check_new(self, *names: str, beside: bool = True) -> None:
        """Refuses names of new columns that stand for the person, or that engines take for other ones."""
        owners = [name for name in names if name in (self.person, EACH_ROW)]
        if owners:
            raise InvalidArgument(f"{owners[0]!r} says whose row it is: choose another name")
        check_new_names(names, beside=self.columns if beside else ())

    def with_(self, **columns: Expression) -> Plan:
        """The same rows with further columns, each computed from the row itself."""
        self._check_new(*columns)
        for column in columns.values():
            self.require_own(narrow(column))
        step = With(self.step, tuple((name, column.node) for name, column in columns.items()))
        kinds = {**self.columns, **{name: column.kind for name, column in columns.items()}}
        said = ", ".join(f"{name} = {column.words}" for name, column in columns.items())
        return replace(self, step=step, columns=kinds, words=f"{self.words} with {said}" if said else self.words)

    def lookup(self, public: Mapping[str, Mapping[object, Any]], *, on: str, outer: bool = True) -> Plan:
        """Adds columns of a public table, matched by a declared column; missing where nothing matches.

        `public` gives for each new column its value by the values of `on`: labels, or whole numbers. Without `outer`,
        rows that match nothing are left out.
        """
        key, kinds, columns = self[on], dict(self.columns), []
        if not isinstance(key.kind, Labels | Numbers):
            raise InvalidArgument(f"lookup(on={on!r}) needs a column of categories or numbers")
        self._check_new(*public)
        for name, values in public.items():
            kinds[name], node = _looked_up(key, name, values)
            narrow(Expression(kinds[name], node, name))
            columns.append((name, node))
        words = f"{self.words} with {', '.join(public)} by {on}{'' if outer else ', where it is listed'}"
        listed = key.among([each for values in public.values() for each in values if _declared(key, each)])
        rows = self.step if outer else Where(self.step, listed.node)  # before a new column may take the key's name
        return replace(self, step=With(rows, tuple(columns)), columns=kinds, words=words, looks_up=True)

    def join(self, other: Plan, *, most: tuple[int, int], outer: bool = False) -> Plan:
        """Joins each person's rows of two tables, at most `most` of either; `outer` keeps unmatched rows."""
        self._require_same_people(other, "join")
        if not isinstance(most, tuple) or not all(map(_is_count, most)) or len(most) != 2:
            raise InvalidArgument(f"most={most!r}: say how many rows of a person count on each side, such as (3, 5)")
        own = {name.casefold() for name in self.columns}
        twice = sorted(name for name in other.columns if name.casefold() in own)
        if twice:
            raise InvalidArgument(f"both tables have a column {twice[0]!r}: rename it in one of them with with_(...)")
        step = Joined(self.step, other.step, (int(most[0]), int(most[1])), (self.columns, other.columns), outer)
        columns = {**self.columns, **other.columns}
        return replace(
            self,
            step=step,
            columns=columns,
            leaves=(*self.leaves, *other.leaves),
            words=f"{self.words} joined with {other.words}",
            looks_up=self.looks_up or other.looks_up,
        )

    def stack(self, other: Plan) -> Plan:
        """The rows of both tables, which must have the same columns."""
        self._require_same_people(other, "stack")
        shared = [name for name in self.columns if other.columns.get(name) == self.columns[name]]
        if len(shared) < len(self.columns) or len(shared) < len(other.columns):
            odd = sorted(set(self.columns) ^ set(other.columns)) or sorted(set(self.columns) - set(shared))
            raise InvalidArgument(f"stack(...) needs the same declared columns on both sides; {odd[0]!r} differs")
        leaves = (*self.leaves, *other.leaves)
        return replace(
            self,
            step=Stacked((self.step, other.step)),
            leaves=leaves,
            words=f"{self.words} and {other.words}",
            looks_up=self.looks_up or other.looks_up,
        )

    def per_person(self, *, most: int, **summaries: tuple[str, str] | str) -> Plan:
        """One row per person from at most `most` of theirs: name="count", or sum, mean, least, greatest of a column."""
        if self.named is None:
            raise InvalidArgument("each row is a person of its own: there is nothing to summarise per person")
        if not _is_count(most):
            raise InvalidArgument(f"most={most!r} must be a whole number of rows, from 1 to {MOST_ROWS}")
        most = int(most)
        self._check_new(*summaries, beside=False)
        parts = [(name, *_summary(name, each)) for name, each in summaries.items()]
        kinds = {name: self._summary_kind(what, column, most) for name, what, column in parts}
        step = Summarised(self.step, tuple(parts), most, self.columns)
        said = ", ".join(f"{name} = {what}{f' of {column}' if column else ''}" for name, what, column in parts)
        words = f"{self.words}, one row a person from at most {most} with {said}"
        return replace(self, step=step, columns=kinds, words=words)

    def _summary_kind(self, what: str, column: str | None, most: int) -> Numbers:
        if column is None:
            return Numbers(0, most, Fraction(1))
        kind = self[column].numbers
        if what == "sum":
            found = Numbers(min(0, most * kind.lowest), max(0, most * kind.highest), kind.grid)
            return narrow(Expression(found, Field(column), f"sum of {column}")).numbers
        return kind

    def _require_same_people(self, other: Plan, what: str) -> None:
        if self.named is None or other.named is None:
            raise InvalidArgument(f"{what}(...) needs tables of named people: here each row is a person of its own")
        if self.person != other.person or self.named != other.named:
            raise InvalidArgument(
                f"{what}(...): the rows of one table belong to {self.person!r} ({self.named.type}), of the other to "
                f"{other.person!r} ({other.named.type}); two private tables are joined on the person only"
            )
        engine_of(leaf.source for leaf in (*self.leaves, *other.leaves))


def open_table(source: object, schema: Schema, *, connection: object = None, memory: int | None = None) -> Plan:
    """Opens a table under its schema: a path, a frame of any engine, or with `connection` a database query.

    With `memory`, a number of bytes, a file whose choice of rows would take more is read in several passes.

    >>> import polars
    >>> from bruit.tables.schema import Schema, number, whole
    >>> schema = Schema(person="id", columns={"id": whole(), "age": number(0, 120, grid=1)})
    >>> people = open_table(polars.DataFrame({"id": [7, 7, 8], "age": [31, 32, 140]}), schema)
    >>> people.where(people["age"] >= 32).words
    'table where age >= 32'
    """
    opened = open_source(source, schema, connection=connection, memory=memory)
    return plan_of(opened, schema)


def plan_of(source: Source, schema: Schema) -> Plan:
    """The plan that reads an open source."""
    named = None if schema.person == EACH_ROW else schema.columns[schema.person]
    readable = {name: column for name, column in schema.columns.items() if not isinstance(column, Text | Whole)}
    leaf = Leaf(source, schema)
    kinds = {name: kind_of(column, name) for name, column in readable.items()}
    return Plan(leaf, kinds, schema.person, named, (leaf,), schema.name)


def _summary(name: str, stated: tuple[str, str] | str) -> tuple[str, str | None]:
    what, column = (stated, None) if isinstance(stated, str) else stated
    if what not in SUMMARIES or (column is None) != (what == "count"):
        raise InvalidArgument(
            f'{name}={stated!r}: say "count", or {", ".join(SUMMARIES[1:])} of a column, such as ("sum", "cost")'
        )
    return what, column


def _is_count(value: object) -> bool:
    return is_whole(value) and 1 <= value <= MOST_ROWS


def _looked_up(key: Expression, name: str, values: Mapping[object, Any]) -> tuple[Kind, Node]:
    """What a public column holds, and how it is found: it is read whole, its keys are unique because they are keys."""
    found = list(dict.fromkeys(values.values()))
    numbers = all(isinstance(value, int) and not isinstance(value, bool) for value in found)
    if not found or not (numbers or all(isinstance(value, str) for value in found)):
        raise InvalidArgument(f"lookup: the column {name!r} must hold labels, or whole numbers")
    keys: dict[object, list[object]] = {value: [] for value in found}
    for each, value in values.items():
        if _declared(key, each):
            keys[value].append(each)
    cases = [(keys[value], value if numbers else place) for place, value in enumerate(found) if keys[value]]
    return (Numbers(min(found), max(found), Fraction(1)) if numbers else Labels(tuple(found))), _case_of(key, cases)


def _case_of(key: Expression, cases: Sequence[tuple[list[object], int]]) -> Node:
    """The number of the case whose list holds the key, by halves: as deep as the logarithm of their number."""
    if len(cases) < 2:
        return If(key.among(cases[0][0]).node, Constant(cases[0][1])) if cases else Constant(None)
    first, last = cases[: len(cases) // 2], cases[len(cases) // 2 :]
    held = key.among([each for keys, _ in first for each in keys])
    return If(held.node, _case_of(key, first), _case_of(key, last))


def _declared(key: Expression, value: object) -> bool:
    return not isinstance(key.kind, Labels) or value in key.kind.labels
