"""Coordinate descent for a weighted non-negative LASSO on a sparse design of zeros and ones."""

from typing import Any

from bruit._jit import kernel


@kernel
def descend(
    starts: Any, rows: Any, weights: Any, norms: Any, penalties: Any, shares: Any, residual: Any, every: bool
) -> float:
    """One pass over the columns, over those in use only unless `every`; returns the largest step, in deviations.

    starts (M + 1,) int64 and rows (entries,) int32 hold the ones of each column; weights (n,), norms (M,), penalties
    (M,) float64. shares (M,) and residual (n,) float64 are changed in place:
    share <- max(0, (sum of w r over the ones + norm share - penalty) / norm).
    """
    largest = 0.0
    for column in range(shares.size):
        old = shares[column]
        if norms[column] <= 0.0 or (old == 0.0 and not every):
            continue
        pull = 0.0
        for place in range(starts[column], starts[column + 1]):
            pull += weights[rows[place]] * residual[rows[place]]
        new = max(0.0, old + (pull - penalties[column]) / norms[column])
        step = new - old
        if step != 0.0:
            shares[column] = new
            for place in range(starts[column], starts[column + 1]):
                residual[rows[place]] -= step
            largest = max(largest, abs(step) * norms[column] ** 0.5)
    return largest


@kernel
def correlate(starts: Any, rows: Any, values: Any, out: Any) -> None:
    """The sum of values (n,) float64 over the ones of each column, into out (M,) float64."""
    for column in range(out.size):
        total = 0.0
        for place in range(starts[column], starts[column + 1]):
            total += values[rows[place]]
        out[column] = total
