"""One gradient per record or person that has several rows in a batch: views of a record, records of a person.

The rows of an owner lie side by side: row r of owner u is row u·rows + r of the batch. The gradient of an owner is the
sum of those of its rows, whose losses were divided by their number.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch.nn import functional

from bruit.deep.per_sample.factored_gradients import PerSampleGradients, StoredGradients
from bruit.deep.per_sample.layer_hooks import Rule

OVER_POSITIONS = (nn.Linear, nn.Embedding)
"""Layers that sum over whatever lies between samples and features: rows become further positions, at no cost."""

CONVOLUTIONS = (nn.Conv1d, nn.Conv2d, nn.Conv3d)
NORMS = (nn.GroupNorm, nn.LayerNorm)
"""Layers of few parameters, whose gradients of all rows are computed at once; a compiled step has them already."""


def unit_gradients(rule: Rule, layer: Any, inputs: Tensor, outputs: Tensor, rows: int) -> dict[str, PerSampleGradients]:
    """The gradients of a layer call, summed over the `rows` consecutive rows of each record or person."""
    if rows == 1:
        return rule(layer, inputs, outputs)
    if isinstance(layer, OVER_POSITIONS):
        return rule(layer, inputs.unflatten(0, (-1, rows)), outputs.unflatten(0, (-1, rows)))
    if type(layer) in CONVOLUTIONS and layer.padding_mode == "zeros" and not isinstance(layer.padding, str):
        return rule(layer, *stacked_images(layer, inputs, outputs, rows))
    if isinstance(layer, NORMS):
        return {own: _summed(found, rows) for own, found in rule(layer, inputs, outputs).items()}
    each = [rule(layer, inputs[row::rows], outputs[row::rows]) for row in range(rows)]
    return {own: StoredGradients(_added([part[own] for part in each])) for own in each[0]}


def stacked_images(
    layer: nn.Conv1d | nn.Conv2d | nn.Conv3d, inputs: Tensor, outputs: Tensor, rows: int
) -> tuple[Tensor, Tensor]:
    """Stacks each person's images into one tall image, and their output gradients likewise.

    Zeros between two images serve as the padding of both, and the gradients there are zero too: the gradient of the
    tall image is the sum of those of its images.
    """
    stride, padding, dilation = layer.stride[0], int(layer.padding[0]), layer.dilation[0]
    least = max(inputs.shape[2] + padding, stride * outputs.shape[2])
    height = -(-least // stride)  # of an image among the outputs
    images, gradients = _stack(inputs, rows, stride * height), _stack(outputs, rows, height)
    reach = images.shape[2] + 2 * padding - dilation * (layer.kernel_size[0] - 1) - 1
    return images, _with_height(gradients, reach // stride + 1)


def _stack(images: Tensor, rows: int, height: int) -> Tensor:
    """Every `rows` images below each other, each filled up with zeros to a height; channels stay last in memory."""
    laid = images.unflatten(0, (-1, rows)).movedim(2, -1)  # owner, row, height, ..., channel
    flat = (0, 0) * (laid.dim() - 3)
    return functional.pad(laid, (*flat, 0, height - laid.shape[2])).flatten(1, 2).movedim(-1, 1)


def _with_height(images: Tensor, height: int) -> Tensor:
    """Cuts rows of zeros off the bottom of images, or adds some."""
    return functional.pad(images, (*(0, 0) * (images.dim() - 3), 0, height - images.shape[2]))


def mean_of_rows(gradients: StoredGradients, rows: int) -> StoredGradients:
    """Stored gradients averaged over the `rows` consecutive rows of each record or person."""
    return gradients if rows == 1 else StoredGradients(_summed(gradients, rows).gradients / rows)


def _summed(gradients: PerSampleGradients, rows: int) -> StoredGradients:
    return StoredGradients(gradients.per_sample().unflatten(0, (-1, rows)).sum(1))


def _added(parts: list[PerSampleGradients]) -> Tensor:
    total = parts[0].per_sample()
    for part in parts[1:]:
        total = total + part.per_sample()
    return total
