"""The smallest sets of columns that leave most rows alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from bruit.anonymity.coded import Coded, counted, joined

ROWS = 50_000
"""Sets are first tried on so many rows: a row that is alone in the table is alone in every part of it."""

MOST_SETS = 2_000
SHOWN = 5


@dataclass(frozen=True)
class SinglingSet:
    """Columns that together leave `uniques` rows alone, the share `share` of all."""

    columns: tuple[str, ...]
    uniques: int
    share: float


def singling_sets(columns: Sequence[Coded], *, share: float, most: int) -> tuple[SinglingSet, ...]:
    """The sets of the least size that leave at least `share` of the rows alone, at most five, the sharpest first.

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
        found = [_measured([ranked[i] for i in chosen]) for chosen in hopeful]
        enough = sorted((one for one in found if one.share >= share), key=lambda one: -one.share)
        if enough:
            return tuple(enough[:SHOWN])
    return ()


def _alone(columns: Sequence[Coded]) -> float:
    _, counts = counted(joined(columns, len(columns[0].codes)))
    return float((counts == 1).sum() / len(columns[0].codes))


def _measured(columns: Sequence[Coded]) -> SinglingSet:
    rows = len(columns[0].codes)
    _, counts = counted(joined(columns, rows))
    uniques = int(np.count_nonzero(counts == 1))
    return SinglingSet(tuple(column.name for column in columns), uniques, uniques / rows)
