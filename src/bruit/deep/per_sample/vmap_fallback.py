"""Per-sample gradients of any parameter by `vmap` over the whole model, for layers without a rule."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from bruit.deep.checks.model_state import ModelState
from bruit.deep.checks.sample_independence import equal_draws
from bruit.deep.checks.value_reads import OfOne, Strayed
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
    *,
    loops: bool = True,
) -> dict[str, StoredGradients]:
    """The per-sample gradients of the named parameters through the whole model: slow, but right for any layer.

    `state` holds parameters and buffers to take in the place of the model's own, which stay what they were. What vmap
    does not take is computed in a loop, or is an error where it may not be.
    """
    own = dict(model.named_parameters()) if state is None else state
    chosen = {name: own[name].detach() for name in names}
    others = {} if state is None else {name: value for name, value in state.items() if name not in chosen}
    one = _loss_of_one(model, loss, others)
    before = ModelState(model, weights=True) if state is None else None
    with torch.enable_grad():
        try:
            gradients = _all_at_once(one, chosen, (targets, *inputs))
        except (RuntimeError, Strayed) as error:  # as recurrent layers, or where the whole batch would be seen
            if not loops:
                raise RuntimeError("vmap does not take the samples") from error
            gradients = _one_by_one(model, one, chosen, (targets, *inputs))
        finally:
            if before is not None:
                before.restore()
    return {name: StoredGradients(values.detach()) for name, values in gradients.items()}


def takes_vmap(model: nn.Module, names: Sequence[str], inputs: tuple[Tensor, ...], targets: Tensor, loss: Loss) -> bool:
    """Whether gradients are computed under vmap, where no sample can leave anything for another, on such a batch."""
    own, before = dict(model.named_parameters()), ModelState(model, weights=True)
    try:
        with equal_draws(targets.device), torch.enable_grad():
            _all_at_once(
                _loss_of_one(model, loss, {}), {name: own[name].detach() for name in names}, (targets, *inputs)
            )
    except (RuntimeError, Strayed):
        return False
    finally:
        before.restore()
    return True


def _loss_of_one(model: nn.Module, loss: Loss, others: Mapping[str, Tensor]) -> Callable[..., Tensor]:
    """The loss of one sample, as a function of parameters, target and inputs."""

    def one(parameters: dict[str, Tensor], target: Tensor, *sample: Tensor) -> Tensor:
        outputs = functional_call(model, {**others, **parameters}, tuple(part.unsqueeze(0) for part in sample))
        return loss(outputs, target.unsqueeze(0)).sum()

    return one


def _all_at_once(
    one: Callable[..., Tensor], parameters: Mapping[str, Tensor], batch: tuple[Tensor, ...]
) -> dict[str, Tensor]:
    """The gradients of all samples by vmap, in which none sees another.

    What Python reads it would read of all, and so would a rule for batches of a user's own.
    """
    with OfOne() as seen, warnings.catch_warnings():
        warnings.filterwarnings("ignore", "There is a performance drop")  # torch's loop in the place of a rule
        found = vmap(grad(one), in_dims=(None, *(0 for _ in batch)), randomness="different")(parameters, *batch)
    if seen.any:  # where the model went on
        raise Strayed
    return dict(found)


def _one_by_one(
    model: nn.Module, one: Callable[..., Tensor], parameters: Mapping[str, Tensor], batch: tuple[Tensor, ...]
) -> dict[str, Tensor]:
    """The gradients of one sample after the other; those of a GPU's recurrent layers are torch.autograd's alone.

    What a sample writes into the model is gone before the next one comes. Each is copied, since the memory of a view is
    that of the whole batch. A sample may leave a parameter unused: its gradient is zero, and no error tells of it.
    [docs/rules.md 2]
    """
    before, each = ModelState(model, weights=True), []
    for sample in zip(*batch, strict=True):
        moved = {name: value.detach().clone().requires_grad_() for name, value in parameters.items()}
        try:
            each.append(_gradients(one(moved, *(part.clone() for part in sample)), list(moved.values())))
        finally:
            before.restore()
    return {name: torch.stack(found) for name, found in zip(parameters, zip(*each, strict=True), strict=True)}


def _gradients(loss: Tensor, parameters: list[Tensor]) -> list[Tensor]:
    if not loss.requires_grad:
        return [torch.zeros_like(parameter) for parameter in parameters]
    found = torch.autograd.grad(loss, parameters, allow_unused=True, materialize_grads=True)
    return list(found)
