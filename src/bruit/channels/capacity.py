"""The capacity of a channel: how many bits one use can carry."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument

_MOST_STEPS: Final = 200_000


def plogp(probability: NDArray[np.float64] | float) -> NDArray[np.float64]:
    """The term p log2 p of an entropy, 0 at p = 0."""
    p = np.asarray(probability, float)
    return np.where(p > 0, p * np.log2(np.where(p > 0, p, 1.0)), 0.0)


def blahut_arimoto(law: NDArray[np.float64], *, tolerance: float) -> tuple[float, float]:
    """A lower and an upper bound on the capacity in bits, at most `tolerance` apart.

    With r the input law and D_x the divergence of row x from the output law, sum r_x D_x <= C <= max D_x; the next r is
    proportional to r_x 2^(D_x).                                              [Blahut 1972; Arimoto 1972]
    Where the steps run out first, the bounds are wider and still true.
    """
    if not 0 < tolerance < 1:
        raise InvalidArgument(f"tolerance={tolerance} must lie between 0 and 1: the gap allowed, in bits")
    own = plogp(law).sum(axis=1)
    inputs = np.full(len(law), 1 / len(law))
    low, high = 0.0, np.inf
    for _ in range(_MOST_STEPS):
        output = inputs @ law
        divergence = own - law @ np.log2(np.where(output > 0, output, 1.0))
        low, high = max(low, float(inputs @ divergence)), min(high, float(divergence.max()))
        if high - low <= tolerance:
            break
        inputs = inputs * np.exp2(divergence - divergence.max())
        inputs /= inputs.sum()
    return low, max(low, high)
