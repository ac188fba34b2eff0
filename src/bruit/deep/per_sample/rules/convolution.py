"""Convolutions over one, two or three dimensions, with groups, strides, paddings and dilations."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from bruit.deep.gpu_kernels import choice
from bruit.deep.per_sample.factored_gradients import (
    LIGHT,
    PerSampleGradients,
    StoredGradients,
    gram_is_cheaper,
    is_traced,
    lengths,
    secure_squares,
    triangle_bounds,
    wide,
    wide_kind,
    zero_samples,
)
from bruit.deep.per_sample.rules.square_convolution import is_square, square_convolution

Layer = nn.Conv1d | nn.Conv2d | nn.Conv3d
NOT_TRANSPOSED = False

NEAR = 2**18
"""Numbers that fit into the cache of one core, so that patches are multiplied where they were laid out."""


def convolution(layer: Layer, inputs: Tensor, outputs: Tensor) -> dict[str, PerSampleGradients]:
    """Per-sample gradients of a convolution, as a linear layer on patches: ∂W = Σ_t g_t patch_tᵀ, ∂b = Σ_t g_t."""
    gradients: dict[str, PerSampleGradients] = {}
    if layer.weight.requires_grad:
        inputs = inputs.to(outputs.dtype)  # what autocast multiplied
        if isinstance(layer, nn.Conv2d) and choice.can_fuse(inputs, outputs) and is_square(layer):
            gradients["weight"] = square_convolution(layer, inputs, outputs)
        else:
            gradients["weight"] = patches(layer, inputs, outputs)
    if layer.bias is not None and layer.bias.requires_grad:
        gradients["bias"] = StoredGradients(outputs.flatten(2).sum(2, dtype=wide_kind(outputs.dtype)))
    return gradients


def patches(layer: Layer, inputs: Tensor, outputs: Tensor) -> PerSampleGradients:
    """The per-sample gradients of a convolution kernel, stored as tensors or as patches, whichever is cheaper."""
    found = Patches(layer, inputs, outputs)
    width, positions = layer.weight.shape[1:].numel(), outputs[0, 0].numel()
    if gram_is_cheaper(2 * positions, width, layer.out_channels // layer.groups):
        return found
    return StoredGradients(found.per_sample())


class Patches:
    """The per-sample gradients of a convolution kernel from unfolded patches, which are recomputed for each use."""

    def __init__(self, layer: Layer, inputs: Tensor, outputs: Tensor) -> None:
        self.layer, self.inputs, self.outputs = layer, inputs, outputs

    @property
    def light(self) -> bool:
        return self.inputs.numel() + self.outputs.numel() <= LIGHT

    def squares(self) -> Tensor:
        laid, outputs = self._unfold()
        inner, outer = laid.mT @ laid, outputs.mT @ outputs
        widths, reaches = (laid.shape[2], outputs.shape[2]), triangle_bounds(lengths(inner), lengths(outer))
        return secure_squares((inner * outer).sum((2, 3)), reaches, widths, outputs).sum(1)

    def per_sample(self) -> Tensor:
        """The per-sample gradients; on a CPU, patches are unfolded for as many samples at a time as fit in cache."""
        laid, outputs, groups = self._windows(), wide(self.outputs).flatten(2), self.layer.groups
        found = outputs.new_empty((len(outputs), *self.layer.weight.shape))
        rows = found.view(len(outputs) * groups, self.layer.out_channels // groups, -1)
        outputs = outputs.reshape(*rows.shape[:2], -1)
        size = max(1, NEAR // laid[0].numel()) if laid.is_cpu and not is_traced(laid) else len(laid)
        room = laid.new_empty((min(size, len(laid)), *laid.shape[1:]))
        for begin in range(0, len(laid), size):
            some = laid[begin : begin + size]
            copied = room[: len(some)].copy_(some).view(len(some) * groups, rows.shape[2], -1)
            own = slice(begin * groups, (begin + size) * groups)
            torch.bmm(outputs[own], copied.mT, out=rows[own])
        return found

    def weighted(self, weights: Tensor) -> Tensor:
        image, padding = self._pad()
        inputs, outputs = wide(image), wide(self.outputs)
        each = weights.to(outputs.dtype).view(-1, *[1] * (outputs.dim() - 1))
        kernel = outputs.new_empty(self.layer.weight.shape)  # only its shape is read
        asked = (self.layer.stride, padding, self.layer.dilation, NOT_TRANSPOSED, [0] * len(padding))
        found: Tensor = torch.ops.aten.convolution_backward(
            outputs * each, inputs, kernel, None, *asked, self.layer.groups, [False, True, False]
        )[1]
        return found

    def without(self, dropped: Tensor) -> Patches:
        return Patches(self.layer, zero_samples(self.inputs, dropped), zero_samples(self.outputs, dropped))

    def _unfold(self) -> tuple[Tensor, Tensor]:
        """Patches (batch, groups, D, positions) and output gradients (batch, groups, P, positions)."""
        shape = (len(self.outputs), self.layer.groups, -1, self.outputs[0, 0].numel())
        return self._windows().reshape(shape), wide(self.outputs).reshape(shape)

    def _windows(self) -> Tensor:
        image, padding = self._pad()
        layer = self.layer
        return windows(wide(image), self.outputs.shape[2:], layer.kernel_size, layer.stride, padding, layer.dilation)

    def _pad(self) -> tuple[Tensor, list[int]]:
        """The padded input, and the zero padding that is still to be added."""
        layer = self.layer
        if isinstance(layer.padding, str) or layer.padding_mode != "zeros":
            mode = "constant" if layer.padding_mode == "zeros" else layer.padding_mode
            return functional.pad(self.inputs, layer._reversed_padding_repeated_twice, mode=mode), [0] * len(
                layer.stride
            )
        return self.inputs, list(layer.padding)


def windows(
    image: Tensor,
    positions: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Tensor:
    """A view of the patch at each position: (batch, channels, *kernel, *positions).

    `torch.nn.functional.unfold` copies too, half as slowly again on one core and sample by sample on a GPU.
    """
    if any(padding):
        image = functional.pad(image, [side for each in reversed(padding) for side in (each, each)])
    image = image.contiguous()
    sample, channel, *space = image.stride()
    steps = [step * far for asked in (dilation, stride) for step, far in zip(space, asked, strict=True)]
    return image.as_strided((*image.shape[:2], *kernel, *positions), (sample, channel, *steps))
