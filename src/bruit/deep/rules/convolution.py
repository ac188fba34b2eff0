"""Convolutions over one or two dimensions, with groups, strides, paddings and dilations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from bruit.deep.shares import Kept, Share, emptied, gram_is_cheaper, weighted_rows, wide

Layer = nn.Conv1d | nn.Conv2d
NOT_TRANSPOSED = False


def convolution(layer: Layer, inputs: Tensor, outputs: Tensor) -> dict[str, Share]:
    """A linear layer on the patches of the image: ∂W = Σ_t g_t patch_tᵀ, ∂b = Σ_t g_t."""
    shares: dict[str, Share] = {}
    if layer.weight.requires_grad:
        shares["weight"] = Patches(layer, inputs, outputs)
    if layer.bias is not None and layer.bias.requires_grad:
        shares["bias"] = Kept(wide(outputs).flatten(2).sum(2))
    return shares


class Patches:
    """The gradients of a kernel; patches are laid out to measure them and not kept."""

    def __init__(self, layer: Layer, inputs: Tensor, outputs: Tensor) -> None:
        self.layer, self.inputs, self.outputs = layer, inputs, outputs
        self._held: Tensor | None = None

    def squares(self) -> Tensor:
        layer, positions = self.layer, self.outputs[0, 0].numel()
        width = layer.weight[0].numel()
        # Held gradients save the second pass over the images, which is worth twice the room.
        if not gram_is_cheaper(2 * positions, width, layer.out_channels // layer.groups):
            self._held = self._gradients()
            return self._held.flatten(1).square().sum(1)
        patches, outputs = self._laid_out()
        return ((patches.mT @ patches) * (outputs.mT @ outputs)).sum((1, 2, 3)).clamp(min=0)

    def per_sample(self) -> Tensor:
        held = self._held if self._held is not None else self._gradients()
        return held.view(len(held), *self.layer.weight.shape)

    def weighted(self, weights: Tensor) -> Tensor:
        if self._held is not None:
            return weighted_rows(weights, self._held).view(self.layer.weight.shape)
        image, outputs, padding = self._as_images()
        inputs, outputs = wide(image), wide(outputs)
        each = weights.to(outputs.dtype).view(-1, 1, 1, 1)
        kernel = self.layer.weight.detach().to(outputs.dtype).view(self._kernel_shape())
        asked = (self._pair(self.layer.stride, 1), padding, self._pair(self.layer.dilation, 1))
        found: Tensor = torch.ops.aten.convolution_backward(
            outputs * each,
            inputs,
            kernel,
            None,
            *asked,
            NOT_TRANSPOSED,
            [0, 0],
            self.layer.groups,
            [False, True, False],
        )[1]
        return found.view(self.layer.weight.shape)

    def without(self, dropped: Tensor) -> Patches:
        return Patches(self.layer, emptied(self.inputs, dropped), emptied(self.outputs, dropped))

    def _gradients(self) -> Tensor:
        patches, outputs = self._laid_out()
        return outputs @ patches.mT

    def _laid_out(self) -> tuple[Tensor, Tensor]:
        """Patches (batch, groups, D, positions) and output gradients (batch, groups, P, positions)."""
        image, outputs, padding = self._as_images()
        stride, dilation = self._pair(self.layer.stride, 1), self._pair(self.layer.dilation, 1)
        patches = laid_out(wide(image), outputs.shape[2:], self._kernel_shape()[2:], stride, padding, dilation)
        shape = (len(image), self.layer.groups, -1, patches.shape[-1])
        return patches.view(shape), wide(outputs).reshape(shape)

    def _as_images(self) -> tuple[Tensor, Tensor, tuple[int, ...]]:
        """Input and output gradient with two dimensions of space, and the zeros that are still to be put around."""
        layer, inputs, outputs = self.layer, self.inputs, self.outputs
        if isinstance(layer.padding, str) or layer.padding_mode != "zeros":
            mode = "constant" if layer.padding_mode == "zeros" else layer.padding_mode
            inputs = functional.pad(inputs, layer._reversed_padding_repeated_twice, mode=mode)
            padding: tuple[int, ...] = (0, 0)
        else:
            padding = self._pair(layer.padding, 0)
        if isinstance(layer, nn.Conv1d):
            inputs, outputs = inputs.unsqueeze(2), outputs.unsqueeze(2)
        return inputs, outputs, padding

    def _kernel_shape(self) -> tuple[int, ...]:
        out, width, *space = self.layer.weight.shape
        return (out, width, *([1] * (2 - len(space))), *space)

    @staticmethod
    def _pair(given: Any, missing: int) -> tuple[int, ...]:
        values = tuple(int(each) for each in given)
        return (missing,) * (2 - len(values)) + values


def laid_out(
    image: Tensor,
    positions: Sequence[int],
    kernel: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
) -> Tensor:
    """The patch of every position: (batch, channels x kernel, positions), copied once through a strided view.

    `torch.nn.functional.unfold` does the same, half as slowly again on one core and sample by sample on a GPU.
    """
    if any(padding):
        image = functional.pad(image, (padding[1], padding[1], padding[0], padding[0]))
    image = image.contiguous()
    sample, channel, row, column = image.stride()
    steps = (row * dilation[0], column * dilation[1], row * stride[0], column * stride[1])
    view = image.as_strided((*image.shape[:2], *kernel, *positions), (sample, channel, *steps))
    return view.reshape(len(image), -1, positions[0] * positions[1])
