"""Partitions a table by a declared column; every person keeps rows in a bounded number of cells.

Which cells a person keeps is decided by a hash whose key never changes for a partition, and by that person's rows
alone: the same in every release of one content. Then each cell is paid for by itself, and a person pays for the cells
they are in.                                                                                      [docs/rules.md 5]
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import polars

from bruit.core.arguments import whole
from bruit.core.numbers import Exact
from bruit.errors import InvalidArgument, PrivacyError
from bruit.tables.choice.hashing import ROUNDS, TERMS, RowKey
from bruit.tables.expressions.nodes import Node
from bruit.tables.expressions.to_polars import MODULUS
from bruit.tables.plan.expressions import Expression
from bruit.tables.plan.kinds import Labels, Moments, Numbers
from bruit.tables.plan.operators import Plan
from bruit.tables.plan.reading import key_labels
from bruit.tables.plan.steps import Joined, Leaf, Parted, Stacked, Step
from bruit.tables.versions.kept_cells import fill_list

if TYPE_CHECKING:
    from bruit.ledger import Budget, Ledger, Partition


@dataclass(frozen=True, eq=False)
class Parts:
    """The cells of a registered table by a declared column; each person keeps rows in at most `cells` of them."""

    plan: Plan
    ledger: Ledger
    column: Expression
    cells: int
    name: str
    kept: polars.DataFrame | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The public labels of the cells."""
        return key_labels(self.column)

    def __getitem__(self, label: str) -> Plan:
        """The rows of one cell, of the people who keep it; only what starts from here is paid for by the cell."""
        leaf, labels, place = self.plan.step, self.labels, self._place(label)
        assert isinstance(leaf, Leaf)
        assert leaf.registration is not None
        key = _key(leaf.registration.book, self.name)
        step = Parted(leaf, place_node(self.column), len(labels), place, self.cells, key, self.name, label, self.kept)
        return replace(self.plan, step=step, words=f"{self.plan.words} in {label}")

    def budget(self, label: str, *, epsilon: Exact, delta: Exact | None = None) -> Budget:
        """A budget charged to one cell only; it pays for questions whose rows all come from that cell."""
        self._place(label)
        return self._partition.budget(label, epsilon=epsilon, delta=delta)

    @property
    def _partition(self) -> Partition:
        return self.ledger.partition(self.name, cells=self.cells)

    def _place(self, label: str) -> int:
        if label not in self.labels:
            shown = ", ".join(self.labels[:12]) + (", ..." if len(self.labels) > 12 else "")
            raise InvalidArgument(f"{label!r} is no cell of {self.name}; they are {shown}")
        return self.labels.index(label)


def parts_of(plan: Plan, ledger: Ledger, column: str, cells: int, keep: str | None = None) -> Parts:
    """Partitions a registered table by a column, or by a part of a date such as "admitted.month".

    A new version opens a new partition, whose cost adds: its rows could move a person's choice to a further cell. With
    keep="first" a list beside the file keeps people in their cells, and one partition serves all versions.
    """
    leaf = plan.step
    if not isinstance(leaf, Leaf) or leaf.registration is None:
        raise PrivacyError("parts are cells of a registered table: bruit.tables.register(...) gives one")
    name, _, part = column.partition(".")
    key = plan[name].part(part) if part else plan[name]
    if isinstance(key.kind, Moments):
        raise InvalidArgument(f"{column!r} has too many cells: take a part of it, such as '{name}.month'")
    key_labels(key)
    cells = whole(cells, "cells", why="in how many cells a person can be")
    if plan.named is None and cells != 1:
        raise InvalidArgument(f"cells={cells}: give 1, since each row is a person of its own and lies in one cell")
    known = leaf.registration
    if keep is None:
        called = f"{known.table} version {known.version} by {column}, {cells} a person"
        return Parts(plan, ledger, key, cells, called)
    if keep != "first" or known.curator is None or plan.named is None:
        raise InvalidArgument(
            f"keep={keep!r}: keep='first' needs a registered file whose rows name people; leave keep out to "
            "choose each person's cells anew for every version"
        )
    listed = fill_list(known.curator.source, plan, column, place_node(key), key_labels(key), cells)
    called = f"{known.table} by {column}, {cells} a person, list {listed.identity}"
    return Parts(plan, ledger, key, cells, called, listed.pairs)


def place_node(column: Expression) -> Node:
    """The place of a row's cell among the labels of a column, from zero: numbers begin with their lowest."""
    assert isinstance(column.kind, Labels | Numbers)
    return column.node - column.kind.lowest


def holds_across_versions(step: Step) -> bool:
    """Whether a kept list assigns people to cells, so that parts stay disjoint when the table's content changes."""
    while not isinstance(step, Leaf):
        if isinstance(step, Parted):
            return step.kept is not None
        step = step.left if isinstance(step, Joined) else step.inputs[0] if isinstance(step, Stacked) else step.input
    return False


def place_of(step: Step) -> tuple[str, str, int] | None:
    """The partition, the cell and the cells per person that every row of a plan comes from.

    None where some row may come from elsewhere. The part is the left side of every join, since a right side gives rows
    only to those of the left, and a stack has the same cell on both sides.
    """
    match step:
        case Parted():
            return step.partition, step.label, step.most
        case Leaf():
            return None
        case Joined(left):
            return place_of(left)
        case Stacked((one, other)):
            return place_of(one) if place_of(one) == place_of(other) else None
    return place_of(step.input)


def _key(book: str, partition: str) -> RowKey:
    """The key of a partition, from the random identity of its book and its name: the same in every release, for ever.

    It need not be secret, and no generator whose stream could change with a version draws it.
    """

    def number(place: int, below: int) -> int:
        return int.from_bytes(hashlib.sha256(f"{book}\0{partition}\0{place}".encode()).digest(), "big") % below

    factors = tuple(1 + number(place, MODULUS - 1) for place in range(TERMS))
    offset, *added = (number(TERMS + place, MODULUS) for place in range(1 + ROUNDS))
    return RowKey(factors, offset, tuple(added), f"{number(2 * TERMS, 2**128):032x}")
