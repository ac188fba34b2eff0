"""The default loss: cross entropy for each sample."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from bruit.deep.per_sample.factored_gradients import wide


def cross_entropy(outputs: Tensor, targets: Tensor) -> Tensor:
    """Per-sample cross entropy, −log p(target); a label that is no class has loss zero.

    An error would tell that such a record is there.                                       [docs/rules.md 2]
    """
    known = (targets >= 0) & (targets < outputs.shape[1])
    losses = functional.cross_entropy(wide(outputs), torch.where(known, targets, 0), reduction="none")
    return torch.where(known, losses, 0)
