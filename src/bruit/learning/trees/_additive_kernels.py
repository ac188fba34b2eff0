"""Kernels that sum integer residuals over the bins of every column, for one step of gradient descent."""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Cells = NDArray[np.int32]


@kernel
def residual_sums(
    cells: Cells, weights: Floats, target: Floats, dither: Floats, grain: float, logistic: bool, out: Ints
) -> None:
    """Adds each row's residual, clipped to one and in steps of 1/grain, to the row's bin in each column.

    floor(grain * residual + dither) with a dither in [0, 1) is unbiased; whatever it is, a sum moves by at most grain.
    """
    columns = cells.shape[1]
    for row in range(len(cells)):
        score = 0.0
        for column in range(columns):
            score += weights[cells[row, column], 0]
        guess = 1.0 / (1.0 + np.exp(-score)) if logistic else score
        steps = np.floor(grain * (target[row] - guess) + dither[row])
        move = np.int64(min(max(steps, -grain), grain))
        for column in range(columns):
            out[cells[row, column], 0] += move


@kernel
def class_residual_sums(cells: Cells, weights: Floats, labels: Ints, dither: Floats, grain: float, out: Ints) -> None:
    """Adds each row's residual of every class, clipped so that squares sum to at most 2 grain^2, to its bins."""
    columns, classes = cells.shape[1], weights.shape[1]
    scores, moves = np.empty(classes), np.empty(classes, np.int64)
    most = 2 * np.int64(grain) * np.int64(grain)
    for row in range(len(cells)):
        scores[:] = 0.0
        for column in range(columns):
            for each in range(classes):
                scores[each] += weights[cells[row, column], each]
        shares = np.exp(scores - scores.max())
        shares /= shares.sum()
        squares = np.int64(0)
        for each in range(classes):
            residual = (1.0 if each == labels[row] else 0.0) - shares[each]
            steps = np.floor(grain * residual + dither[row])
            moves[each] = np.int64(min(max(steps, -grain), grain))
            squares += moves[each] * moves[each]
        while squares > most:  # rounding went over the bound: take a step back from the largest
            largest = np.argmax(np.abs(moves))
            squares -= moves[largest] * moves[largest]
            moves[largest] -= np.sign(moves[largest])
            squares += moves[largest] * moves[largest]
        for column in range(columns):
            for each in range(classes):
                out[cells[row, column], each] += moves[each]
