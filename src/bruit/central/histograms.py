"""Counts by group: histograms, marginals over several columns, and groups whose keys nobody listed."""

from __future__ import annotations

from itertools import product

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.central.asking import asked
from bruit.central.noise import bought_noise, draw, half_width
from bruit.central.paying import pay, require_price
from bruit.errors import InvalidArgument
from bruit.ledger import Budget
from bruit.privacy import ADD_OR_REMOVE_ONE, Covers, Interval, Neighbours, Release
from bruit.tables import Among, Column, draw_key
from bruit.tables.exact import cells
from bruit.tables.exact import histogram as exact_histogram


def histogram_sensitivity(groups: int, rows: int, neighbours: Neighbours) -> tuple[int, int]:
    """The l1 sensitivity of counts by group and how many of them one person can move.

    groups * rows for one person present or absent; twice that when one is exchanged for another.
    """
    people = 1 if neighbours is ADD_OR_REMOVE_ONE else 2
    return people * groups * rows, people * groups


def histogram(
    *columns: Column,
    budget: Budget | None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Release[NDArray[np.int64]]:
    """How many rows have each declared value, or each combination of values of several columns.

    Every cell gets its own noise, the empty ones too; the interval holds for each cell by itself.
    """
    if not columns:
        raise InvalidArgument("central.histogram needs at least one column with a declared domain")
    price = require_price(budget, columns[0].table, "central.histogram")
    _, entries = histogram_sensitivity(*columns[0].table.bounds, price.neighbours)
    loss = bought_noise(price, each=columns[0].table.bounds[1], entries=entries)
    width = half_width(loss, confidence)
    labels = labels_of(columns)
    charge, source = pay(price, loss, what="central.histogram", rng=rng)
    exact = exact_histogram(columns, key=draw_key(source))
    noisy = exact.reshape(-1) + draw(loss, exact.size, rng=source)
    low, high = (np.maximum(noisy + side, 0).astype(np.float64) for side in (-width, width))
    release = Release(
        value=noisy.reshape(exact.shape),
        guarantee=charge.guarantee,
        method=type(loss).__name__,
        labels=labels,
        interval=Interval(low, high, confidence, Covers.TABLE),
        noise=float(width),
        details=asked(columns[0].table, by=columns),
    )
    return charge.finish(release)


def labels_of(columns: tuple[Column, ...]) -> tuple[str, ...]:
    """One label a cell, in the order of the flattened counts."""
    cells(columns)
    names = [_values(column) for column in columns]
    return tuple(names[0]) if len(names) == 1 else tuple(" / ".join(cell) for cell in product(*names))


def _values(column: Column) -> list[str]:
    domain = column.domain
    if isinstance(domain, Among):
        return list(domain.labels)
    values = polars.Series(domain.decode(np.arange(domain.lowest, domain.highest + 1)))
    return values.cast(polars.String).str.strip_suffix(".0").to_list()
