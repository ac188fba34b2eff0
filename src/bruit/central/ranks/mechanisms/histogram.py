"""The histogram method for quantiles: the first of equally spaced edges below which enough records lie.

Edges t_i = a + i (b - a) / steps. AboveThreshold over "records below t_i" against p n, with epsilon shared equally; at
the first edge t_i found above, t_(i-1) is returned, the left edge of the step in which p n is crossed; none above means
b.                                                                                                   [docs/spec.md S3.2]
Counting is done once for all edges: O(n + steps) for each quantile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from bruit.central.ranks.mechanisms.exponential import rank_sensitivity
from bruit.central.ranks.records import Person
from bruit.channels import require_scale
from bruit.core.arguments import whole
from bruit.randomness import discrete_laplace

STEPS = 1000


@dataclass(frozen=True)
class ThresholdPlan:
    """The public parameters of the histogram method: the edges as cells, and a noise scale for each quantile."""

    probabilities: tuple[Fraction, ...]
    edges: NDArray[np.int64]
    scales: tuple[Fraction, ...]


def threshold_plan(
    probabilities: Sequence[Fraction], cells: int, epsilon: Fraction, person: Person, *, steps: int = STEPS
) -> ThresholdPlan:
    """A `ThresholdPlan`; a grid with fewer cells than `steps` has each cell as an edge."""
    number = min(whole(steps, "steps"), cells - 1)
    edges = np.array([i * (cells - 1) // number for i in range(number + 1)], np.int64)
    each = epsilon / len(probabilities)
    scales = tuple(rank_sensitivity(p, person) / each for p in probabilities)
    require_scale(4 * max(scales))
    return ThresholdPlan(tuple(probabilities), edges, scales)


def draw_edges(cells: NDArray[np.int64], plan: ThresholdPlan, rng: np.random.Generator) -> NDArray[np.int64]:
    """One draw of all quantiles as cells, from the records' sorted cells.

    den * (records below t_i) - num * n, of the sensitivity of `rank_sensitivity`, is compared with zero; the noise is
    twice its scale on the threshold and four times on each edge, fresh for each quantile.
    """
    counts = np.searchsorted(cells, plan.edges[1:])
    found = [
        _first_above(p.denominator * counts - p.numerator * len(cells), scale, rng)
        for p, scale in zip(plan.probabilities, plan.scales, strict=True)
    ]
    return np.sort(plan.edges[found])


def _first_above(queries: NDArray[np.int64], scale: Fraction, rng: np.random.Generator) -> int:
    """The place, from zero, of the first query above a noisy zero, or their number where none is."""
    threshold = discrete_laplace(2 * scale, 1, rng=rng)
    above = queries + discrete_laplace(4 * scale, len(queries), rng=rng) >= threshold
    return int(above.argmax()) if above.any() else len(queries)
