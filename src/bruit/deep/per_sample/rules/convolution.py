"""Convolutions over one, two or three dimensions, with groups, strides, paddings and dilations."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn import functional

from bruit.deep.gpu_kernels import choice
from bruit.deep.per_sample.factored_gradients import (
    LIGHT,
    KeptImages,
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
    return StoredGradients(found.per_sample()) if layer.groups > 1 else KeptImages(found.kept())


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
        if self.layer.groups == 1:
            return self.kept().movedim(-1, 2)
        laid, outputs = self._unfold()
        return (outputs @ laid.mT).reshape(len(outputs), *self.layer.weight.shape)

    def kept(self) -> Tensor:
        """The per-sample gradients (batch, outputs, *kernel, channels) of a convolution without groups.

        On a CPU, patches are laid out for as many samples at a time as fit in cache.
        """
        laid, outputs = self._windows_last(), wide(self.outputs).movedim(1, -1).flatten(1, -2)
        batch, space = len(laid), outputs.shape[1]
        found = outputs.new_empty(batch, self.layer.out_channels, laid[0].numel() // space)
        size = max(1, NEAR // laid[0].numel()) if laid.is_cpu and not is_traced(laid) else batch
        room = laid.new_empty((min(size, batch), *laid.shape[1:]))
        for begin in range(0, batch, size):
            some = laid[begin : begin + size]
            copied = room[: len(some)].copy_(some).view(len(some), space, -1)
            torch.bmm(outputs[begin : begin + size].mT, copied, out=found[begin : begin + size])
        return found.view(batch, -1, *self.layer.kernel_size, self.inputs.shape[1])

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

    def _windows_last(self) -> Tensor:
        image, padding = self._pad()
        layer = self.layer
        image = _padded(wide(image), padding).movedim(1, -1).contiguous()
        sample, *space, channel = image.stride()
        steps = [step * far for asked in (layer.stride, layer.dilation) for step, far in zip(space, asked, strict=True)]
        shape = (len(image), *self.outputs.shape[2:], *layer.kernel_size, image.shape[-1])
        return image.as_strided(shape, (sample, *steps, channel))

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
    image = _padded(image, padding).contiguous()
    sample, channel, *space = image.stride()
    steps = [step * far for asked in (dilation, stride) for step, far in zip(space, asked, strict=True)]
    return image.as_strided((*image.shape[:2], *kernel, *positions), (sample, channel, *steps))


def _padded(image: Tensor, padding: Sequence[int]) -> Tensor:
    return (
        functional.pad(image, [side for each in reversed(padding) for side in (each, each)]) if any(padding) else image
    )
