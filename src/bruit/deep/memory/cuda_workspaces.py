"""Memory that CUDA kernels take beside their results: workspaces held during an operation, and those that stay."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode

LASTING = {
    "aten::mm": ("products", (32 * 2**20,)),
    "aten::bmm": ("products", (32 * 2**20,)),
    "aten::baddbmm": ("products", (32 * 2**20,)),
    "aten::addmm": ("products with a sum", (32 * 2**20, 2**20)),
}
"""The blocks that each library for products of matrices keeps from its first call on.

Measured on an H200 with torch 2.11. One block of 33 MiB would count as 34, since a rest of one is not cut off.
"""

FORWARD, BACKWARD = "aten::convolution", "aten::convolution_backward"

FEW_CHANNELS = 8
"""Images of fewer channels than this are convolved in the layout that they have."""


def lasting_workspace(name: str) -> tuple[str, tuple[int, ...]] | None:
    """The library behind an operation and the blocks of bytes that it keeps after its first call, or None."""
    return LASTING.get(name)


def passing_workspaces(name: str, given: tuple[Any, ...], results: Any) -> list[int]:
    """The bytes of workspace that an operation holds while it runs, one number for each of its kernels.

    A convolution copies image, kernel and result into the layout with channels last, and multiplies there; one over
    single pixels or few channels does not.
    """
    if name == FORWARD:
        image, kernel = given[0], given[1]
        return [_bytes(image) + _bytes(kernel) + _bytes(results)] if _is_copied(kernel) else []
    if name == BACKWARD:
        outer, image, kernel, mask = given[0], given[1], given[2], given[-1]
        room = _bytes(outer) + _bytes(image) + _bytes(kernel)
        return [room] * (bool(mask[0]) + bool(mask[1])) if _is_copied(kernel) else []
    return []


def _is_copied(kernel: Tensor) -> bool:
    return kernel.shape[1] >= FEW_CHANNELS and kernel[0, 0].numel() > 1


def _bytes(values: Tensor) -> int:
    return values.numel() * values.element_size()


class CardFunctions(TorchFunctionMode):
    """Replaces attention and dropout by the kernels that a GPU would use, whose saved results are smaller."""

    def __torch_function__(
        self, function: Callable[..., Any], types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        named = kwargs or {}
        if function is functional.scaled_dot_product_attention and _is_fused(*args, **named):
            return _attention(*args, **named)
        if function is functional.dropout and not named.get("inplace", False) and len(args) < 4:
            return _dropout(*args, **named)
        return function(*args, **named)


def _is_fused(query: Tensor, *others: Any, **named: Any) -> bool:
    mask = others[2] if len(others) > 2 else named.get("attn_mask")
    return mask is None and query.dim() == 4 and not named.get("enable_gqa")


def _attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,  # noqa: ARG001
    dropout_p: float = 0.0,
    is_causal: bool = False,  # noqa: FBT001, FBT002  as torch has it
    scale: float | None = None,
    enable_gqa: bool = False,  # noqa: ARG001, FBT001, FBT002
) -> Tensor:
    if query.dtype in (torch.bfloat16, torch.float16):
        short = torch.ops.aten._scaled_dot_product_flash_attention
        found = short(query, key, value, dropout_p, is_causal, return_debug_mask=False, scale=scale)
        return cast(Tensor, found[0])
    keep = query.requires_grad or key.requires_grad or value.requires_grad
    efficient = torch.ops.aten._scaled_dot_product_efficient_attention
    return cast(Tensor, efficient(query, key, value, None, keep, dropout_p, is_causal, scale=scale)[0])


def _dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:  # noqa: A002, ARG001, FBT001, FBT002
    return torch.native_dropout(input, p, training)[0] if training and p > 0 else input
