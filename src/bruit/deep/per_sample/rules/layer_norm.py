"""Layer norms, y = w · (x − mean)/deviation + b over the last dimensions."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bruit.deep.per_sample.factored_gradients import PerSampleGradients, StoredGradients, wide
from bruit.deep.per_sample.layer_hooks import Call, Watch, own_names


def layer_norm(layer: nn.LayerNorm, inputs: Tensor, outputs: Tensor) -> dict[str, PerSampleGradients]:
    """Per-sample gradients: ∂w = Σ_t g_t · normalised_t, ∂b = Σ_t g_t."""
    return _gradients(layer, functional.layer_norm(wide(inputs), layer.normalized_shape, eps=layer.eps), wide(outputs))


def compiled_layer_norm(
    watch: Watch,
    path: str,
    layer: nn.LayerNorm,
    given: tuple[Any, ...],
    output: Tensor,  # noqa: ARG001
) -> Tensor:
    """The layer's output, with mean and deviation saved for its per-sample gradients."""
    call = watch.note(Call(path, layer, given[0].detach(), own_names(layer)))
    made: Tensor = _Normalised.apply(given[0], watch.anchor, layer.weight, layer.bias, call)  # type: ignore[no-untyped-call]
    return made


class _Normalised(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, anchor: Tensor, weight: Tensor, bias: Tensor, call: Call) -> Tensor:  # noqa: ARG004
        layer: Any = call.layer
        values = wide(inputs)
        ctx.over = tuple(range(-len(layer.normalized_shape), 0))
        variance, mean = torch.var_mean(values, ctx.over, correction=0, keepdim=True)
        inverse = torch.rsqrt(variance + layer.eps)
        ctx.save_for_backward(inputs, mean, inverse, weight)
        ctx.call = call
        made = (values - mean) * inverse
        made = made if weight is None else made * weight
        return (made if bias is None else made + bias).to(inputs.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None, None]:
        inputs, mean, inverse, weight = ctx.saved_tensors
        normalised, outputs = (wide(inputs) - mean) * inverse, wide(gradients[0])
        each = _gradients(ctx.call.layer, normalised, outputs)
        ctx.call.rule = lambda *_: each
        ctx.call.take_gradient(gradients[0])
        pulled = outputs if weight is None else outputs * weight
        level = pulled.mean(ctx.over, keepdim=True)
        slope = (pulled * normalised).mean(ctx.over, keepdim=True)
        return (inverse * (pulled - level - normalised * slope)).to(inputs.dtype), None, None, None, None


def _gradients(layer: nn.LayerNorm, normalised: Tensor, outputs: Tensor) -> dict[str, PerSampleGradients]:
    rows = (len(outputs), -1, *layer.normalized_shape)
    gradients: dict[str, PerSampleGradients] = {}
    if layer.weight is not None and layer.weight.requires_grad:
        gradients["weight"] = StoredGradients((outputs * normalised).reshape(rows).sum(1))
    if layer.bias is not None and layer.bias.requires_grad:
        gradients["bias"] = StoredGradients(outputs.reshape(rows).sum(1))
    return gradients
