"""The sensitivity of a statistic's exact integers to one person, defined here only.

A row adds an integer in [low, high], low <= 0 <= high, to one entry, or two or three ends that add up to `high` to as
many entries of one group. The extreme person has k groups with q rows each; K is the number of declared groups.

    add or remove             l1 = k q M                l2^2 = k (q M)^2            linf = q M,   M = max(-low, high)
    replace                   o groups are shared by both people, k + k' - 2 o are not, k + k' - o <= K:
      one entry a group       o q (high - low) + (k + k' - 2 o) q M, and the same of squares
      ends                    2 q M and 2 (q M)^2 of a shared group

The checker in `bruit.audit` walks all small tables and finds each of these attained.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations_with_replacement

from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours
from bruit.tables.choice.limits import Limit

MOST_PARTITIONED = 6
"""The most rows of a person whose spreads over groups are listed one by one."""

Spread = tuple[tuple[int, int], ...]
"""A change of several entries: by how much, and how many are changed by so much."""


@dataclass(frozen=True)
class RowRange:
    """What one row can add: an integer from low to high, or `ends` non-negative integers that sum to `high`.

    `once` where a person counts once in a group, however many rows are there.
    """

    low: int
    high: int
    ends: int = 1
    once: bool = False

    @property
    def largest(self) -> int:
        """The largest absolute contribution of one row, M."""
        return max(-self.low, self.high)


@dataclass(frozen=True)
class Sensitivity:
    """The sensitivity to one person: l1, squared l2, linf and the number of entries that can change.

    `spreads` lists every largest change, entry by entry, where they are few; None where they are not.
    """

    l1: int
    l2_squared: int
    linf: int
    entries: int
    spreads: tuple[Spread, ...] | None


def sensitivity(
    row: RowRange, limit: Limit | None, *, groups: int | None, neighbours: Neighbours, coarser: bool = False
) -> Sensitivity:
    """The sensitivity of a statistic by group; `limit` is None where each row is a person.

    `groups` is how many declared groups there are, None where they are found; `coarser` says that the groups of the
    limit were folded into fewer ones after the choice of rows.
    """
    k, q = extreme_person(row, limit, groups=groups, coarser=coarser)
    touched = _most_groups(limit, groups)
    if neighbours is ADD_OR_REMOVE_ONE:
        each = q * row.largest
        spreads = _spreads_of_one(row, limit, k, q, coarser=coarser, groups=groups)
        return Sensitivity(k * each, k * each**2, each, touched * row.ends, spreads)
    shapes = [(o, k + other - 2 * o) for o in range(k + 1) for other in range(o, k + 1) if _fit(k + other - o, groups)]
    shared, alone = q * (row.high - row.low), q * row.largest
    if row.ends > 1:
        l1 = max(o * 2 * alone + rest * alone for o, rest in shapes)
        squares = max(o * 2 * alone**2 + rest * alone**2 for o, rest in shapes)
        largest = alone
    else:
        l1 = max(o * shared + rest * alone for o, rest in shapes)
        squares = max(o * shared**2 + rest * alone**2 for o, rest in shapes)
        largest = max(shared, alone)
    both = 2 * touched if groups is None else min(2 * touched, groups)
    spreads = _spreads_of_two(row, limit, shapes, (shared, alone), coarser=coarser, groups=groups)
    return Sensitivity(l1, squares, largest, both * row.ends, spreads)


def extreme_person(row: RowRange, limit: Limit | None, *, groups: int | None, coarser: bool = False) -> tuple[int, int]:
    """How many groups k the most influential person is in, and how many rows q in each."""
    if limit is None:
        return 1, 1
    if row.once:
        return _most_groups(limit, groups), 1
    if limit.rows is not None:
        return 1, limit.rows
    assert limit.groups is not None
    assert limit.each is not None
    return (1, limit.groups * limit.each) if coarser else (_most_groups(limit, groups), limit.each)


def moved_rows(limit: Limit | None, *, groups: int | None) -> int:
    """The most rows of one person that count."""
    if limit is None:
        return 1
    return limit.rows if limit.rows is not None else _most_groups(limit, groups) * (limit.each or 1)


def _most_groups(limit: Limit | None, groups: int | None) -> int:
    """The most groups that the rows of one person lie in."""
    most = 1 if limit is None else limit.rows or limit.groups or 1
    return most if groups is None else min(most, groups)


def _fit(used: int, groups: int | None) -> bool:
    return groups is None or used <= groups


def _listed(row: RowRange, limit: Limit | None, *, coarser: bool) -> bool:
    """Whether the largest change is the same in each of a person's groups, so that one `Spread` is the worst case."""
    return row.ends == 1 and (limit is None or row.once or (limit.rows is None and not coarser))


def _spreads_of_one(
    row: RowRange, limit: Limit | None, k: int, q: int, *, coarser: bool, groups: int | None
) -> tuple[Spread, ...] | None:
    if _listed(row, limit, coarser=coarser):
        return (((q * row.largest, k),),)
    if row.ends > 1 or row.largest > 1 or q > MOST_PARTITIONED:
        return None
    return tuple(_counted(parts) for parts in _partitions(q, groups))


def _spreads_of_two(
    row: RowRange,
    limit: Limit | None,
    shapes: list[tuple[int, int]],
    moves: tuple[int, int],
    *,
    coarser: bool,
    groups: int | None,
) -> tuple[Spread, ...] | None:
    """The changes that replacing one person by another can make; where both are in a group, theirs partly cancel."""
    if _listed(row, limit, coarser=coarser):
        largest = {o: max(rest for shared, rest in shapes if shared == o) for o, _ in shapes}
        if moves[0] == moves[1]:
            return (((moves[1], max(o + rest for o, rest in largest.items())),),)
        return tuple(
            tuple(part for part in ((moves[0], o), (moves[1], rest)) if part[1]) for o, rest in largest.items()
        )
    q = moves[1]
    if row.ends > 1 or row.low < 0 or row.largest > 1 or q > MOST_PARTITIONED:
        return None
    pairs = combinations_with_replacement(_partitions(q, groups), 2)
    apart = {_counted(one + other) for one, other in pairs if _fit(len(one) + len(other), groups)}
    return tuple(apart | {_counted(parts) for parts in _partitions(q, groups)})


def _partitions(rows: int, groups: int | None) -> list[tuple[int, ...]]:
    """The ways to spread rows over groups, the largest number first."""

    def parts(left: int, most: int) -> list[tuple[int, ...]]:
        if left == 0:
            return [()]
        return [(first, *rest) for first in range(min(left, most), 0, -1) for rest in parts(left - first, first)]

    return [each for each in parts(rows, rows) if _fit(len(each), groups)]


def _counted(parts: tuple[int, ...]) -> Spread:
    return tuple((part, parts.count(part)) for part in sorted(set(parts), reverse=True))
