"""Books and data of the tests."""

import torch
from torch import Tensor

import bruit


def ledger(epsilon: float = 100.0, neighbours: bruit.privacy.Neighbours = bruit.ADD_OR_REMOVE_ONE) -> bruit.Ledger:
    return bruit.Ledger("digits", epsilon=epsilon, delta=1e-3, neighbours=neighbours, person=bruit.EACH_ROW)


def halves(count: int = 256, *, seed: int = 5) -> tuple[Tensor, Tensor]:
    """Points of four coordinates, labelled by the sign of the first."""
    inputs = torch.randn(count, 4, generator=torch.Generator().manual_seed(seed))
    return inputs, (inputs[:, 0] > 0).long()
