"""Bounds for people who do not know them: a paid search over powers of two."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray

from bruit.central.asking import asked
from bruit.central.histograms import histogram_sensitivity
from bruit.central.noise import IntegerNoise, bought_noise, draw, half_width, require_confidence
from bruit.central.paying import pay, require_price
from bruit.errors import OutOfDomain
from bruit.ledger import Budget
from bruit.privacy import Exact, Release, exactly
from bruit.tables import Column, UndeclaredColumn, draw_key
from bruit.tables.magnitudes import magnitudes, reach_of


def bounds(
    column: UndeclaredColumn,
    *,
    largest: Exact,
    grid: Exact,
    budget: Budget | None,
    confidence: float = 0.99,
    rng: np.random.Generator | None = None,
) -> Release[NDArray[np.float64]]:
    """A low and a high bound, each zero or a power of two times `grid`, between which most values lie.

    Rows are counted by magnitude: 0, [1, 2), [2, 4), ... steps of the grid up to `largest`, which must be known
    beforehand, and the same below zero. Every count gets its noise; the bounds enclose the magnitudes whose noisy count
    reaches a threshold that all the empty ones stay below at the stated confidence.              [Wilson et al. 2020]

    The price is that of one histogram. Where nothing reaches the threshold all is enclosed, and `details` says so.
    """
    require_confidence(confidence)
    what, searched = "central.bounds", searched_column(column, largest, grid)
    price = require_price(budget, column.table, what)
    _, entries = histogram_sensitivity(*column.table.bounds, price.neighbours)
    loss = bought_noise(price, each=column.table.bounds[1], entries=entries)
    least = least_count(loss, 2 * reach_of(searched) + 1, confidence)
    charge, source = pay(price, loss, what=what, rng=rng)
    exact = magnitudes(searched, key=draw_key(source))
    shown = exact + draw(loss, exact.size, rng=source) >= least
    release = Release(
        value=searched.numbers.decode(enclosing(shown)),
        guarantee=charge.guarantee,
        method=f"{type(loss).__name__} by powers of two",
        labels=("low", "high"),
        details={
            "found": bool(shown.any()),
            "threshold": least,
            "confidence": confidence,
            **asked(column.table, by=(searched,)),
        },
    )
    return charge.finish(release)


def searched_column(column: UndeclaredColumn, largest: Exact, grid: Exact) -> Column:
    """The column within everything that is searched: up to the first power of two times the grid at `largest`."""
    step, most = exactly(grid, "grid"), exactly(largest, "largest")
    if step <= 0 or most < step:
        raise OutOfDomain(f"largest={largest}, grid={grid}: give a grid above zero and the largest value there may be")
    powers = max((ceil(most / step) - 1).bit_length(), 1)
    farthest = step * (2**powers - 1)
    return column.within(-farthest, farthest, grid=step)


def least_count(loss: IntegerNoise, cells: int, confidence: float) -> int:
    """The least t with P(noise < t in every one of the empty cells) >= confidence, by adding up their chances."""
    # Both sides of the noise are outside a half-width; only the upper one counts.
    return half_width(loss, 1 - min(2 * (1 - confidence) / cells, 0.5)) + 1


def enclosing(shown: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The least and the greatest number of steps of the magnitudes that are shown; all of them where none is."""
    most = len(shown) // 2
    places = np.flatnonzero(shown) - most if shown.any() else np.array([-most, most])
    low, high = int(places[0]), int(places[-1])
    near = [2 ** (abs(place) - 1) if place else 0 for place in (low, high)]
    far = [2 * step for step in near]
    if low == high == 0:
        return np.array([0, 1])
    return np.array([-far[0] if low < 0 else near[0], far[1] if high > 0 else -near[1]])
