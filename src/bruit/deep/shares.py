"""What each sample of a batch adds to the gradient of one parameter, kept in the form that is cheapest to measure.

A share answers three questions: the squared norm of every sample's gradient, the gradients themselves, and their
weighted sum. Books are kept during one backward pass; the sum needs no second one.        [Bu et al. 2022]
"""

from __future__ import annotations

from typing import Protocol

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

from bruit.deep.kernels import choice

WIDE_SUMS = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 8)
"""Whether torch can multiply bfloat16 into float32."""

LIGHT = 2**23
"""Numbers of which a copy costs less than to wait for the GPU."""


class Share(Protocol):
    """The gradients of one parameter, sample by sample."""

    @property
    def light(self) -> bool:
        """Whether `without` costs next to nothing, so that it may be called for no more than caution."""

    def squares(self) -> Tensor:
        """The squared norm of each sample's gradient, in float32 or wider."""

    def per_sample(self) -> Tensor:
        """Every sample's gradient: batch first, then the parameter's shape."""

    def weighted(self, weights: Tensor) -> Tensor:
        """The sum of the gradients, each times its weight, in float32 or wider."""

    def without(self, dropped: Tensor) -> Share:
        """The same with the gradients of some samples set to zero, whatever they held."""


class Kept:
    """Gradients that are held as they are: bfloat16 on a GPU, where norms and sums are still added in float32."""

    def __init__(self, gradients: Tensor) -> None:
        self.gradients = gradients if multiplies_short(gradients) else wide(gradients)

    @property
    def light(self) -> bool:
        return self.gradients.numel() <= LIGHT

    def squares(self) -> Tensor:
        values = self.gradients.flatten(1)
        if is_traced(values):
            return wide(values).square().sum(1)
        norms: Tensor = torch.linalg.vector_norm(values, dim=1, dtype=wide(values[:0]).dtype)  # without a copy
        return norms.square()

    def per_sample(self) -> Tensor:
        return wide(self.gradients)

    def weighted(self, weights: Tensor) -> Tensor:
        rows = self.gradients.flatten(1)
        if is_traced(rows) and multiplies_short(rows):  # one pass once compiled
            found = (wide(rows) * weights.unsqueeze(1)).sum(0)
        elif multiplies_short(rows):
            found = torch.mm(weights.to(rows.dtype).unsqueeze(0), rows, out_dtype=torch.float32)
        else:
            found = weights.to(rows.dtype) @ rows
        return found.view(self.gradients.shape[1:])

    def without(self, dropped: Tensor) -> Kept:
        return type(self)(emptied(self.gradients, dropped))


class Products:
    """Sums over positions of outer products, g_bt a_btᵀ: what a linear layer has.

    ‖Σ_t g_t a_tᵀ‖² = Σ_tt' (a_t·a_t')(g_t·g_t'), and with one position ‖g‖²‖a‖².                [Bu et al. 2022]
    """

    def __init__(self, inputs: Tensor, outputs: Tensor) -> None:
        """Inputs of shape (batch, positions, D) and output gradients (batch, positions, P)."""
        self.inputs, self.outputs = inputs, outputs

    @property
    def light(self) -> bool:
        return self.inputs.numel() + self.outputs.numel() <= LIGHT

    def squares(self) -> Tensor:
        if self.inputs.shape[1] == 1:
            return wide(self.inputs).square().sum((1, 2)) * wide(self.outputs).square().sum((1, 2))
        return gram_squares(self.inputs, self.outputs)

    def per_sample(self) -> Tensor:
        return wide_product(self.outputs.mT, self.inputs)

    def weighted(self, weights: Tensor) -> Tensor:
        inputs, outputs = self.inputs, self.outputs
        if inputs.shape[2] < outputs.shape[2]:  # the narrower of the two is scaled
            inputs = scaled(inputs, weights)
        else:
            outputs = scaled(outputs, weights)
        return wide_product(outputs.flatten(0, 1).mT, inputs.flatten(0, 1))

    def without(self, dropped: Tensor) -> Products:
        return Products(emptied(self.inputs, dropped), emptied(self.outputs, dropped))


def products(inputs: Tensor, outputs: Tensor) -> Share:
    """The share of a matrix that was used at every position, in the cheaper form.

    Products between positions cost T²(D+P); the gradients themselves cost T·D·P and D·P numbers of room, and save
    the second pass over the positions.
    """
    inputs = inputs.to(outputs.dtype)  # what autocast multiplied
    positions, widths = inputs.shape[1], (inputs.shape[2], outputs.shape[2])
    if positions == 1 or gram_is_cheaper(positions, *widths):
        return Products(inputs, outputs)
    if multiplies_short(outputs):
        return Kept(outputs.mT @ inputs)
    return Kept(wide(outputs).mT @ wide(inputs))


def gram_is_cheaper(positions: int, inputs: int, outputs: int) -> bool:
    """Whether the products between positions cost less than the gradient of one sample."""
    return positions * (inputs + outputs) < inputs * outputs


def gram_squares(inputs: Tensor, outputs: Tensor) -> Tensor:
    """Σ_tt' (a_t·a_t')(g_t·g_t') for every sample; rounding must not make it negative."""
    if choice.fused(inputs, outputs):
        from bruit.deep.kernels.positions import gram

        found: Tensor = gram(inputs, outputs)
        return found.clamp(min=0)
    return (wide_product(inputs, inputs.mT) * wide_product(outputs, outputs.mT)).sum((1, 2)).clamp(min=0)


def wide_product(left: Tensor, right: Tensor) -> Tensor:
    """A product of matrices in float32 or wider: a GPU multiplies bfloat16 and adds in float32 without a copy."""
    if multiplies_short(left) and multiplies_short(right):
        product = torch.mm if left.dim() == 2 else torch.bmm
        return product(left, right, out_dtype=torch.float32)
    return wide(left) @ wide(right)


def scaled(values: Tensor, weights: Tensor) -> Tensor:
    """Each sample's values times its weight, rounded once where a GPU multiplies bfloat16."""
    product = wide(values) * weights.to(wide(values[:0]).dtype).view(-1, *[1] * (values.dim() - 1))
    return product.to(values.dtype) if multiplies_short(values) else product


def multiplies_short(values: Tensor) -> bool:
    """Whether values are multiplied as they are; float16 is not, since small weights would vanish in it."""
    return WIDE_SUMS and values.is_cuda and values.dtype == torch.bfloat16


def is_traced(values: Tensor) -> bool:
    """Whether a graph is being traced, which will be compiled."""
    return isinstance(values, FakeTensor)


def wide(values: Tensor) -> Tensor:
    """The values in float32 where they were narrower: norms and sums are never accumulated in 16 bits."""
    return values.float() if values.dtype in (torch.bfloat16, torch.float16) else values


def emptied(values: Tensor, dropped: Tensor) -> Tensor:
    """The values with the rows of some samples set to zero; a product with zero would keep what is not a number."""
    return values.masked_fill(dropped.view(-1, *[1] * (values.dim() - 1)), 0)
