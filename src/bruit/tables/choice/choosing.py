"""Chooses which rows of each person count, by a keyed hash of that person's rows alone.

Rows that are equal in everything that is read later are copies of each other: they are counted, numbered 0, 1, ... and
interchangeable, so that no order of arrival is ever used. A person is the exact value of the person column.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from bruit.errors import InvalidArgument
from bruit.tables.choice.hashing import TERMS, RowKey, Term, hashed, person_number, row_term, text_residue
from bruit.tables.choice.limits import MOST_ROWS, Limit
from bruit.tables.column_names import OWN
from bruit.tables.expressions.nodes import Coalesce, Constant, Field, If, Node
from bruit.tables.relations.operations import (
    PERSON,
    ROOM,
    Copies,
    Group,
    Join,
    Least,
    LeastNumbers,
    Operation,
    Placed,
    Project,
    same,
)

MOST_ROW_NUMBERS = 2**63
MOST_TEXTS = TERMS - 3
ROW, GROUP, COPY, HASH, PACKED, COUNT = (
    f"{OWN}{name}" for name in ("row number", "group number", "copy", "row hash", "packed", "copies")
)


@dataclass(frozen=True)
class Coded:
    """A column of bounded integers, some missing, as one digit of the single integer that a row is packed into."""

    name: str
    lowest: int
    highest: int

    @property
    def size(self) -> int:
        """The number of different digits, one of them for missing."""
        return self.highest - self.lowest + 2

    @property
    def digit(self) -> Node:
        """The expression of the digit for the column's value."""
        return Coalesce(Field(self.name) - self.lowest, Constant(self.size - 1))

    def value(self, digit: Node) -> Node:
        """The expression of the column's value for a digit."""
        return If(digit < self.size - 1, digit + self.lowest)


@dataclass(frozen=True)
class Layout:
    """The columns kept of each chosen row: integers (group keys first), packed into one number, and texts."""

    keys: tuple[Coded, ...]
    others: tuple[Coded, ...]
    text_keys: tuple[str, ...] = ()
    other_texts: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if prod(column.size for column in self.columns) >= MOST_ROW_NUMBERS:
            names = ", ".join(column.name for column in self.columns)
            raise InvalidArgument(
                f"{names} together have 2^63 different rows or more: use coarser grids or fewer columns in one question"
            )
        if len(self.texts) > MOST_TEXTS:
            raise InvalidArgument(f"{len(self.texts)} found columns in one question; at most {MOST_TEXTS}")

    @property
    def columns(self) -> tuple[Coded, ...]:
        """The integer columns, in the order of their digits."""
        return (*self.keys, *self.others)

    @property
    def texts(self) -> tuple[str, ...]:
        """The text columns."""
        return (*self.text_keys, *self.other_texts)

    @property
    def size(self) -> int:
        """The number of different packed rows."""
        return prod(column.size for column in self.columns)

    @property
    def groups(self) -> int:
        """The number of different packed group keys."""
        return prod(column.size for column in self.keys)

    @property
    def number(self) -> Node:
        """The expression that packs a row's integer columns into one number."""
        number: Node = Constant(0)
        for place, column in enumerate(self.columns):
            number = column.digit if place == 0 else number * column.size + column.digit
        return number

    def decoded(self, source: Operation) -> Operation:
        """Unpacks the columns from each row's number, beside the person and the texts."""
        values: list[tuple[str, Node]] = []
        stride = self.size
        for place, column in enumerate(self.columns):
            stride //= column.size
            digit = Field(ROW) // stride
            values.append((column.name, column.value(digit if place == 0 else digit % column.size)))
        return Project(source, (*same((PERSON, *self.texts)), *values))


def choose_rows(
    source: Operation,
    layout: Layout,
    limit: Limit,
    key: RowKey,
    group_key: RowKey,
    *,
    text: bool,
    placed: bool = False,
) -> Operation:
    """The rows that count under a limit, with the layout's columns and the person; `text` if persons are texts.

    Those that are `placed` are whole numbers afterwards, one for each text: faster where their names are not needed.
    """
    held = (PERSON, ROW, *layout.texts)
    numbered: Operation = Project(source, (*same((PERSON, *layout.texts)), (ROW, layout.number)))
    person = person_number(key, text=text)
    if text and placed:
        numbered, person = Placed(numbered, held[1:], key.salt), Term(Field(PERSON) % ROOM)
    rows: Operation = Group(numbered, held, ((COUNT, "count", None),), gathered=True)
    by: tuple[str, ...] = (PERSON,)
    if limit.rows is None:
        assert limit.groups is not None
        stride = layout.size // layout.groups
        rows = Project(rows, (*same((*held, COUNT)), (GROUP, Field(ROW) // stride)))
        by = (PERSON, GROUP, *layout.text_keys)
        rows = Join(rows, _chosen_groups(rows, layout, limit.groups, group_key, person), by, (), outer=False)
        held = (*held, GROUP)
    copies = Copies(rows, held, COUNT, COPY, MOST_ROWS)
    terms = [
        person,
        row_term(ROW, layout.size),
        Term(Field(COPY), MOST_ROWS),
        *(text_residue(name, key) for name in layout.texts),
    ]
    ordered = hashed(copies, held, terms, key, called=HASH)
    most = limit.rows or limit.each
    assert most is not None
    return layout.decoded(_least(ordered, layout, by, most))


def choose_groups(source: Operation, layout: Layout, most: int, key: RowKey, *, text: bool) -> Operation:
    """At most `most` groups of each person, as the person and the layout's key columns."""
    numbered = Project(source, (*same((PERSON,)), (GROUP, layout.number)))
    person = person_number(key, text=text)
    chosen = _chosen_groups(Project(numbered, same((PERSON, GROUP))), layout, most, key, person)
    return layout.decoded(Project(chosen, (*same((PERSON,)), (ROW, Field(GROUP)))))


def _chosen_groups(rows: Operation, layout: Layout, most: int, key: RowKey, person: Term) -> Operation:
    """The groups of each person that count, numbered in the order of hash, number and texts, never ranked with ties."""
    held = (PERSON, GROUP, *layout.text_keys)
    pairs = Group(Project(rows, same(held)), held, ())
    terms = [person, row_term(GROUP, layout.groups)]
    terms += [text_residue(name, key) for name in layout.text_keys]
    ordered = hashed(pairs, held, terms, key, called=HASH)
    if layout.text_keys or layout.groups >= ROOM:
        return Least(ordered, held, (PERSON,), (HASH, GROUP, *layout.text_keys), most)
    packed = Project(ordered, (*same((PERSON,)), (PACKED, Field(HASH) * ROOM + Field(GROUP))))
    least = LeastNumbers(packed, (PERSON,), PACKED, most)
    return Project(least, (*same((PERSON,)), (GROUP, Field(PACKED) % ROOM)))


def _least(ordered: Operation, layout: Layout, by: tuple[str, ...], most: int) -> Operation:
    """The first rows of each person, or of each person and group; packed into one number where it fits."""
    if layout.texts or layout.size >= ROOM:
        return Least(ordered, (PERSON, ROW, *layout.texts), by, (HASH, ROW, *layout.texts), most)
    packed = Project(ordered, (*same(by), (PACKED, Field(HASH) * ROOM + Field(ROW))))
    return Project(LeastNumbers(packed, by, PACKED, most), (*same((PERSON,)), (ROW, Field(PACKED) % ROOM)))
