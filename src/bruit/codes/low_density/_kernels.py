"""Sum-product message passing for LDPC codes, flooding or layered, one word at a time."""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Index = NDArray[np.int64]

SURE = 1.0 - 1e-15  # a product of tanh is kept below one: the answer stays finite
UNDECIDED = 1e-9  # what rounding may leave of a sum that cancels


@kernel
def is_satisfied(total: NDArray[np.float64], row_start: Index, column: Index) -> bool:
    """Whether every bit is decided (no log-likelihood ratio of `total` is zero) and the bits satisfy every check."""
    for v in range(total.size):
        if abs(total[v]) <= UNDECIDED:
            return False
    for r in range(row_start.size - 1):
        odd = False
        for e in range(row_start[r], row_start[r + 1]):
            odd ^= total[column[e]] < 0
        if odd:
            return False
    return True


@kernel
def _check_rule(inputs: NDArray[np.float64], ahead: NDArray[np.float64], size: int, out: NDArray[np.float64]) -> None:
    """out[i] = 2 artanh Π_{j≠i} tanh(inputs[j] / 2), by products from both sides."""
    product = 1.0
    for i in range(size):
        x = np.exp(-abs(inputs[i]))
        inputs[i] = (1.0 - x) / (1.0 + x) if inputs[i] >= 0 else (x - 1.0) / (1.0 + x)
        ahead[i] = product
        product *= inputs[i]
    product = 1.0
    for i in range(size - 1, -1, -1):
        p = max(-SURE, min(SURE, ahead[i] * product))
        out[i] = np.log((1.0 + p) / (1.0 - p))
        product *= inputs[i]


@kernel
def sum_product(
    likelihoods: NDArray[np.float64],
    row_start: Index,
    column: Index,
    iterations: int,
    layered: int,
    total: NDArray[np.float64],
) -> int:
    """Decodes one word by sum-product; `total` becomes the posterior log-likelihood ratios (flooding or layered).

    Returns the number of iterations; stops when every check is satisfied.
    """
    rows = row_start.size - 1
    widest = 0
    for r in range(rows):
        widest = max(widest, row_start[r + 1] - row_start[r])
    message = np.zeros(column.size)
    inputs = np.empty(widest)
    ahead = np.empty(widest)
    out = np.empty(widest)
    following = likelihoods.copy()
    total[:] = likelihoods
    for iteration in range(iterations):
        if is_satisfied(total, row_start, column):
            return iteration
        if not layered:
            following[:] = likelihoods
        for r in range(rows):
            first = row_start[r]
            size = row_start[r + 1] - first
            for i in range(size):
                inputs[i] = total[column[first + i]] - message[first + i]
            if layered:
                for i in range(size):
                    total[column[first + i]] = inputs[i]
            _check_rule(inputs, ahead, size, out)
            for i in range(size):
                message[first + i] = out[i]
                if layered:
                    total[column[first + i]] += out[i]
                else:
                    following[column[first + i]] += out[i]
        if not layered:
            total[:] = following
    return iterations
