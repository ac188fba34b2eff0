"""Integer expressions over the columns of a row, as trees that are compiled for every engine.

A missing operand makes arithmetic and comparisons missing, `and`, `or` and `not` follow Kleene's logic, and a filter
keeps the rows where its condition is true: what SQL does, and polars too. Quotients and remainders are taken of
numbers that are not negative, by positive ones, because engines round others differently; whoever builds one sees
to it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace


@dataclass(frozen=True)
class Node:
    """The base class of every expression; Python's operators build larger ones."""

    def __add__(self, other: Node | int) -> Node:
        return self if other == 0 else Binary("+", self, constant(other))

    def __sub__(self, other: Node | int) -> Node:
        return self if other == 0 else Binary("-", self, constant(other))

    def __mul__(self, other: Node | int) -> Node:
        return self if other == 1 else Binary("*", self, constant(other))

    def __floordiv__(self, other: Node | int) -> Node:
        return self if other == 1 else Binary("//", self, constant(other))

    def __mod__(self, other: Node | int) -> Node:
        return Binary("%", self, constant(other))

    def __and__(self, other: Node) -> Node:
        return Binary("and", self, other)

    def __or__(self, other: Node) -> Node:
        return Binary("or", self, other)

    def __invert__(self) -> Node:
        return Not(self)

    def __le__(self, other: Node | int) -> Node:
        return Binary("<=", self, constant(other))

    def __lt__(self, other: Node | int) -> Node:
        return Binary("<", self, constant(other))

    def __ge__(self, other: Node | int) -> Node:
        return Binary(">=", self, constant(other))

    def __gt__(self, other: Node | int) -> Node:
        return Binary(">", self, constant(other))

    def equals(self, other: Node | int) -> Node:
        """The condition that both are the same number."""
        return Binary("=", self, constant(other))

    def fields(self) -> Iterator[str]:
        """Yields the name of each column read, as often as it occurs."""
        return (column.name for column in self.columns())

    def columns(self) -> Iterator[Field]:
        """Yields each reference to a column, as often as it occurs."""
        for part in fields(self):
            value = getattr(self, part.name)
            for item in value if isinstance(value, tuple) else (value,):
                if isinstance(item, Node):
                    yield from item.columns()


@dataclass(frozen=True)
class Field(Node):
    """A reference to a column, read as a number or a text.

    `kind` is what the column could hold where the reference was made; None for the columns that an engine makes.
    """

    name: str
    kind: object = field(default=None, compare=False, repr=False)

    def columns(self) -> Iterator[Field]:
        yield self


@dataclass(frozen=True)
class Constant(Node):
    """A constant number; None stands for missing."""

    value: int | None


@dataclass(frozen=True)
class Binary(Node):
    """An operation on two operands: + - * // % give numbers; < <= = >= >, `and`, `or` give conditions."""

    sign: str
    left: Node
    right: Node


@dataclass(frozen=True)
class Not(Node):
    """The negation of a condition; missing where the condition is missing."""

    condition: Node


@dataclass(frozen=True)
class IsMissing(Node):
    """Whether an expression is missing; never missing itself."""

    value: Node


@dataclass(frozen=True)
class If(Node):
    """A conditional: one number where a condition is true, another where it is not."""

    condition: Node
    then: Node
    otherwise: Node = Constant(None)


@dataclass(frozen=True)
class Coalesce(Node):
    """A number, or a substitute where it is missing."""

    value: Node
    otherwise: Node


@dataclass(frozen=True)
class Among(Node):
    """Whether a number is one of a list."""

    value: Node
    choices: tuple[int, ...]


@dataclass(frozen=True)
class TextNumber(Node):
    """The first 60 bits of SHA-256(key, text) of a column of texts, modulo 2^31 - 1."""

    text: Field
    key: str


def extent(node: Node) -> tuple[int, int]:
    """How deep an expression is nested, and how many parts it is written with; a part used twice counts twice."""
    known: dict[int, tuple[int, int]] = {}
    waiting = [node]
    while waiting:
        last = waiting[-1]
        parts = [part for each in fields(last) if isinstance(part := getattr(last, each.name), Node)]
        unknown = [part for part in parts if id(part) not in known]
        waiting += unknown
        if not unknown:
            waiting.pop()
            below = [known[id(part)] for part in parts]
            known[id(last)] = 1 + max((d for d, _ in below), default=0), 1 + sum(size for _, size in below)
    return known[id(node)]


def text_numbers(node: Node) -> Iterator[TextNumber]:
    """Yields each `TextNumber` inside an expression, as often as it occurs."""
    if isinstance(node, TextNumber):
        yield node
        return
    for each in fields(node):
        value = getattr(node, each.name)
        if isinstance(value, Node):
            yield from text_numbers(value)


def replaced(node: Node, instead: Mapping[Node, Node]) -> Node:
    """The expression with some of its parts replaced by others."""
    if not instead or node in instead:
        return instead.get(node, node)
    parts = {each.name: getattr(node, each.name) for each in fields(node)}
    changed = {name: replaced(part, instead) for name, part in parts.items() if isinstance(part, Node)}
    return replace(node, **changed)


def constant(value: Node | int) -> Node:
    """Wraps a number as an expression; expressions are returned unchanged."""
    return value if isinstance(value, Node) else Constant(value)


def clamp(value: Node, low: int, high: int) -> Node:
    """The number clamped to the range from low to high."""
    return If(value < low, Constant(low), If(value > high, Constant(high), value))


def inside(value: Node, low: int, high: int) -> Node:
    """The number where it lies from low to high; missing elsewhere."""
    return If((value >= low) & (value <= high), value)
