"""Square convolutions in bfloat16 on a GPU, by kernels that read patches in place."""

from __future__ import annotations

from collections.abc import Sequence

from torch import Tensor, nn
from torch.nn import functional

from bruit.deep.per_sample.factored_gradients import (
    KeptImages,
    PerSampleGradients,
    gram_is_cheaper,
    secure_squares,
    triangle_bounds,
    wide,
    zero_samples,
)

SIDES = (1, 3)
"""The sides of kernels that are served."""


def is_square(layer: nn.Conv2d) -> bool:
    """Whether the kernels support a layer: square kernel, equal strides and zero padding, no groups, no dilation."""
    plain = layer.groups == 1 and layer.dilation == (1, 1) and layer.padding_mode == "zeros"
    same = all(
        isinstance(each, tuple) and len(set(each)) == 1 for each in (layer.kernel_size, layer.stride, layer.padding)
    )
    return plain and same and layer.kernel_size[0] in SIDES


def square_convolution(layer: nn.Conv2d, inputs: Tensor, outputs: Tensor) -> PerSampleGradients:
    """The per-sample gradients of a square kernel, stored where they take no more memory than inputs and outputs."""
    from bruit.deep.gpu_kernels.images import patch_gradients

    images = Images(layer, inputs, outputs)
    width, positions = layer.weight.shape[1:].numel(), outputs[0, 0].numel()
    if gram_is_cheaper(positions, width, layer.out_channels):
        return images
    if width * layer.out_channels > inputs[0].numel() + outputs[0].numel():
        squares, _ = patch_gradients(inputs, outputs, *images.shape, keep=False)
        return Measured(layer, inputs, outputs, images.secured(squares, images.reaches()))
    squares, gradients = patch_gradients(inputs, outputs, *images.shape, keep=True)
    return KeptImages(gradients, squares)


class Images:
    """Per-sample gradients of a square kernel held as input images and output gradients (ghost norms, fused sums)."""

    light = False

    def __init__(self, layer: nn.Conv2d, inputs: Tensor, outputs: Tensor) -> None:
        self.layer, self.inputs, self.outputs = layer, inputs, outputs
        self.shape = (layer.kernel_size[0], layer.stride[0], int(layer.padding[0]))

    def squares(self) -> Tensor:
        from bruit.deep.gpu_kernels.images import patch_gram

        squares, *reaches = patch_gram(self.inputs, self.outputs, *self.shape).unbind(1)
        return self.secured(squares, reaches)

    def secured(self, squares: Tensor, reaches: Sequence[Tensor]) -> Tensor:
        """The squared norms plus a margin for rounding."""
        widths = self.layer.weight.shape[1:].numel(), self.layer.out_channels
        return secure_squares(squares, reaches, widths, self.outputs)

    def reaches(self) -> tuple[Tensor, Tensor, Tensor]:
        """The triangle bounds of the gradient norms, from the norms of patches and of output gradients."""
        side, stride, padding = self.shape
        pixels = wide(self.inputs).square().sum(1, keepdim=True)
        inputs = functional.avg_pool2d(pixels, side, stride, padding, divisor_override=1)
        outputs = wide(self.outputs).square().sum(1, keepdim=True)
        return triangle_bounds(inputs.flatten(1).sqrt(), outputs.flatten(1).sqrt())

    def per_sample(self) -> Tensor:
        from bruit.deep.gpu_kernels.images import patch_gradients

        _, kept = patch_gradients(self.inputs, self.outputs, *self.shape, keep=True)
        return wide(kept).permute(0, 1, 4, 2, 3)

    def weighted(self, weights: Tensor) -> Tensor:
        from bruit.deep.gpu_kernels.images import patch_sums

        found: Tensor = patch_sums(self.inputs, self.outputs, weights, *self.shape)
        return found

    def without(self, dropped: Tensor) -> PerSampleGradients:
        return Images(self.layer, zero_samples(self.inputs, dropped), zero_samples(self.outputs, dropped))


class Measured(Images):
    """Per-sample gradients of a square kernel whose norms are already computed."""

    def __init__(self, layer: nn.Conv2d, inputs: Tensor, outputs: Tensor, squares: Tensor) -> None:
        super().__init__(layer, inputs, outputs)
        self._squares = squares

    def squares(self) -> Tensor:
        return self._squares
