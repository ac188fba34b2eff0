"""The paid audit of a synthetic table: noisy measures of how far unmeasured marginals are off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bruit.synthetic.curator import Curator
from bruit.synthetic.fitting import Fit
from bruit.synthetic.marginals import Clique, Counts, Partition, count_cells, draw_columns, draw_partition

MOST_DRAWS: Final = 20
"""Draws for each marginal wanted: where nearly all are measured, fewer are found."""

LARGE: Final = 32
"""A count of one row in so many is large. What a fit misses grows with a count, what noise does to it does not."""


@dataclass(frozen=True)
class Misfit:
    """The noisy mean l1 error of unmeasured marginals in their small and in their large boxes, in people.

    `deviation` is that of the noise of either.
    """

    small: float
    large: float
    deviation: float


def is_large(count: float | NDArray[np.int64], people: float) -> NDArray[np.bool_]:
    """Whether a count is of at least one row in `LARGE`, and so is its complement."""
    return np.asarray(np.minimum(count, people - count) * LARGE >= people)


def measure_misfit(curator: Curator, fit: Fit, *, state: int) -> dict[int, Misfit]:
    """For each order, the misfit of unmeasured marginals; none where all were measured."""
    rng, cliques, sizes = np.random.default_rng(state), [one.clique for one in fit.measured], curator.sizes
    found = {}
    for order in curator.plan.question.orders:
        partitions = draw_unmeasured(order, sizes, cliques, curator.plan.audited, rng)
        if partitions:
            guesses = expected_boxes(fit.rows, partitions, sizes, fit.people)
            large = [is_large(guess, fit.people).astype(np.int64) for guess in guesses]
            sums, many = curator.misfit(partitions, guesses, large), len(partitions)
            found[order] = Misfit(sums[0] / many, sums[1] / many, float(curator.plan.audit) ** 0.5 / many)
    return found


def draw_unmeasured(
    order: int, sizes: Counts, cliques: Sequence[Clique], many: int, rng: np.random.Generator
) -> list[Partition]:
    """Draws at most `many` marginals of an order that no measured one contains, each cut into random ranges."""
    same, larger = set(cliques), [set(clique) for clique in cliques if len(clique) > order]
    found: list[Partition] = []
    for _ in range(MOST_DRAWS * many):
        clique = draw_columns(len(sizes), order, rng)
        if clique not in same and not any(set(clique) <= each for each in larger):
            found.append(draw_partition(clique, sizes, rng))
        if len(found) == many:
            break
    return found


def expected_boxes(
    rows: NDArray[np.uint8], partitions: Sequence[Partition], sizes: Counts, people: float
) -> list[Counts]:
    """The counts that a table predicts for the boxes of each partition, in whole people."""
    columns, weight = np.ascontiguousarray(rows.T), people / max(len(rows), 1)
    folded = (each.fold(weight * count_cells(columns, each.clique, sizes), sizes) for each in partitions)
    return [np.rint(boxes).astype(np.int64) for boxes in folded]


def mean_misfit(truth: NDArray[np.uint8], fit: Fit, partitions: Sequence[Partition], sizes: Counts) -> Misfit:
    """The misfit of a fit against a known table: the audit's figures in a rehearsal, without noise."""
    exact = expected_boxes(truth, partitions, sizes, float(len(truth)))
    guesses = expected_boxes(fit.rows, partitions, sizes, fit.people)
    small = large = 0
    for found, guess in zip(exact, guesses, strict=True):
        off, part = np.abs(found - guess), is_large(guess, fit.people)
        small, large = small + int(off[~part].sum()), large + int(off[part].sum())
    return Misfit(small / len(partitions), large / len(partitions), 0.0)
