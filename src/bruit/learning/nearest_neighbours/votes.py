"""Counts the votes of the nearest records, class by class."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bruit.learning.nearest_neighbours._kernels import keep_nearest

QUERIES, ROWS = 256, 4096
"""The size of one block of distances: 8 MiB, whatever the number of records and of questions."""


def count_votes(
    records: NDArray[np.float64],
    labels: NDArray[np.int64],
    questions: NDArray[np.float64],
    *,
    nearest: int,
    classes: int,
) -> NDArray[np.int64]:
    """How many of each query's nearest records have each class: (queries, classes).

    Beside what is given and returned it holds one block of distances (8 MiB), one of records, and the nearest of 256
    questions. Equally far records count in the order of their rows: a table that gains, loses or exchanges one record
    changes the voters by one at most.                                                        [docs/neighbours.md]
    """
    votes = np.zeros((len(questions), classes), np.int64)
    for start in range(0, len(questions), QUERIES):
        block = questions[start : start + QUERIES]
        places = nearest_rows(records, block, nearest=nearest)
        found = labels[places] + classes * np.arange(len(block))[:, None]
        votes[start : start + QUERIES] = np.bincount(found.ravel(), minlength=len(block) * classes).reshape(-1, classes)
    return votes


def nearest_rows(records: NDArray[np.float64], block: NDArray[np.float64], *, nearest: int) -> NDArray[np.int64]:
    """The unordered indices of the nearest records of each query in a block; all records where there are few.

    |x|^2 - 2 q.x orders records as |x - q|^2 does; the norm rides along as one more coordinate of the product.
    """
    most = min(nearest, len(records))
    distances, places = np.empty((len(block), most)), np.empty((len(block), most), np.int64)
    asked = np.column_stack([-2 * block, np.ones(len(block))])
    rows = np.empty((min(ROWS, len(records)), asked.shape[1]))
    room = np.empty((len(block), len(rows)))
    kept = 0
    for start in range(0, len(records), ROWS):
        part = records[start : start + ROWS]
        here, seen = rows[: len(part)], room[:, : len(part)]
        here[:, :-1] = part
        np.einsum("ij,ij->i", part, part, out=here[:, -1])
        if len(part) < len(rows):
            seen = np.empty((len(block), len(part)))
        np.matmul(asked, here.T, out=seen)
        kept = keep_nearest(seen, start, kept, distances, places)
    return places
