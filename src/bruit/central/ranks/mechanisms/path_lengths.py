"""Inverse-sensitivity path lengths: how many records must change for a cell to be the quantile.

The quantile of n >= 1 records is the record of rank ceil(p n). Where the size is public, length(z) counts exchanged
records; else it counts records that come or go. Either way it is a distance between tables, so that one record moves it
by at most one, whatever z is.                                                    [Asi & Duchi 2020; docs/spec.md S3.4]
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bruit.central.ranks.mechanisms.segments import Segments

Integers = NDArray[np.int64]


def lengths_by_exchange(where: Segments, probability: Fraction, size: int) -> Integers:
    """For each segment, how many records must be replaced to make it the quantile, k = ceil(p n)."""
    rank = -(-probability.numerator * size // probability.denominator)
    return np.maximum(np.maximum(rank - where.upto, where.below - rank + 1), 0)


def lengths_by_moves(where: Segments, probability: Fraction, size: int) -> Integers:
    """For each segment, how many records must be added or removed to make it the quantile.

    Too low, while p n > upto: a record added at z gains 1 - p, one removed from above gains p. Too high, while
    p n <= below: a record added at z gains p, one removed from below gains 1 - p. A cell without a record needs one.
    """
    num, den = probability.numerator, probability.denominator
    target = num * size
    empty = (where.upto == where.below).astype(np.int64)
    low = _fewest(target - den * where.upto, den - num, num, size - where.upto, empty)
    high = _fewest(den * where.below - target + 1, num, den - num, where.below, empty)
    return np.where(target > den * where.upto, low, np.where(target <= den * where.below, high, 0))


def _fewest(lacking: Integers, by_adding: int, by_removing: int, removable: Integers, added: Integers) -> Integers:
    """The fewest records that gain what is lacking, `added` of them being added in any case."""
    rest = np.maximum(lacking - by_adding * added, 0)
    if by_adding >= by_removing:
        return np.asarray(added - (-rest // by_adding), np.int64)
    removed = np.minimum(removable, -(-rest // by_removing))
    rest = np.maximum(rest - by_removing * removed, 0)
    return np.asarray(added + removed - (-rest // by_adding), np.int64)


def smoothed(where: Segments, lengths: Integers, radius: int, *, first: int, last: int) -> tuple[Segments, Integers]:
    """Segments of first .. last by the least length within `radius` cells, and these lengths.

    max(min over s <= z + radius, min over s >= z - radius): the cells of length at most l, made an interval and widened
    by the radius on both sides, so that one record still moves it by at most one.
    """
    kept = where.length > 0
    start, lengths = where.start[kept], lengths[kept]
    after = start + where.length[kept]
    from_left, from_right = np.minimum.accumulate(lengths), np.minimum.accumulate(lengths[::-1])[::-1]
    early = np.maximum(start - radius, first)  # the first cell where from_left holds
    late = np.minimum(after + radius, last + 1)  # the first cell where from_right no longer holds
    edges = np.sort(np.concatenate([early, late]))
    edges = edges[np.diff(edges, prepend=-1) > 0]
    begin = edges[:-1]
    left = from_left[np.searchsorted(early, begin, side="right") - 1]
    right = from_right[np.searchsorted(late, begin, side="right")]
    nothing = np.zeros(len(begin), np.int64)
    return Segments(begin, np.diff(edges), nothing, nothing), np.maximum(left, right)
