"""Clipping factors: the weight of each sample, so that no per-sample gradient exceeds the bound."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

import torch
from torch import Tensor


class Clipping(StrEnum):
    """The rule that clips per-sample gradients to the bound: flat, per layer or automatic."""

    FLAT = "flat"
    """min(1, C/‖g‖), over all parameters together                                       [Abadi et al. 2016]"""

    PER_LAYER = "per layer"
    """min(1, C/(√L ‖g_l‖)) for each of L layers                                        [McMahan et al. 2018]"""

    AUTOMATIC = "automatic"
    """C/(‖g‖ + 0.01): every sample counts about C, and the learning rate alone is tuned       [Bu et al. 2023]"""


STABILITY = 0.01
"""What keeps automatic clipping from blowing up the smallest gradients.                        [Bu et al. 2023]"""


def factors(squares: Tensor, layers: Sequence[str], *, bound: float, how: Clipping) -> Tensor:
    """The clipping factor of each sample (column) in each parameter (row), from squared norms; NaN for a NaN norm."""
    if how is Clipping.PER_LAYER:
        names = list(dict.fromkeys(layers))
        rows = {name: [squares[row] for row, layer in enumerate(layers) if layer == name] for name in names}
        each = {name: _least(torch.stack(own).sum(0).sqrt(), bound / len(names) ** 0.5) for name, own in rows.items()}
        return torch.stack([each[layer] for layer in layers])
    norms = squares.sum(0).sqrt()
    weights = bound / (norms + STABILITY) if how is Clipping.AUTOMATIC else _least(norms, bound)
    return weights.expand_as(squares)


def _least(norms: Tensor, bound: float) -> Tensor:
    """min(1, bound/norm)."""
    return (bound / norms.clamp(min=torch.finfo(norms.dtype).tiny)).clamp(max=1)


MARGINS = {torch.float64: 2.0**-44, torch.float32: 2.0**-16, torch.float16: 2.0**-8, torch.bfloat16: 2.0**-6}
"""Relative margins for rounding by dtype; weights in bfloat16 are off by 2⁻⁹ of a gradient's bound (`rounding`)."""

TENSOR_CORES = 2.0**-8
"""The room where float32 products may be computed with ten bits on a GPU."""
