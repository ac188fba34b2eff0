"""Kernel that sums the integer gradient of logistic regression over rows of numbers and categories."""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Cells = NDArray[np.int32]


@kernel
def gradient_sums(
    numbers: Floats, places: Ints, cells: Cells, weights: Floats, label: Floats, dither: Floats, grain: float, out: Ints
) -> None:
    """Adds each row's residual times its columns, in steps of 1/grain, to `out`.

    numbers (rows, p)   columns in [-1, 1], whose weights stand at `places` (p,)
    cells (rows, c)     where the weight of the row's category in each column stands; weight 0 is the intercept

    floor(grain * move + dither) with a dither in [0, 1) is unbiased; whatever it is, an entry moves by at most grain. A
    row's score is added column by column, so that it does not depend on other rows.
    """
    for row in range(len(cells)):
        score = weights[0]
        for column in range(len(places)):
            score += weights[places[column]] * numbers[row, column]
        for column in range(cells.shape[1]):
            score += weights[cells[row, column]]
        residual = grain * (label[row] - 1.0 / (1.0 + np.exp(-score)))
        whole = np.int64(min(max(np.floor(residual + dither[row]), -grain), grain))
        out[0] += whole
        for column in range(cells.shape[1]):
            out[cells[row, column]] += whole
        for column in range(len(places)):
            part = np.floor(residual * numbers[row, column] + dither[row])
            out[places[column]] += np.int64(min(max(part, -grain), grain))
