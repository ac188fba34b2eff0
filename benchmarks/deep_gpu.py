"""Private steps beside plain ones where only torch, NumPy and SciPy are installed: `python -m benchmarks.deep_gpu`.

Prints one JSON line for each network: seconds of a step, their ratio, and peak bytes on a GPU.
"""

from __future__ import annotations

import argparse
import gc
import json
import statistics
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.deep_models import FrozenVGG, SmallViT, ThesisCNN, WideResNet, batch_of

NETWORKS: dict[str, tuple[type[nn.Module], int]] = {
    "digits": (ThesisCNN, 256),
    "vgg head": (FrozenVGG, 64),
    "wrn": (WideResNet, 1024),
    "vit": (SmallViT, 256),
}
"""Each network with its batch."""

Step = Callable[[], None]


def lowered(device: str, precision: torch.dtype | None) -> AbstractContextManager[Any]:
    return nullcontext() if precision is None else torch.autocast(device, precision)


def plain(model: nn.Module, images: Tensor, labels: Tensor, *, precision: torch.dtype | None) -> Step:
    """An ordinary step of gradient descent."""
    optimiser = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)

    def step() -> None:
        optimiser.zero_grad()
        with lowered(images.device.type, precision):
            loss = functional.cross_entropy(model(images), labels)
        loss.backward()
        optimiser.step()

    return step


def private(model: nn.Module, images: Tensor, labels: Tensor, *, precision: torch.dtype | None) -> Step:
    """The same with every sample's gradient clipped and noise added."""
    from bruit.deep import Engine, cross_entropy, examine
    from bruit.deep.noise import source

    named = [(name, p) for name, p in model.named_parameters() if p.requires_grad]
    optimiser = torch.optim.SGD([p for _, p in named], lr=0.01)
    engine = Engine(model, examine(model, (images,)), cross_entropy, 1.0, precision=precision)
    stream = source(None, entry=0, stretch=0, device=images.device)
    weights = torch.ones(len(images), device=images.device)

    def step() -> None:
        sums = engine.clipped_sum((images,), labels, weights)
        for name, parameter in named:
            parameter.grad = sums[name].add_(stream.normal(sums[name])).div_(len(images))
        optimiser.step()

    return step


def measured(step: Step, device: str, rounds: int) -> tuple[float, int]:
    """The median seconds of a step, and the most memory it held."""
    step()
    wait(device)
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds = []
    for _ in range(rounds):
        began = time.perf_counter()
        step()
        wait(device)
        seconds.append(time.perf_counter() - began)
    return statistics.median(seconds), torch.cuda.max_memory_allocated() if device == "cuda" else 0


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


def row(name: str, device: str, precision: torch.dtype | None, rounds: int, batch: int | None) -> dict[str, Any]:
    kind, usual = NETWORKS[name]
    size, found = batch or usual, {}
    for label, make in (("plain", plain), ("private", private)):
        torch.manual_seed(1)
        model = kind().to(device)
        found[label] = measured(make(model, *batch_of(model, size, device), precision=precision), device, rounds)
        del model
        gc.collect()
        if device == "cuda":
            torch.cuda.empty_cache()
    (fast, small), (slow, large) = found["plain"], found["private"]
    times = {"plain_s": fast, "private_s": slow, "ratio": slow / fast}
    memory = {"plain_bytes": small, "private_bytes": large, "memory_ratio": large / small} if small else {}
    return {"network": name, "batch": size, "device": device, "precision": str(precision), **times, **memory}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--batch", type=int)
    asked = parser.parse_args()
    precision = None if asked.precision == "float32" else torch.bfloat16
    for name in asked.networks:
        try:
            found = row(name, asked.device, precision, asked.rounds, asked.batch)
        except torch.OutOfMemoryError as error:
            found = {"network": name, "trouble": str(error).partition("\n")[0]}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
