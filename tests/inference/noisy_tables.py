"""Noisy histograms made by hand, as a curator's release would be read."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bruit.channels import IntegerNoise
from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.inference.noise_laws import AddedNoise
from bruit.inference.noisy_counts import Axis, Block, Cells


def laplace(epsilon: str) -> AddedNoise:
    return AddedNoise(IntegerNoise.laplace(Fraction(epsilon), sensitivity=1, neighbours=ADD_OR_REMOVE_ONE))


def table(counts: np.ndarray, epsilon: str = "1000") -> Cells:
    """Counts as if they had come out of noise of this epsilon; at 1000 there is none."""
    axes = tuple(
        Axis(f"column {place}", tuple(map(str, range(size))), np.arange(size, dtype=float))
        for place, size in enumerate(counts.shape)
    )
    return Cells(axes, (Block(np.asarray(counts, float), laplace(epsilon)),))
