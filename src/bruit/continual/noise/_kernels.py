"""Kernel that advances the correlated noise of many cells by one period."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Floats = NDArray[np.float64]
Whole = NDArray[np.int64]

LARGEST = 2**50
"""Below it products and sums of floats are within the errors that Lemma 2 allows (docs/continual.md)."""


@kernel
def step_narrow(
    weights: Floats, poles: Floats, spare: int, buffers: Whole, fresh: Whole, kept: Whole, noise: Whole
) -> bool:
    """Advances the noise buffers of every cell by one period, in 64 bits; False where a number does not fit.

    kept[j] = rint(p_j v_j) + N 2^spare and noise = N + rint(Σ_j a_j v_j 2^-spare), cell by cell.
    `buffers` and `kept` are (poles, cells), `fresh` and `noise` (cells,), all int64 and contiguous by rows. False where
    a number is too wide for floats, or for a sum in 64 bits: what was written is then worth nothing. The sum runs
    over the poles in their order, with no fused operation, as NumPy's does.
    """
    scale, widest = np.int64(1) << spare, np.int64(1) << (62 - spare)
    for cell in range(fresh.shape[0]):
        if fresh[cell] >= widest or fresh[cell] <= -widest:
            return False
        gone = 0.0
        for j in range(poles.shape[0]):  # gone = Σ_{i<j} a_i v_i
            value = buffers[j, cell]
            if value >= LARGEST or value <= -LARGEST:
                return False
            gone += weights[j] * np.float64(value)
            kept[j, cell] = np.int64(np.rint(poles[j] * np.float64(value))) + fresh[cell] * scale
        noise[cell] = fresh[cell] + np.int64(np.rint(gone / scale))
    return True
