"""Per-sample gradients of one parameter, kept as factors, so that ghost norms need not build the gradients.

`PerSampleGradients` answers three questions: the squared norm of every sample's gradient, the gradients themselves,
and their weighted sum. One backward pass records both factors, so that the sum needs no second one. [Bu et al. 2022]
"""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Protocol

import torch
from torch import Tensor
from torch._subclasses.fake_tensor import FakeTensor

from bruit.deep.gpu_kernels import choice

WIDE_SUMS = tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 8)
"""Whether torch can multiply bfloat16 into float32."""

SHORT_WEIGHTS = 2.0**-13
SHORT_PRODUCTS = {"highest": 0.0, "high": 2.0**-8, "medium": 2.0**-6}
"""Margins as shares of the squared bound: for bfloat16 weights, and by `set_float32_matmul_precision`."""

LIGHT = 2**23
"""Tensors up to this many numbers are copied rather than wait for the GPU."""


class PerSampleGradients(Protocol):
    """The per-sample gradients of one parameter."""

    @property
    def light(self) -> bool:
        """Whether `without` costs next to nothing, so that it may be called as a precaution."""

    def squares(self) -> Tensor:
        """The squared norm of each sample's gradient, in float32 or wider."""

    def per_sample(self) -> Tensor:
        """Every sample's gradient: batch first, then the parameter's shape."""

    def weighted(self, weights: Tensor) -> Tensor:
        """The sum of the gradients, each times its weight, in float32 or wider."""

    def without(self, dropped: Tensor) -> PerSampleGradients:
        """The per-sample gradients with those of some samples set to zero, even where they were NaN."""


class StoredGradients:
    """Per-sample gradients held as tensors (bfloat16 on a GPU, with norms and sums in float32)."""

    def __init__(self, gradients: Tensor) -> None:
        self.gradients = gradients if multiplies_short(gradients) else wide(gradients)

    @property
    def light(self) -> bool:
        return self.gradients.numel() <= LIGHT

    def squares(self) -> Tensor:
        values = self._rows()
        if is_traced(values):
            return wide(values).square().sum(1)
        norms: Tensor = torch.linalg.vector_norm(values, dim=1, dtype=wide_kind(values.dtype))  # without a copy
        return norms.square()

    def per_sample(self) -> Tensor:
        return wide(self.gradients)

    def weighted(self, weights: Tensor) -> Tensor:
        rows = self._rows()
        if is_traced(rows) and multiplies_short(rows):  # one pass once compiled
            found = (wide(rows) * weights.unsqueeze(1)).sum(0)
        elif multiplies_short(rows):
            found = torch.mm(weights.to(rows.dtype).unsqueeze(0), rows, out_dtype=torch.float32)
        else:
            found = weights.to(rows.dtype) @ rows
        return found.view(self.gradients.shape[1:])

    def _rows(self) -> Tensor:
        """One row for each sample, also where the parameter is a single number."""
        return self.gradients.reshape(len(self.gradients), -1)

    def without(self, dropped: Tensor) -> StoredGradients:
        return type(self)(zero_samples(self.gradients, dropped))


class KeptImages(StoredGradients):
    """Stored per-sample gradients of a kernel with its channels last, with their squared norms where known."""

    def __init__(self, gradients: Tensor, squares: Tensor | None = None) -> None:
        super().__init__(gradients)
        self._squares = squares

    def squares(self) -> Tensor:
        return super().squares() if self._squares is None else self._squares

    def per_sample(self) -> Tensor:
        return super().per_sample().movedim(-1, 2)

    def weighted(self, weights: Tensor) -> Tensor:
        return super().weighted(weights).movedim(-1, 1).contiguous()


class Products:
    """Per-sample gradients Σ_t g_bt a_btᵀ of a linear layer, held as inputs a and output gradients g.

    ‖Σ_t g_t a_tᵀ‖² = Σ_tt' (a_t·a_t')(g_t·g_t'), and with one position ‖g‖²‖a‖².                [Bu et al. 2022]
    """

    def __init__(self, inputs: Tensor, outputs: Tensor) -> None:
        """Takes inputs of shape (batch, positions, D) and output gradients of shape (batch, positions, P)."""
        self.inputs, self.outputs = inputs, outputs

    @property
    def light(self) -> bool:
        return self.inputs.numel() + self.outputs.numel() <= LIGHT

    def squares(self) -> Tensor:
        if self.inputs.shape[1] == 1:
            inputs, outputs = (wide(each).square().sum((1, 2)) for each in (self.inputs, self.outputs))
            return inputs * outputs + underflow_bound(inputs.sqrt(), outputs.sqrt(), self._widths)
        return gram_squares(self.inputs, self.outputs)

    def per_sample(self) -> Tensor:
        return wide_product(self.outputs.mT, self.inputs)

    def weighted(self, weights: Tensor) -> Tensor:
        inputs, outputs = self.inputs, self.outputs
        if inputs.shape[2] < outputs.shape[2]:  # the narrower of the two is scaled
            inputs = scale_samples(inputs, weights)
        else:
            outputs = scale_samples(outputs, weights)
        return wide_product(outputs.flatten(0, 1).mT, inputs.flatten(0, 1))

    def without(self, dropped: Tensor) -> Products:
        return Products(zero_samples(self.inputs, dropped), zero_samples(self.outputs, dropped))

    @property
    def _widths(self) -> tuple[int, int]:
        return self.inputs.shape[2], self.outputs.shape[2]


