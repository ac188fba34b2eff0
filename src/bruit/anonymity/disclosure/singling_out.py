"""The smallest sets of columns whose combined values are unique for most rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bruit.anonymity.coded import Coded, count_keys, join_columns

ROWS = 50_000
"""Sets are first tried on so many rows: a row that is alone in the table is alone in every part of it."""

MOST_SETS = 2_000
SHOWN = 5


@dataclass(frozen=True)
class SinglingSet:
    """Columns whose combined values are unique in `uniques` rows, the share `share` of the table."""

    columns: tuple[str, ...]
    uniques: int
    share: float


def singling_sets(columns: Sequence[Coded], *, share: float, most: int) -> tuple[SinglingSet, ...]:
    """The smallest sets of columns whose values are unique for at least `share` of the rows: at most five, best first.

    Sets are tried on evenly spaced rows and those that pass are counted on all. Where the table is larger, a set that
    only just reaches the share may be missed; whatever is returned was counted exactly. The columns with the most
    labels are tried first, and at most two thousand sets of each size.
    """
    if not columns:
        return ()
    rows = len(columns[0].codes)
    ranked = sorted((column for column in columns if column.size > 1), key=lambda column: -column.size)
    step = -(-rows // ROWS)
    parts = [Coded(column.name, column.codes[::step], column.labels) for column in ranked]
    for size in range(1, most + 1):
        tried = []
        for number, chosen in enumerate(combinations(range(len(ranked)), size)):
            if number == MOST_SETS:
                break
            tried.append((_alone([parts[i] for i in chosen]), chosen))
        hopeful = [chosen for alone, chosen in sorted(tried, reverse=True) if alone >= share][: 2 * SHOWN]
        found = [_measure([ranked[i] for i in chosen]) for chosen in hopeful]
        enough = sorted((one for one in found if one.share >= share), key=lambda one: -one.share)
        if enough:
            return tuple(enough[:SHOWN])
    return ()


def _alone(columns: Sequence[Coded]) -> float:
    _, counts = count_keys(join_columns(columns, len(columns[0].codes)))
    return float((counts == 1).sum() / len(columns[0].codes))


def _measure(columns: Sequence[Coded]) -> SinglingSet:
    rows = len(columns[0].codes)
    _, counts = count_keys(join_columns(columns, rows))
    uniques = int(np.count_nonzero(counts == 1))
    return SinglingSet(tuple(column.name for column in columns), uniques, uniques / rows)
