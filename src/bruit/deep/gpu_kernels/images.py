# mypy: disable-error-code="import-not-found,untyped-decorator,no-untyped-def,no-any-return"
# ruff: noqa: N803, FBT001
"""Norms and weighted sums of the gradients of a square convolution, with patches read in place by shifted loads.

Images are held channels last. One program computes one block of output by input channels for one row of the kernel.

Names: b sample, a image (H, W, C), g output gradients of T positions, OW a row, and P channels; dy, dx row and column
of the kernel (KH, KW, or K for both), S stride, PAD border of zeros; BT, BP, BC, BK positions, output channels, input
channels and numbers of a tile. Accumulators are float32 and hold, in every loop, the sum over the tiles before.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl
from torch import Tensor

from bruit.deep.gpu_kernels.positions import FIGURES, store_figures

GRAM = (64, 128, 4, 2)
GRADIENTS = (32, 64, 64, 4, 4)
SUMS = (64, 64, 64, 4, 3)
"""Positions, (output and) input channels of a tile, and how Triton runs it: measured on an H200."""

PROGRAMS = 1056
"""About how many programs a weighted sum is cut into: eight for each multiprocessor of an H200."""


@triton.jit
def _gram(a, g, out, H, W, C, OW, T, P, KH, KW, S, PAD, tiles, BT: tl.constexpr, BK: tl.constexpr):
    """The products between patches and between output gradients, on one triangle.

    a (batch, H, W, C) and g (batch, T, P), contiguous; out (batch, tiles, FIGURES) float32, contiguous.
    """
    tile = tl.program_id(0)
    b = tl.program_id(1).to(tl.int64)
    r = ((tl.sqrt(8.0 * tile + 1.0) - 1.0) * 0.5 + 1e-3).to(tl.int32)  # 1e-3: an inexact root must not fall short
    c = tile - r * (r + 1) // 2
    rows = r * BT + tl.arange(0, BT)
    columns = c * BT + tl.arange(0, BT)
    k = tl.arange(0, BK)
    inner = tl.zeros((BT, BT), tl.float32)  # patch_t · patch_t', over the kernel's places and channels read so far
    outer = tl.zeros((BT, BT), tl.float32)  # g_t · g_t', over the output channels read so far
    base = a + b * H * W * C
    for dy in range(KH):
        for dx in range(KW):
            hr = (rows // OW) * S + dy - PAD
            wr = (rows % OW) * S + dx - PAD
            mr = (rows < T) & (hr >= 0) & (hr < H) & (wr >= 0) & (wr < W)
            hc = (columns // OW) * S + dy - PAD
            wc = (columns % OW) * S + dx - PAD
            mc = (columns < T) & (hc >= 0) & (hc < H) & (wc >= 0) & (wc < W)
            for k0 in range(0, C, BK):
                near = (k0 + k)[None, :] < C
                x = tl.load(base + ((hr * W + wr) * C)[:, None] + (k0 + k)[None, :], mask=mr[:, None] & near, other=0.0)
                y = tl.load(base + ((hc * W + wc) * C)[:, None] + (k0 + k)[None, :], mask=mc[:, None] & near, other=0.0)
                inner = tl.dot(x, tl.trans(y), inner, input_precision="ieee")
    for k0 in range(0, P, BK):
        near = (k0 + k)[None, :] < P
        x = tl.load(g + b * T * P + rows[:, None] * P + (k0 + k)[None, :], mask=(rows[:, None] < T) & near, other=0.0)
        y = tl.load(
            g + b * T * P + columns[:, None] * P + (k0 + k)[None, :], mask=(columns[:, None] < T) & near, other=0.0
        )
        outer = tl.dot(x, tl.trans(y), outer, input_precision="ieee")
    store_figures(out, b * tiles + tile, r, c, inner, outer, rows, columns, 0.0)


@triton.jit
def _gradients(
    a,
    g,
    out,
    kept,
    H,
    W,
    C,
    OW,
    T,
    P,
    S,
    PAD,
    parts,
    blocks,
    K: tl.constexpr,
    KEEP: tl.constexpr,
    BT: tl.constexpr,
    BP: tl.constexpr,
    BC: tl.constexpr,
):
    """One sample's gradient: squares summed, and the gradient stored where asked.

    a (batch, H, W, C) and g (batch, T, P), contiguous; out (batch, parts) float32: the squares of each block; kept
    (batch, P, K, K, C), contiguous, in the type of the gradients. left, middle, right are the columns dx = 0, 1, 2 of
    row dy: before each step they hold the sums over the positions below s0.
    """
    part = tl.program_id(0)
    b = tl.program_id(1).to(tl.int64)
    dy = part % K
    cb = (part // K) % blocks
    pb = part // K // blocks
    t0 = tl.arange(0, BT)
    p = pb * BP + tl.arange(0, BP)
    k = cb * BC + tl.arange(0, BC)
    near = k[None, :] < C
    base = a + b * H * W * C
    left = tl.zeros((BP, BC), tl.float32)
    middle = tl.zeros((BP, BC), tl.float32)
    right = tl.zeros((BP, BC), tl.float32)
    for s0 in range(0, T, BT):
        t = s0 + t0
        h = (t // OW) * S + dy - PAD
        w = (t % OW) * S - PAD
        inside = (t < T) & (h >= 0) & (h < H)
        row = base + ((h * W + w) * C)[:, None] + k[None, :]
        found = tl.load(
            g + b * T * P + t[:, None] * P + p[None, :], mask=(t[:, None] < T) & (p[None, :] < P), other=0.0
        )
        turned = tl.trans(found)
        x = tl.load(row, mask=(inside & (w >= 0) & (w < W))[:, None] & near, other=0.0)
        left = tl.dot(turned, x, left, input_precision="ieee")
        if K == 3:
            x = tl.load(row + C, mask=(inside & (w + 1 >= 0) & (w + 1 < W))[:, None] & near, other=0.0)
            middle = tl.dot(turned, x, middle, input_precision="ieee")
            x = tl.load(row + 2 * C, mask=(inside & (w + 2 >= 0) & (w + 2 < W))[:, None] & near, other=0.0)
            right = tl.dot(turned, x, right, input_precision="ieee")
    if KEEP:  # the norm is that of the rounded values that will be summed
        place = kept + (b * P * K * K + dy * K) * C + p[:, None] * (K * K * C) + k[None, :]
        there = (p[:, None] < P) & near
        kind = kept.dtype.element_ty
        tl.store(place, left.to(kind), mask=there)
        left = left.to(kind).to(tl.float32)
        if K == 3:
            tl.store(place + C, middle.to(kind), mask=there)
            tl.store(place + 2 * C, right.to(kind), mask=there)
            middle = middle.to(kind).to(tl.float32)
            right = right.to(kind).to(tl.float32)
    total = tl.sum(tl.sum(left * left, 1), 0)
    if K == 3:
        total += tl.sum(tl.sum(middle * middle + right * right, 1), 0)
    tl.store(out + b * parts + part, total)


@triton.jit
def _sums(
    a,
    g,
    weight,
    out,
    N,
    H,
    W,
    C,
    OW,
    T,
    P,
    S,
    PAD,
    each,
    blocks,
    K: tl.constexpr,
    BT: tl.constexpr,
    BP: tl.constexpr,
    BC: tl.constexpr,
):
    """The weighted sum over `each` samples, added and written in float32.

    a, g as in `_gradients`; weight (N,) float32. Step j reads tile j % steps of sample chunk * each + j // steps, and
    before it left, middle, right hold the weighted sums of the chunk's earlier tiles. A sample is weighted in float32
    and rounded once, to the type in which tensor cores multiply.
    """
    part = tl.program_id(0)
    chunk = tl.program_id(1)
    dy = part % K
    cb = (part // K) % blocks
    pb = part // K // blocks
    t0 = tl.arange(0, BT)
    p = pb * BP + tl.arange(0, BP)
    k = cb * BC + tl.arange(0, BC)
    near = k[None, :] < C
    left = tl.zeros((BP, BC), tl.float32)
    middle = tl.zeros((BP, BC), tl.float32)
    right = tl.zeros((BP, BC), tl.float32)
    steps = (T + BT - 1) // BT
    for j in range(tl.minimum(each, N - chunk * each) * steps):
        b = (chunk * each + j // steps).to(tl.int64)
        t = (j % steps) * BT + t0
        h = (t // OW) * S + dy - PAD
        w = (t % OW) * S - PAD
        inside = (t < T) & (h >= 0) & (h < H)
        row = a + b * H * W * C + ((h * W + w) * C)[:, None] + k[None, :]
        found = tl.load(
            g + b * T * P + t[:, None] * P + p[None, :], mask=(t[:, None] < T) & (p[None, :] < P), other=0.0
        )
        factor = tl.load(weight + b)
        turned = tl.trans((found.to(tl.float32) * factor).to(found.dtype))
        x = tl.load(row, mask=(inside & (w >= 0) & (w < W))[:, None] & near, other=0.0)
        left = tl.dot(turned, x, left, input_precision="ieee")
        if K == 3:
            x = tl.load(row + C, mask=(inside & (w + 1 >= 0) & (w + 1 < W))[:, None] & near, other=0.0)
            middle = tl.dot(turned, x, middle, input_precision="ieee")
            x = tl.load(row + 2 * C, mask=(inside & (w + 2 >= 0) & (w + 2 < W))[:, None] & near, other=0.0)
            right = tl.dot(turned, x, right, input_precision="ieee")
    place = out + chunk * (P * K * K * C) + dy * K * C + p[:, None] * (K * K * C) + k[None, :]
    there = (p[:, None] < P) & near
    tl.store(place, left, mask=there)
    if K == 3:
        tl.store(place + C, middle, mask=there)
        tl.store(place + 2 * C, right, mask=there)


@torch.library.custom_op("bruit::patch_gram", mutates_args=())
def patch_gram(image: Tensor, outputs: Tensor, kernel: int, stride: int, padding: int) -> Tensor:
    """Ghost norm and triangle bounds of each sample for a square convolution, as (batch, FIGURES) in float32."""
    image, outputs = _last(image), _last(outputs)
    batch, channels, height, width = image.shape
    _, made, rows, columns = outputs.shape
    positions = rows * columns
    most, step, warps, stages = GRAM
    side = _power(positions, most)
    count = -(-positions // side)
    tiles = count * (count + 1) // 2
    out = torch.empty(batch, tiles, FIGURES, device=image.device)
    given = (image, outputs, out, height, width, channels, columns, positions, made, kernel, kernel, stride, padding)
    step = _power(min(channels, made), step if image.dtype == torch.bfloat16 else 16)
    _gram[(tiles, batch)](*given, tiles, side, step, num_warps=warps, num_stages=stages)
    return out.sum(1)


@patch_gram.register_fake
def _(image: Tensor, outputs: Tensor, kernel: int, stride: int, padding: int) -> Tensor:  # noqa: ARG001
    return image.new_empty((len(image), FIGURES), dtype=torch.float32)


@torch.library.custom_op("bruit::patch_gradients", mutates_args=())
def patch_gradients(
    image: Tensor, outputs: Tensor, kernel: int, stride: int, padding: int, keep: bool
) -> tuple[Tensor, Tensor]:
    """‖Σ_t g_t patch_tᵀ‖² of each sample and, with `keep`, the gradients as (batch, out, kernel, kernel, in)."""
    image, outputs = _last(image), _last(outputs)
    batch, channels, height, width = image.shape
    _, made, rows, columns = outputs.shape
    tile, most_made, most_channels, warps, stages = GRADIENTS
    wide, deep = _power(made, most_made), _power(channels, most_channels)
    blocks = -(-channels // deep)
    parts = kernel * blocks * -(-made // wide)
    out = torch.empty(batch, parts, device=image.device)
    shape = (batch, made, kernel, kernel, channels) if keep else (1,)
    kept = torch.empty(shape, device=image.device, dtype=image.dtype)
    given = (image, outputs, out, kept, height, width, channels, columns, rows * columns, made, stride, padding)
    tile = tile if image.dtype == torch.bfloat16 else 16
    _gradients[(parts, batch)](
        *given, parts, blocks, kernel, keep, tile, wide, deep, num_warps=warps, num_stages=stages
    )
    return out.sum(1), kept


@patch_gradients.register_fake
def _(
    image: Tensor,
    outputs: Tensor,
    kernel: int,
    stride: int,  # noqa: ARG001
    padding: int,  # noqa: ARG001
    keep: bool,
) -> tuple[Tensor, Tensor]:
    shape = (len(image), outputs.shape[1], kernel, kernel, image.shape[1]) if keep else (1,)
    return image.new_empty(len(image), dtype=torch.float32), image.new_empty(shape)


@torch.library.custom_op("bruit::patch_sums", mutates_args=())
def patch_sums(image: Tensor, outputs: Tensor, weights: Tensor, kernel: int, stride: int, padding: int) -> Tensor:
    """Σ_b weight_b Σ_t g_bt patch_btᵀ in float32, in the shape of the kernel."""
    image, outputs = _last(image), _last(outputs)
    batch, channels, height, width = image.shape
    _, made, rows, columns = outputs.shape
    tile, most_made, most_channels, warps, stages = SUMS
    wide, deep = _power(made, most_made), _power(channels, most_channels)
    blocks = -(-channels // deep)
    parts = kernel * blocks * -(-made // wide)
    chunks = min(batch, max(1, PROGRAMS // parts))
    each = -(-batch // chunks)
    out = torch.empty(chunks, made, kernel, kernel, channels, device=image.device)
    given = (image, outputs, weights.float().contiguous(), out, batch, height, width, channels, columns)
    tile = tile if image.dtype == torch.bfloat16 else 16
    _sums[(parts, chunks)](
        *given,
        rows * columns,
        made,
        stride,
        padding,
        each,
        blocks,
        kernel,
        tile,
        wide,
        deep,
        num_warps=warps,
        num_stages=stages,
    )
    return out.sum(0).permute(0, 3, 1, 2).contiguous()


@patch_sums.register_fake
def _(
    image: Tensor,
    outputs: Tensor,
    weights: Tensor,  # noqa: ARG001
    kernel: int,
    stride: int,  # noqa: ARG001
    padding: int,  # noqa: ARG001
) -> Tensor:
    return image.new_empty((outputs.shape[1], image.shape[1], kernel, kernel), dtype=torch.float32)


def _last(image: Tensor) -> Tensor:
    return image.contiguous(memory_format=torch.channels_last)


def _power(number: int, most: int) -> int:
    return max(16, min(most, triton.next_power_of_2(number)))
