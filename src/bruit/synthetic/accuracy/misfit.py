"""The paid audit of a synthetic table: a noisy measure of how far unmeasured marginals are off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bruit.synthetic.curator import Curator
from bruit.synthetic.fitting import Fit
from bruit.synthetic.marginals import Clique, Counts, Partition, count_cells, draw_columns, draw_partition

MOST_DRAWS: Final = 20
"""Draws for each marginal wanted: where nearly all are measured, fewer are found."""


def measure_misfit(curator: Curator, fit: Fit, *, state: int) -> dict[int, float]:
    """For each order, the noisy mean l1 error of unmeasured marginals, in people; none where all were measured."""
    rng, cliques, sizes = np.random.default_rng(state), [one.clique for one in fit.measured], curator.sizes
    found = {}
    for order in curator.plan.question.orders:
        partitions = draw_unmeasured(order, sizes, cliques, curator.plan.audited, rng)
        if partitions:
            guesses = expected_boxes(fit.rows, partitions, sizes, fit.people)
            found[order] = curator.misfit(partitions, guesses) / len(partitions)
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


def mean_misfit(truth: NDArray[np.uint8], fit: Fit, partitions: Sequence[Partition], sizes: Counts) -> float:
    """The mean l1 error of a fit against a known table: the audit's figure in a rehearsal, without noise."""
    exact = expected_boxes(truth, partitions, sizes, float(len(truth)))
    guesses = expected_boxes(fit.rows, partitions, sizes, fit.people)
    return float(np.mean([np.abs(a - b).sum() for a, b in zip(exact, guesses, strict=True)]))
