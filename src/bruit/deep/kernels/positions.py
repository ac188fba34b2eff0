# mypy: disable-error-code="import-not-found,untyped-decorator,no-untyped-def,no-any-return"
# ruff: noqa: N803
"""Norms of Σ_t g_t a_tᵀ from the products between positions, of which one triangle is computed and none is stored."""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

TILE, STEP, WARPS, STAGES = 64, 64, 4, 3
"""Positions on a side of a tile, numbers multiplied at a time, and how Triton runs it: measured on an H200."""


FIGURES = 4
"""Σ_tt' (a_t·a_t')(g_t·g_t'), Σ_t ‖a_t‖‖g_t‖, Σ_t ‖a_t‖ and Σ_t ‖g_t‖: a tile has its part of each."""


@triton.jit
def store_figures(out, tile, r, c, inner, outer, rows, columns):
    """Writes the four parts of a tile; only those on the diagonal hold lengths, and the others count twice."""
    total = tl.sum(tl.sum(inner * outer, 1), 0)
    here = (rows[:, None] == columns[None, :]) & (r == c)
    a = tl.sqrt(tl.maximum(tl.sum(tl.where(here, inner, 0.0), 1), 0.0))
    g = tl.sqrt(tl.maximum(tl.sum(tl.where(here, outer, 0.0), 1), 0.0))
    if r != c:
        total = total * 2.0
    tl.store(out + tile * 4, total)
    tl.store(out + tile * 4 + 1, tl.sum(a * g, 0))
    tl.store(out + tile * 4 + 2, tl.sum(a, 0))
    tl.store(out + tile * 4 + 3, tl.sum(g, 0))


@triton.jit
def _gram(a, g, out, T, D, P, tiles, BT: tl.constexpr, BK: tl.constexpr):
    tile = tl.program_id(0)
    b = tl.program_id(1).to(tl.int64)
    r = ((tl.sqrt(8.0 * tile + 1.0) - 1.0) * 0.5 + 1e-3).to(tl.int32)  # 1e-3: an inexact root must not fall short
    c = tile - r * (r + 1) // 2
    rows = r * BT + tl.arange(0, BT)
    columns = c * BT + tl.arange(0, BT)
    k = tl.arange(0, BK)
    inner = tl.zeros((BT, BT), tl.float32)
    outer = tl.zeros((BT, BT), tl.float32)
    if r == c:
        for k0 in range(0, D, BK):
            here = ((k0 + k)[None, :] < D) & (rows[:, None] < T)
            x = tl.load(a + b * T * D + rows[:, None] * D + (k0 + k)[None, :], mask=here, other=0.0)
            inner = tl.dot(x, tl.trans(x), inner, input_precision="ieee")
        for k0 in range(0, P, BK):
            here = ((k0 + k)[None, :] < P) & (rows[:, None] < T)
            x = tl.load(g + b * T * P + rows[:, None] * P + (k0 + k)[None, :], mask=here, other=0.0)
            outer = tl.dot(x, tl.trans(x), outer, input_precision="ieee")
    else:
        for k0 in range(0, D, BK):
            near = (k0 + k)[None, :] < D
            x = tl.load(
                a + b * T * D + rows[:, None] * D + (k0 + k)[None, :], mask=near & (rows[:, None] < T), other=0.0
            )
            y = tl.load(a + b * T * D + columns[:, None] * D + (k0 + k)[None, :], mask=near, other=0.0)
            inner = tl.dot(x, tl.trans(y), inner, input_precision="ieee")
        for k0 in range(0, P, BK):
            near = (k0 + k)[None, :] < P
            x = tl.load(
                g + b * T * P + rows[:, None] * P + (k0 + k)[None, :], mask=near & (rows[:, None] < T), other=0.0
            )
            y = tl.load(g + b * T * P + columns[:, None] * P + (k0 + k)[None, :], mask=near, other=0.0)
            outer = tl.dot(x, tl.trans(y), outer, input_precision="ieee")
    store_figures(out, b * tiles + tile, r, c, inner, outer, rows, columns)


@torch.library.custom_op("bruit::gram", mutates_args=())
def gram(inputs: Tensor, outputs: Tensor) -> Tensor:
    """The figures of every sample of (batch, positions, D) and (batch, positions, P), in float32."""
    inputs, outputs = inputs.contiguous(), outputs.contiguous()
    batch, positions, width = inputs.shape
    side = max(16, min(TILE, triton.next_power_of_2(positions)))
    count = -(-positions // side)
    tiles = count * (count + 1) // 2
    out = torch.empty(batch, tiles, FIGURES, device=inputs.device)
    step = STEP if inputs.dtype == torch.bfloat16 else 16
    _gram[(tiles, batch)](
        inputs,
        outputs,
        out,
        positions,
        width,
        outputs.shape[2],
        tiles,
        side,
        step,
        num_warps=WARPS,
        num_stages=STAGES,
    )
    return out.sum(1)


@gram.register_fake
def _(inputs: Tensor, outputs: Tensor) -> Tensor:  # noqa: ARG001
    return inputs.new_empty((len(inputs), FIGURES), dtype=torch.float32)
