"""Kernel that routes rows through a grown tree to their leaves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Ints = NDArray[np.int64]


@kernel
def leaves_of(
    codes: NDArray[np.unsignedinteger[Any]],
    column: Ints,
    last: Ints,
    left: Ints,
    right: Ints,
    mask: Ints,
    masks: NDArray[np.bool_],
) -> Ints:
    """The leaf index of each row; the node arrays are those of a `GrownTree`."""
    found = np.empty(len(codes), np.int64)
    for row in range(len(codes)):
        node = 0
        while left[node] >= 0:
            code = codes[row, column[node]]
            goes_left = masks[mask[node], code] if mask[node] >= 0 else code <= last[node]
            node = left[node] if goes_left else right[node]
        found[row] = node
    return found
