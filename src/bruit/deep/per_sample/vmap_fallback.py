"""Per-sample gradients of any parameter by `vmap` over the whole model, for layers without a rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from bruit.deep.checks.model_state import ModelState
from bruit.deep.per_sample.factored_gradients import StoredGradients

Loss = Callable[[Any, Any], Tensor]
"""From the outputs of the model and the targets to one loss for each sample."""


def whole_model_gradients(
    model: nn.Module,
    names: Sequence[str],
    inputs: tuple[Tensor, ...],
    targets: Tensor,
    loss: Loss,
    state: Mapping[str, Tensor] | None = None,
) -> dict[str, StoredGradients]:
    """The per-sample gradients of the named parameters through the whole model: slow, but right for any layer.

    `state` holds parameters and buffers to take in the place of the model's own.
    """
    own = dict(model.named_parameters()) if state is None else state
    chosen = {name: own[name].detach() for name in names}
    others = {} if state is None else {name: value for name, value in state.items() if name not in chosen}

    def one(parameters: dict[str, Tensor], target: Tensor, *sample: Tensor) -> Tensor:
        outputs = functional_call(model, {**others, **parameters}, tuple(part.unsqueeze(0) for part in sample))
        return loss(outputs, target.unsqueeze(0)).sum()

    places = (None, 0, *(0 for _ in inputs))
    with torch.enable_grad():
        try:
            gradients = vmap(grad(one), in_dims=places, randomness="different")(chosen, targets, *inputs)
        except RuntimeError:  # an operation that vmap cannot take, as in recurrent layers
            gradients = _one_by_one(model, one, chosen, (targets, *inputs))
    return {name: StoredGradients(values.detach()) for name, values in gradients.items()}


def _one_by_one(
    model: nn.Module, one: Callable[..., Tensor], parameters: Mapping[str, Tensor], batch: tuple[Tensor, ...]
) -> dict[str, Tensor]:
    """The gradients of one sample after the other; those of a GPU's recurrent layers are torch.autograd's alone.

    What a sample writes into the model is gone before the next one comes. A sample may leave a parameter unused: its
    gradient is zero, and no error tells of it.   [docs/rules.md 2]
    """
    before, each = ModelState(model), []
    for sample in zip(*batch, strict=True):
        moved = {name: value.detach().clone().requires_grad_() for name, value in parameters.items()}
        try:
            each.append(_gradients(one(moved, *sample), list(moved.values())))
        finally:
            before.restore()
    return {name: torch.stack(found) for name, found in zip(parameters, zip(*each, strict=True), strict=True)}


def _gradients(loss: Tensor, parameters: list[Tensor]) -> list[Tensor]:
    if not loss.requires_grad:
        return [torch.zeros_like(parameter) for parameter in parameters]
    found = torch.autograd.grad(loss, parameters, allow_unused=True, materialize_grads=True)
    return list(found)
