"""Coordinate descent for a weighted non-negative LASSO on a sparse design of zeros and ones."""

from typing import Any

from bruit._jit import kernel


@kernel
def _level(weights: Any, residual: Any, background: Any, total: float) -> None:
    """Moves the background, the same for all rows and never below zero, to where it fits best."""
    pull = 0.0
    for row in range(residual.size):
        pull += weights[row] * residual[row]
    step = max(-background[0], pull / total)
    background[0] += step
    for row in range(residual.size):
        residual[row] -= step


@kernel
def _pass(
    starts: Any, rows: Any, weights: Any, norms: Any, penalties: Any, shares: Any, residual: Any, every: bool
) -> float:
    """One pass over the columns, over those in use only unless `every`; the largest step, in standard deviations.

    share <- max(0, share + (sum of w r over the ones of the column - penalty) / norm)
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
def descend(
    starts: Any,
    rows: Any,
    weights: Any,
    norms: Any,
    penalties: Any,
    shares: Any,
    residual: Any,
    background: Any,
    tolerance: float,
    passes: int,
) -> int:
    """Updates shares, residual and background in place until no step exceeds the tolerance; returns the passes used.

    starts (M + 1,) int64 and rows (entries,) int32 hold the ones of each column; weights and residual (n,), norms,
    penalties and shares (M,), background (1,) are float64. Passes over the columns in use come between passes over all.
    """
    total = weights.sum()
    done = 0
    while done < passes:
        _level(weights, residual, background, total)
        step = _pass(starts, rows, weights, norms, penalties, shares, residual, True)
        done += 1
        if step <= tolerance:
            break
        while done < passes and step > tolerance:
            _level(weights, residual, background, total)
            step = _pass(starts, rows, weights, norms, penalties, shares, residual, False)
            done += 1
    return done


@kernel
def correlate(starts: Any, rows: Any, values: Any, out: Any) -> None:
    """Sums values (n,) float64 over the ones of each column of the design, into out (M,) float64."""
    for column in range(out.size):
        total = 0.0
        for place in range(starts[column], starts[column + 1]):
            total += values[rows[place]]
        out[column] = total
