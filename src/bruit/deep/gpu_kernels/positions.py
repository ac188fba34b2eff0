# mypy: disable-error-code="import-not-found,untyped-decorator,no-untyped-def,no-any-return"
# ruff: noqa: N803
"""Ghost norms of Σ_t g_t a_tᵀ from Gram matrices between positions, computed tile by tile over one triangle.

This is the ghost norm. Names: b sample, t position (T of them), a layer inputs of width D, g output gradients of width
P, r and c row and column of a tile in the triangle, k a slice of BK numbers, BT positions on a side of a tile.
"""

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
def store_figures(out, tile, r, c, inner, outer, rows, columns, beside):
    """Writes a tile's four partial sums; off-diagonal tiles count twice, and only diagonal tiles hold vector norms.

    `beside` is added to the first: what the tile found of other pairs.
    """
    total = tl.sum(tl.sum(inner * outer, 1), 0)
    here = (rows[:, None] == columns[None, :]) & (r == c)
    a = tl.sqrt(tl.maximum(tl.sum(tl.where(here, inner, 0.0), 1), 0.0))
    g = tl.sqrt(tl.maximum(tl.sum(tl.where(here, outer, 0.0), 1), 0.0))
    if r != c:
        total = total * 2.0
    tl.store(out + tile * 4, total + beside)
    tl.store(out + tile * 4 + 1, tl.sum(a * g, 0))
    tl.store(out + tile * 4 + 2, tl.sum(a, 0))
    tl.store(out + tile * 4 + 3, tl.sum(g, 0))


@triton.jit
def _gram(a, g, out, T, D, P, tiles, whole, EDGE: tl.constexpr, BT: tl.constexpr, BK: tl.constexpr):
    """One tile of the triangle.

    a (batch, T, D) and g (batch, T, P), contiguous, of one dtype; out (batch, tiles, FIGURES) float32, contiguous. In
    every loop `inner` and `outer` hold, in float32, the products over the slices before k0.

    The last few positions may fill no row of tiles (EDGE above 0): then the tiles on the diagonal, which read all
    positions once, multiply theirs with these too, and one more tile does so with these among themselves.
    """
    tile = tl.program_id(0)
    b = tl.program_id(1).to(tl.int64)
    r = ((tl.sqrt(8.0 * tile + 1.0) - 1.0) * 0.5 + 1e-3).to(tl.int32)  # 1e-3: an inexact root must not fall short
    c = tile - r * (r + 1) // 2
    if EDGE > 0:
        c = tl.where(r == whole, r, c)
    rows = r * BT + tl.arange(0, BT)
    columns = c * BT + tl.arange(0, BT)
    k = tl.arange(0, BK)
    inner = tl.zeros((BT, BT), tl.float32)
    outer = tl.zeros((BT, BT), tl.float32)
    beside = 0.0
    if r == c:
        if EDGE > 0:
            last = whole * BT + tl.arange(0, EDGE)
            inner_last = tl.zeros((BT, EDGE), tl.float32)
            outer_last = tl.zeros((BT, EDGE), tl.float32)
        for k0 in range(0, D, BK):
            near = (k0 + k)[None, :] < D
            x = load(a + b * T * D, rows, k0 + k, T, D, near)
            inner = tl.dot(x, tl.trans(x), inner, input_precision="ieee")
            if EDGE > 0:
                y = load(a + b * T * D, last, k0 + k, T, D, near)
                inner_last = tl.dot(x, tl.trans(y), inner_last, input_precision="ieee")
        for k0 in range(0, P, BK):
            near = (k0 + k)[None, :] < P
            x = load(g + b * T * P, rows, k0 + k, T, P, near)
            outer = tl.dot(x, tl.trans(x), outer, input_precision="ieee")
            if EDGE > 0:
                y = load(g + b * T * P, last, k0 + k, T, P, near)
                outer_last = tl.dot(x, tl.trans(y), outer_last, input_precision="ieee")
        if EDGE > 0:
            beside = tl.where(r < whole, 2.0, 0.0) * tl.sum(tl.sum(inner_last * outer_last, 1), 0)
    else:
        for k0 in range(0, D, BK):
            near = (k0 + k)[None, :] < D
            x = load(a + b * T * D, rows, k0 + k, T, D, near)
            y = load(a + b * T * D, columns, k0 + k, T, D, near)
            inner = tl.dot(x, tl.trans(y), inner, input_precision="ieee")
        for k0 in range(0, P, BK):
            near = (k0 + k)[None, :] < P
            x = load(g + b * T * P, rows, k0 + k, T, P, near)
            y = load(g + b * T * P, columns, k0 + k, T, P, near)
            outer = tl.dot(x, tl.trans(y), outer, input_precision="ieee")
    store_figures(out, b * tiles + tile, r, c, inner, outer, rows, columns, beside)


@triton.jit
def load(sample, rows, columns, T, D, near):
    """Loads a block of a sample's T x D matrix, with zeros beyond row T."""
    return tl.load(sample + rows[:, None] * D + columns[None, :], mask=near & (rows[:, None] < T), other=0.0)


@torch.library.custom_op("bruit::gram", mutates_args=())
def gram(inputs: Tensor, outputs: Tensor) -> Tensor:
    """Ghost norm and triangle bounds of each sample from a: (batch, positions, D) and g: (batch, positions, P)."""
    inputs, outputs = inputs.contiguous(), outputs.contiguous()
    batch, positions, width = inputs.shape
    side = max(16, min(TILE, triton.next_power_of_2(positions)))
    whole, left = divmod(positions, side)
    edge = max(16, triton.next_power_of_2(left)) if left and whole else 0
    if 2 * edge > side or (left and not whole):
        whole, edge = whole + 1, 0
    tiles = whole * (whole + 1) // 2 + (edge > 0)
    out = torch.empty(batch, tiles, FIGURES, device=inputs.device)
    step = STEP if inputs.dtype == torch.bfloat16 else 16
    given = (inputs, outputs, out, positions, width, outputs.shape[2], tiles, whole)
    _gram[(tiles, batch)](*given, edge, side, step, num_warps=WARPS, num_stages=STAGES)
    return out.sum(1)


@gram.register_fake
def _(inputs: Tensor, outputs: Tensor) -> Tensor:  # noqa: ARG001
    return inputs.new_empty((len(inputs), FIGURES), dtype=torch.float32)
