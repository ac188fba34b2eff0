"""Generalisation hierarchies: a value made coarser level by level, until the last level hides it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bruit.anonymity.coded import Coded
from bruit.errors import InvalidArgument

SUPPRESSED = "*"
"""What stands for any value at the last level."""


@dataclass(frozen=True)
class Intervals:
    """Numbers in intervals of growing widths, each a multiple of the one before; the last level hides the number."""

    widths: tuple[float, ...]
    origin: float = 0.0

    def labels(self, column: Coded) -> list[list[str]]:
        """For each level of generalisation, the label of each value."""
        if column.numbers is None:
            raise InvalidArgument(f"intervals need numbers, and {column.name!r} holds others; use a tree or prefixes")
        return [[self._interval(number, width) for number in column.numbers] for width in self.widths]

    def _interval(self, number: float, width: float) -> str:
        if np.isnan(number):
            return SUPPRESSED
        low = self.origin + np.floor((number - self.origin) / width) * width
        return f"[{low:g}, {low + width:g})"


@dataclass(frozen=True)
class Prefixes:
    """Texts cut to shorter and shorter prefixes, as with post codes; the last level hides the text."""

    lengths: tuple[int, ...]

    def labels(self, column: Coded) -> list[list[str]]:
        """For each level of generalisation, the label of each value."""
        texts = column.texts
        return [[text[:length] + SUPPRESSED * (len(text) - length) for text in texts] for length in self.lengths]


@dataclass(frozen=True)
class TreeHierarchy:
    """Coarser and coarser names for each value, as in a taxonomy; the last level hides the value.

    A value without an entry keeps its own name at every level but the last.
    """

    parents: Mapping[str, Sequence[str]]

    def labels(self, column: Coded) -> list[list[str]]:
        """For each level of generalisation, the label of each value."""
        depth = max((len(names) for names in self.parents.values()), default=0)
        texts = column.texts
        return [[self._name(text, level) for text in texts] for level in range(depth)]

    def _name(self, text: str, level: int) -> str:
        names = self.parents.get(text, ())
        return names[level] if level < len(names) else SUPPRESSED if names else text


Hierarchy = Intervals | Prefixes | TreeHierarchy


def intervals(*widths: float, origin: float = 0.0) -> Intervals:
    """Intervals of growing widths, for example 5, 10, 20."""
    steps = [later / former for former, later in pairwise(widths)]
    if not widths or min(widths) <= 0 or any(step <= 1 or step != round(step) for step in steps):
        raise InvalidArgument(f"intervals{widths}: give widths above zero, each a larger multiple of the one before")
    return Intervals(tuple(widths), origin)


def prefixes(*lengths: int) -> Prefixes:
    """Prefixes of a text of shrinking lengths, for example 4, 3, 2."""
    if not lengths or lengths[-1] < 1 or any(later >= former for former, later in pairwise(lengths)):
        raise InvalidArgument(f"prefixes{lengths}: give falling lengths, at least 1")
    return Prefixes(lengths)


def tree(parents: Mapping[str, Sequence[str]]) -> TreeHierarchy:
    """More and more general names for each value; two values that share a name share all coarser names too."""
    for level in range(max((len(names) for names in parents.values()), default=0) - 1):
        above: dict[str, str] = {}
        for names in parents.values():
            if len(names) > level + 1 and above.setdefault(names[level], names[level + 1]) != names[level + 1]:
                raise InvalidArgument(f"the tree gives {names[level]!r} two coarser names; give it one")
    return TreeHierarchy(parents)


@dataclass(frozen=True)
class Level:
    """One level of generalisation of a column: the code of each value, the codes' names, and the information lost.

    loss = (values under the same name - 1) / (values - 1)                          [Iyengar 2002, LM]
    """

    codes: NDArray[np.int64]
    names: tuple[str, ...]
    loss: NDArray[np.float64]

    @property
    def size(self) -> int:
        """The number of different names at this level."""
        return len(self.names)


def levels(column: Coded, hierarchy: Hierarchy | None) -> tuple[Level, ...]:
    """Every level of a column: its values as they are, those of its hierarchy, and one that hides everything."""
    named = [column.texts, *([] if hierarchy is None else hierarchy.labels(column)), [SUPPRESSED] * column.size]
    return tuple(_level(names) for names in named)


def _level(labels: list[str]) -> Level:
    names = tuple(dict.fromkeys(labels))
    place = {name: number for number, name in enumerate(names)}
    codes = np.array([place[label] for label in labels], np.int64)
    shared = np.bincount(codes)[codes] - 1
    return Level(codes, names, shared / max(len(labels) - 1, 1))
