"""Group norm layers, y = w · (x − mean)/deviation + b with mean and deviation over groups of channels."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bruit.deep.per_sample.factored_gradients import PerSampleGradients, StoredGradients, wide
from bruit.deep.per_sample.layer_hooks import Call, Watch, own_names


def group_norm(layer: nn.GroupNorm, inputs: Tensor, outputs: Tensor) -> dict[str, PerSampleGradients]:
    """Per-sample gradients of each channel: ∂w = Σ_t g_t · normalised_t, ∂b = Σ_t g_t."""
    values = wide(inputs).contiguous()
    shape = (len(values), values.shape[1], values[0, 0].numel(), layer.num_groups)
    _, mean, inverse = torch.ops.aten.native_group_norm(values, None, None, *shape, layer.eps)
    return _gradients(layer, _sums(wide(outputs), values), mean, inverse)


def compiled_group_norm(
    watch: Watch,
    path: str,
    layer: nn.GroupNorm,
    given: tuple[Any, ...],
    output: Tensor,  # noqa: ARG001
) -> Tensor:
    """The layer's output as a scale and shift per channel, whose backward pass also yields per-sample gradients."""
    call = watch.note(Call(path, layer, given[0].detach(), own_names(layer)))
    made: Tensor = _ScaleAndShift.apply(given[0], watch.anchor, layer.weight, layer.bias, call)  # type: ignore[no-untyped-call]
    return made


class _ScaleAndShift(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, inputs: Tensor, anchor: Tensor, weight: Tensor, bias: Tensor, call: Call) -> Tensor:  # noqa: ARG004
        layer: Any = call.layer
        values = wide(inputs)
        mean, inverse = _moments(values, layer.num_groups, layer.eps)
        ctx.save_for_backward(inputs, mean, inverse, weight)
        ctx.call = call
        width = values.shape[1] // layer.num_groups
        scale, shift = (_each(each, weight, width) for each in (inverse, mean * inverse))
        shift = -shift if bias is None else bias - shift
        return (values * _placed(scale, values) + _placed(shift, values)).to(inputs.dtype)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None, None, None, None]:
        inputs, mean, inverse, weight = ctx.saved_tensors
        values, outputs = wide(inputs), wide(gradients[0])
        sums = _sums(outputs, values)
        each = _gradients(ctx.call.layer, sums, mean, inverse)
        ctx.call.rule = lambda *_: each
        ctx.call.take_gradient(gradients[0])
        found = _input_gradient(values, outputs, sums, (mean, inverse, weight))
        return found.to(inputs.dtype), None, None, None, None


def _moments(values: Tensor, groups: int, eps: float) -> tuple[Tensor, Tensor]:
    """The mean and the inverse deviation of each group, from those of its channels, which lie apart in memory."""
    if values.dim() == 2:
        values = values.unsqueeze(2)
    found = torch.var_mean(values, _space(values), correction=0)
    variances, means = (each.view(len(values), groups, -1) for each in found)
    between, mean = torch.var_mean(means, 2, correction=0)
    return mean, torch.rsqrt(variances.mean(2) + between + eps)


def _space(values: Tensor) -> tuple[int, ...]:
    return tuple(range(2, values.dim()))


def _sums(outputs: Tensor, values: Tensor) -> tuple[Tensor, Tensor]:
    """Σ_t g_t x_t and Σ_t g_t, for every channel of every sample."""
    if values.dim() == 2:
        return outputs * values, outputs
    return (outputs * values).sum(_space(values)), outputs.sum(_space(values))


def _gradients(
    layer: nn.Module, sums: tuple[Tensor, Tensor], mean: Tensor, inverse: Tensor
) -> dict[str, PerSampleGradients]:
    products, totals = (each.view(*mean.shape, -1) for each in sums)
    gradients: dict[str, PerSampleGradients] = {}
    if layer.weight is not None and layer.weight.requires_grad:
        gradients["weight"] = StoredGradients(
            ((products - mean.unsqueeze(2) * totals) * inverse.unsqueeze(2)).flatten(1)
        )
    if layer.bias is not None and layer.bias.requires_grad:
        gradients["bias"] = StoredGradients(sums[1])
    return gradients


def _input_gradient(
    values: Tensor, outputs: Tensor, sums: tuple[Tensor, Tensor], kept: tuple[Tensor, Tensor, Tensor]
) -> Tensor:
    """∂x = g·w/deviation + x·slope + level, with slope and level constant over a group."""
    mean, inverse, weight = kept
    count = values[0].numel() // mean.shape[1]
    products, totals = ((each * weight if weight is not None else each).view(*mean.shape, -1).sum(2) for each in sums)
    slope = (totals * mean - products) * inverse**3 / count
    level = -slope * mean - totals * inverse / count
    width = values.shape[1] // mean.shape[1]
    spread = [_placed(_each(each, None, width), values) for each in (slope, level)]
    return outputs * _placed(_each(inverse, weight, width), values) + values * spread[0] + spread[1]


def _each(groups: Tensor, weight: Tensor | None, width: int) -> Tensor:
    """One number for each channel: that of its group times its weight."""
    spread = groups.unsqueeze(2).expand(*groups.shape, width)
    return (spread if weight is None else spread * weight.view(1, -1, width)).reshape(len(groups), -1)


def _placed(channels: Tensor, values: Tensor) -> Tensor:
    return channels.view(*channels.shape, *[1] * (values.dim() - 2))
