"""Per-sample gradients of any parameter, by differentiating the whole model once for every sample."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from bruit.deep.shares import Kept

Loss = Callable[[Any, Any], Tensor]
"""From the outputs of the model and the targets to one loss for each sample."""


def whole_model_shares(
    model: nn.Module, names: Sequence[str], inputs: tuple[Tensor, ...], targets: Tensor, loss: Loss
) -> dict[str, Kept]:
    """The gradient of each named parameter for every sample: slower than a rule, and right for whatever is in it."""
    own = dict(model.named_parameters())
    chosen = {name: own[name].detach() for name in names}

    def one(parameters: dict[str, Tensor], target: Tensor, *sample: Tensor) -> Tensor:
        outputs = functional_call(model, parameters, tuple(part.unsqueeze(0) for part in sample))
        return loss(outputs, target.unsqueeze(0)).sum()

    places = (None, 0, *(0 for _ in inputs))
    with torch.enable_grad():
        gradients = vmap(grad(one), in_dims=places, randomness="different")(chosen, targets, *inputs)
    return {name: Kept(values.detach()) for name, values in gradients.items()}
