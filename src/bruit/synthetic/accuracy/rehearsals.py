"""Intervals for unmeasured counts, by synthesising the synthetic table again and scaling its errors by the audit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from bruit.synthetic.accuracy.estimates import Weights
from bruit.synthetic.accuracy.misfit import Misfit, draw_unmeasured, is_large, mean_misfit
from bruit.synthetic.fitting import Fit
from bruit.synthetic.marginals import Counts

REHEARSALS: Final = 2
QUESTIONS: Final = 1500
REHEARSED: Final = 100
"""Marginals of each order whose misfit a rehearsal takes the mean of."""
BINS: Final = 10
FEWEST: Final = 80
"""Errors a bin needs to have a quantile of its own; smaller ones are joined with their neighbours."""

APART: Final = 0.5
"""How far the scale of small or of large counts is expected to be from that of all."""

HEAVIER: Final = 1.25
"""Rehearsed errors are widened by this factor, since true errors have heavier tails.

Chosen on UCI Adult; docs/synthetic_studies.md has what it gives there and on tables that set nothing.
"""


@dataclass(frozen=True)
class Spread:
    """Sorted errors of counts in rehearsals, by order and size of count, and the scales that the audit says.

    A scale is that of the small counts of an order, or of its large ones.
    """

    errors: Mapping[tuple[int, int], NDArray[np.float64]]
    scale: Mapping[int, tuple[float, float]]

    def half_width(self, order: int, value: float, people: float, confidence: float) -> float:
        """The half-width of the interval for a count of this order and size."""
        order = min(order, max(found for found, _ in self.errors))
        errors = self.errors[order, size_bin(min(value, people - value))]
        scale = self.scale.get(order, (1.0, 1.0))[int(is_large(value, people))]
        return float(np.quantile(errors, confidence)) * scale * HEAVIER + 0.5


def size_bin(count: Any) -> Any:
    """The bin of a count by powers of four: below 4, 16, 64, ... rows."""
    return np.clip(np.floor(np.log2(np.maximum(count, 1)) / 2), 0, BINS - 1).astype(np.int64)


def rehearse(
    fit: Fit,
    sizes: Counts,
    audited: Mapping[int, Misfit],
    again: Callable[[NDArray[np.uint8], int], Fit],
    *,
    state: int,
) -> Spread:
    """Synthesises the synthetic table again and compares the two; that table is public, so it costs no privacy.

    The synthetic table has no dependence that the marginals do not show, the true one may: errors of rehearsals are
    multiplied by the audited misfit over theirs, for small counts and for large ones.
    """
    rng = np.random.default_rng(state)
    fits = [again(fit.rows, state + 1 + turn) for turn in range(REHEARSALS)]
    errors, scale = {}, {}
    for order in range(1, min(3, len(sizes)) + 1):
        found = [_errors(fit.rows, each, order, sizes, rng) for each in fits]
        for b, group in enumerate(_binned(*(np.concatenate(part) for part in zip(*found, strict=True)))):
            errors[order, b] = group
        if order in audited:
            scale[order] = _scale(audited[order], fit, fits, order, sizes, rng)
    return Spread(errors, scale)


def _scale(
    audited: Misfit, fit: Fit, fits: list[Fit], order: int, sizes: Counts, rng: np.random.Generator
) -> tuple[float, float]:
    """The audited misfit over that of rehearsals, in small and in large counts.

    Either is drawn to the scale of both together, as far as the noise of the audit asks: least squares where the two
    are expected to be `APART`.
    """
    means = []
    for each in fits:
        partitions = draw_unmeasured(order, sizes, [one.clique for one in each.measured], REHEARSED, rng)
        if partitions:
            means.append(mean_misfit(fit.rows, each, partitions, sizes))
    if not means:
        return 1.0, 1.0
    small, large = (float(np.mean([getattr(each, part) for each in means])) for part in ("small", "large"))
    both = max(audited.small + audited.large, 0.0) / max(small + large, 1.0)
    precision = (audited.deviation / APART) ** 2

    def drawn(found: float, rehearsed: float) -> float:
        return max((found * rehearsed + both * precision) / (rehearsed**2 + precision), 0.0)

    return drawn(audited.small, small), drawn(audited.large, large)


def _errors(
    truth: NDArray[np.uint8], fit: Fit, order: int, sizes: Counts, rng: np.random.Generator
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Sizes and absolute errors of random counts of an order, those that the fit measured left out where others are."""
    held = [set(one.clique) for one in fit.measured]
    sizes_, errors, open_ = [], [], []
    weight = fit.people / max(len(fit.rows), 1)
    for _ in range(QUESTIONS):
        boxes = draw_box(truth, sizes, order, rng)
        exact, found = count_rows(truth, boxes), weight * count_rows(fit.rows, boxes)
        sizes_.append(min(found, fit.people - found))
        errors.append(abs(exact - found))
        open_.append(not any(set(boxes) <= each for each in held))
    keep = np.array(open_) if any(open_) else np.ones(len(open_), bool)
    return np.array(sizes_)[keep], np.array(errors)[keep]


def _binned(size: NDArray[np.float64], error: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """The errors near each size, sorted; a bin of few takes in its neighbours."""
    where, groups = size_bin(size), []
    for b in range(BINS):
        reach = 0
        while (np.abs(where - b) <= reach).sum() < min(FEWEST, len(where)):
            reach += 1
        groups.append(np.sort(error[np.abs(where - b) <= reach]))
    return groups


def draw_box(rows: NDArray[np.uint8], sizes: Counts, order: int, rng: np.random.Generator) -> Weights:
    """A random query: for some columns, the cell of a random row or a range around it."""
    which = np.sort(rng.choice(len(sizes), order, replace=False))
    row = rows[rng.integers(len(rows)), which].astype(np.int64)
    boxes = {}
    for i, cell in zip(which.tolist(), row.tolist(), strict=True):
        reach = max(2, int(sizes[i]) // 2)
        below, above = (rng.integers(0, reach, 2) * rng.integers(0, 2)).tolist()
        place = np.arange(sizes[i])
        boxes[i] = ((place >= cell - below) & (place <= cell + above)).astype(np.float64)
    return boxes


def count_rows(rows: NDArray[np.uint8], weights: Weights) -> float:
    """The sum over rows of the product of their cell weights: a count where all weights are 0 or 1."""
    product = np.ones(len(rows))
    for i, weight in weights.items():
        product *= weight[rows[:, i]]
    return float(product.sum())
