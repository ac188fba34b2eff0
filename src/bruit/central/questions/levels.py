"""The levels of a question: sets of keys to group by, such as each ward, and all wards together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations, product
from math import prod

from bruit.errors import InvalidArgument
from bruit.tables.plan.expressions import Expression
from bruit.tables.plan.reading import key_labels

Levels = tuple[tuple[str, ...], ...]
Cell = tuple[str | None, ...]
"""The labels of a group, one for each key of the question; None where all of a key are taken together."""


def rollup(*keys: str) -> Levels:
    """The key sets of a roll-up, dropping the last key each time: (a, b), (a), ()."""
    return tuple(keys[:number] for number in range(len(keys), -1, -1))


def cube(*keys: str) -> Levels:
    """All subsets of the keys, from the full set to the empty one."""
    return tuple(each for number in range(len(keys), -1, -1) for each in combinations(keys, number))


@dataclass(frozen=True, eq=False)
class Level:
    """One set of keys to group by: all keys of a question, or a coarser subset."""

    keys: Mapping[str, Expression]
    names: tuple[str, ...]
    """The keys of this level, in the order of those of the question."""

    @property
    def places(self) -> tuple[int, ...]:
        """The indices of the level's keys among the question's keys."""
        return tuple(place for place, name in enumerate(self.keys) if name in self.names)

    @property
    def coarser(self) -> bool:
        """Whether the level merges groups of the question, having fewer keys."""
        return len(self.names) < len(self.keys)

    @cached_property
    def found(self) -> tuple[str, ...]:
        """The names of the level's keys without declared labels, whose groups are discovered in the data."""
        return tuple(name for name in self.names if not hasattr(self.keys[name].kind, "labels"))

    @cached_property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """The public labels of each declared key of the level."""
        return {name: key_labels(self.keys[name]) for name in self.names if name not in self.found}

    @property
    def groups(self) -> int | None:
        """The number of declared groups; None where some keys are discovered."""
        return None if self.found else prod(map(len, self.labels.values()))

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The labels of each declared group, in order."""
        return tuple(self._cell(dict(zip(self.labels, each, strict=True))) for each in product(*self.labels.values()))

    def found_cell(self, number: int, texts: Sequence[str]) -> Cell:
        """The labels of one group with declared and discovered keys."""
        named = dict(zip(self.found, texts, strict=True))
        for name, labels in reversed(self.labels.items()):
            number, place = divmod(number, len(labels))
            named[name] = labels[place]
        return self._cell(named)

    def _cell(self, named: Mapping[str, str]) -> Cell:
        return tuple(named.get(name) for name in self.keys)


def levels_of(keys: Mapping[str, Expression], stated: Sequence[Sequence[str]] | None) -> tuple[Level, ...]:
    """The stated levels, or the single level of all keys."""
    if stated is None:
        return (Level(keys, tuple(keys)),)
    wanted = [frozenset(each) for each in stated]
    odd = sorted(set().union(*wanted) - set(keys))
    if odd:
        raise InvalidArgument(f"levels: {odd[0]!r} is no key of the question; they are {', '.join(keys) or 'none'}")
    if not wanted or len(set(wanted)) < len(wanted):
        raise InvalidArgument("levels: give at least one set of keys, and each once, such as rollup('ward', 'sex')")
    return tuple(Level(keys, tuple(name for name in keys if name in each)) for each in wanted)