def products(inputs: Tensor, outputs: Tensor) -> PerSampleGradients:
    """The per-sample gradients of a matrix applied at every position, as factors or tensors, whichever is cheaper.

    Products between positions cost T²(D+P); the gradients themselves cost T·D·P and D·P numbers of room, and save
    the second pass over the positions.
    """
    inputs = inputs.to(outputs.dtype)  # what autocast multiplied
    positions, widths = inputs.shape[1], (inputs.shape[2], outputs.shape[2])
    if positions == 1 or gram_is_cheaper(positions, *widths):
        return Products(inputs, outputs)
    if multiplies_short(outputs):
        return StoredGradients(outputs.mT @ inputs)
    return StoredGradients(wide(outputs).mT @ wide(inputs))


def gram_is_cheaper(positions: int, inputs: int, outputs: int) -> bool:
    """Whether the ghost norm (products between positions) costs less than building one gradient."""
    return positions * (inputs + outputs) < inputs * outputs


def gram_squares(inputs: Tensor, outputs: Tensor) -> Tensor:
    """Ghost norms Σ_tt' (a_t·a_t')(g_t·g_t') of every sample, plus a margin for rounding."""
    widths = inputs.shape[2], outputs.shape[2]
    if choice.can_fuse(inputs, outputs):
        from bruit.deep.gpu_kernels.positions import gram

        squares, *reaches = gram(inputs, outputs).unbind(1)
        return secure_squares(squares, reaches, widths, outputs)
    inner, outer = wide_product(inputs, inputs.mT), wide_product(outputs, outputs.mT)
    return secure_squares((inner * outer).sum((1, 2)), triangle_bounds(lengths(inner), lengths(outer)), widths, outputs)


def lengths(products: Tensor) -> Tensor:
    """The vector norms ‖a_t‖ from the Gram matrix of the positions (its diagonal)."""
    return products.diagonal(dim1=-2, dim2=-1).clamp(min=0).sqrt()


def triangle_bounds(inputs: Tensor, outputs: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Σ_t ‖a_t‖‖g_t‖ (the triangle inequality's bound on the gradient norm), Σ_t ‖a_t‖ and Σ_t ‖g_t‖."""
    return (inputs * outputs).sum(-1), inputs.sum(-1), outputs.sum(-1)


def secure_squares(squares: Tensor, reaches: Sequence[Tensor], widths: tuple[int, int], multiplied: Tensor) -> Tensor:
    """Squared norms plus a margin for rounding: never below the true ones by more than the clipping margin.

    Positions that nearly cancel leave a norm that rounding can swallow, and the weighted sum, rounded otherwise, would
    then hold what was not counted. Both errors are at most a share of Σ_t ‖a_t‖‖g_t‖, so the square of that is added.
    """
    both, inputs, outputs = reaches
    room = rounding(multiplied, sum(widths)) * both.square()
    return squares.clamp(min=0) + room + underflow_bound(inputs, outputs, widths)


def underflow_bound(inputs: Tensor, outputs: Tensor, widths: tuple[int, int]) -> Tensor:
    """An upper bound on what underflow removed from squared norms: each lost square is below `finfo.tiny`."""
    least = torch.finfo(inputs.dtype).tiny
    return (inputs * sqrt(least * widths[1])).square() + (outputs * sqrt(least * widths[0])).square()


def rounding(multiplied: Tensor, width: int) -> float:
    """A bound on the relative rounding error of sums of `width` products, and of squared norms of weighted sums.

    γ = width · u of [Higham 2002, §3.1], with some room for the sums over positions. Where weights are rounded to
    bfloat16, a share e = 2⁻⁹ of the reach is misplaced: e² over twice the margin. Short products round factors too.
    """
    kind = wide_kind(multiplied.dtype)
    exact = (width + 32) * torch.finfo(kind).eps / 2
    if multiplies_short(multiplied):
        return exact + SHORT_WEIGHTS
    if kind == torch.float64:
        return exact
    products = SHORT_PRODUCTS[torch.get_float32_matmul_precision()]
    return max(exact, products, SHORT_WEIGHTS if multiplied.is_cuda and torch.backends.cudnn.allow_tf32 else 0.0)


def wide_product(left: Tensor, right: Tensor) -> Tensor:
    """A product of matrices in float32 or wider: a GPU multiplies bfloat16 and adds in float32 without a copy."""
    if multiplies_short(left) and multiplies_short(right):
        product = torch.mm if left.dim() == 2 else torch.bmm
        return product(left, right, out_dtype=torch.float32)
    return wide(left) @ wide(right)


def scale_samples(values: Tensor, weights: Tensor) -> Tensor:
    """Each sample's values times its weight, rounded to bfloat16 only where the GPU multiplies in bfloat16."""
    product = wide(values) * weights.to(wide_kind(values.dtype)).view(-1, *[1] * (values.dim() - 1))
    return product.to(values.dtype) if multiplies_short(values) else product


def multiplies_short(values: Tensor) -> bool:
    """Whether the values are multiplied in bfloat16 without widening (never float16, where small weights underflow)."""
    return WIDE_SUMS and values.is_cuda and values.dtype == torch.bfloat16


def is_traced(values: Tensor) -> bool:
    """Whether the values are fake tensors of a graph that is being traced."""
    return isinstance(values, FakeTensor)


def wide(values: Tensor) -> Tensor:
    """The values widened to at least float32, since norms and sums are never accumulated in 16 bits."""
    return values.to(wide_kind(values.dtype))


def wide_kind(kind: torch.dtype) -> torch.dtype:
    """The dtype to accumulate in: float32 for 16-bit types, else the type itself."""
    return torch.float32 if kind in (torch.bfloat16, torch.float16) else kind


def zero_samples(values: Tensor, dropped: Tensor) -> Tensor:
    """The values with the rows of some samples set to zero, which also removes NaN."""
    return values.masked_fill(dropped.view(-1, *[1] * (values.dim() - 1)), 0)
