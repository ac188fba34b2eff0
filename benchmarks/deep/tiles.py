"""Times the GPU kernels of the deep part with several tiles: `python -m benchmarks.deep.tiles`, one line each."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

GRAMS = ((64, 64, 4, 3), (64, 64, 4, 4), (128, 64, 8, 3), (128, 64, 4, 3), (128, 32, 8, 4), (128, 128, 8, 2))
PATCHES = ((64, 64, 64, 4, 3), (64, 64, 64, 8, 3), (32, 64, 64, 4, 4), (128, 64, 64, 4, 2), (64, 128, 64, 8, 3))
PATCH_GRAMS = ((64, 64, 4, 3), (64, 64, 4, 4), (64, 64, 8, 3), (64, 128, 4, 2), (64, 32, 4, 5))


def milliseconds(work: Callable[[], object]) -> float:
    from triton.testing import do_bench

    return float(do_bench(work, warmup=5, rep=40, return_mode="median"))


def drawn(*shape: int) -> Tensor:
    made = torch.randn(*shape, device="cuda", dtype=torch.bfloat16)
    return made.contiguous(memory_format=torch.channels_last) if len(shape) == 4 else made


def positions() -> None:
    from bruit.deep.gpu_kernels import positions as kernels

    for width, out in ((384, 1152), (1536, 384)):
        inputs, outputs = drawn(256, 196, width), drawn(256, 196, out)

        def products(inputs: Tensor = inputs, outputs: Tensor = outputs) -> Tensor:
            one, other = (torch.bmm(each, each.mT, out_dtype=torch.float32) for each in (inputs, outputs))
            return one.mul_(other).sum((1, 2))

        print("gram", width, out, "two products", round(milliseconds(products), 4), flush=True)
        for tiles in GRAMS:
            kernels.TILE, kernels.STEP, kernels.WARPS, kernels.STAGES = tiles
            try:
                work = partial(kernels.gram, inputs, outputs)
                print("gram", width, out, tiles, round(milliseconds(work), 4), flush=True)
            except Exception as error:
                print("gram", tiles, type(error).__name__, flush=True)


def images() -> None:
    from bruit.deep.gpu_kernels import images as kernels

    small, middle, large = ((drawn(1024, c, s, s), drawn(1024, c, s, s)) for c, s in ((256, 8), (128, 16), (64, 32)))
    weights = torch.rand(1024, device="cuda")
    tries: list[tuple[str, str, tuple[tuple[int, ...], ...], Callable[[], object]]] = [
        ("gram 256x8", "GRAM", PATCH_GRAMS, lambda: kernels.patch_gram(*small, 3, 1, 1)),
        ("gradients 128x16", "GRADIENTS", PATCHES, lambda: kernels.patch_gradients(*middle, 3, 1, 1, False)),
        ("kept 64x32", "GRADIENTS", PATCHES, lambda: kernels.patch_gradients(*large, 3, 1, 1, True)),
        ("sums 256x8", "SUMS", PATCHES, lambda: kernels.patch_sums(*small, weights, 3, 1, 1)),
        ("sums 128x16", "SUMS", PATCHES, lambda: kernels.patch_sums(*middle, weights, 3, 1, 1)),
    ]
    for name, setting, choices, work in tries:
        for tiles in choices:
            setattr(kernels, setting, tiles)
            try:
                print(name, tiles, round(milliseconds(work), 4), flush=True)
            except Exception as error:
                print(name, tiles, type(error).__name__, flush=True)


if __name__ == "__main__":
    positions()
    images()
