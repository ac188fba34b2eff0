"""Private steps beside plain ones where only torch, NumPy and SciPy are installed: `python -m benchmarks.deep.gpu`.

Prints one JSON line for each network: the milliseconds of a step in every round, the ratio to the plain step with its
spread over the rounds, and peak memory on a GPU. Plain and private steps are timed in turn.
"""

from __future__ import annotations

import argparse
import gc
import importlib.util
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from benchmarks.deep.models import AdaptedViT, FrozenVGG, SmallViT, ThesisCNN, WideResNet, batch_of
from benchmarks.deep.steps import OVER_ROWS

NETWORKS: dict[str, tuple[type[nn.Module], int]] = {
    "digits": (ThesisCNN, 256),
    "vgg head": (FrozenVGG, 256),
    "wrn": (WideResNet, 1024),
    "vit": (SmallViT, 256),
    "vit adapters": (AdaptedViT, 256),
}
"""Each network with its batch."""

ROWS = 4
"""Records of a person, and views of a record."""

PROFILE: list[int] = []

Step = Callable[[], None]


@dataclass(frozen=True)
class How:
    """How steps are computed: in which precision, compiled or not, and in how many parts a private batch is."""

    precision: torch.dtype | None = None
    compiled: bool = False
    parts: int = 1
    channels_last: bool = True


def lowered(device: str, precision: torch.dtype | None) -> AbstractContextManager[Any]:
    return nullcontext() if precision is None else torch.autocast(device, precision)


def plain(model: nn.Module, images: Tensor, labels: Tensor, how: How) -> Step:
    """An ordinary step of gradient descent."""
    return ordinary(model, images, labels, how, torch.compile(model, dynamic=False) if how.compiled else model)


def recorded(model: nn.Module, images: Tensor, labels: Tensor, how: How) -> Step:
    """The same with its kernels recorded and played back, as a compiled private step does."""
    return ordinary(model, images, labels, how, torch.compile(model, dynamic=False, mode="reduce-overhead"))


def ordinary(model: nn.Module, images: Tensor, labels: Tensor, how: How, forward: Callable[[Tensor], Tensor]) -> Step:
    optimiser = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.01)

    def step() -> None:
        optimiser.zero_grad()
        with lowered(images.device.type, how.precision):
            loss = functional.cross_entropy(forward(images), labels)
        loss.backward()
        optimiser.step()

    return step


def private(model: nn.Module, images: Tensor, labels: Tensor, how: How) -> Step:
    """The same with every sample's gradient clipped and noise added."""
    return owned(model, images, labels, how)


def people(model: nn.Module, images: Tensor, labels: Tensor, how: How) -> Step:
    """As many records, of people who own four each: their mean gradient is clipped."""
    return owned(model, images, labels, how, rows=ROWS)


def views(model: nn.Module, images: Tensor, labels: Tensor, how: How) -> Step:
    """As many rows, four random views of each record, drawn in the step: their mean gradient is clipped."""
    return owned(model, images, labels, how, rows=ROWS, drawn=True)


def owned(model: nn.Module, images: Tensor, labels: Tensor, how: How, *, rows: int = 1, drawn: bool = False) -> Step:
    """A private step in which `rows` rows side by side have one owner and one gradient."""
    from bruit.deep import Engine, Views, cross_entropy, examine, shifted
    from bruit.deep.noise.sources import noisy, source
    from bruit.deep.training.dataset import Part

    named = {name: p for name, p in model.named_parameters() if p.requires_grad}
    optimiser = torch.optim.SGD(named.values(), lr=0.01)
    structure = examine(model, (images,))
    engine = Engine(model, structure, cross_entropy, 1.0, precision=how.precision, compiled=how.compiled)
    stream = source(None, entry=0, stretch=0, device=images.device)
    size = len(images) // how.parts
    weights = torch.full((size // rows,), rows / len(images), device=images.device)
    several = Views(rows, shifted)

    def part_at(begin: int) -> Part:
        if drawn:
            some = slice(begin // rows, (begin + size) // rows)
            return several.of(Part((images[some],), labels[some], weights))
        return Part((images[begin : begin + size],), labels[begin : begin + size], weights)

    def step() -> None:
        optimiser.zero_grad()
        sums: dict[str, Tensor] = {}
        for begin in range(0, len(images), size):
            some = part_at(begin)
            part = engine.clipped_sum(some.inputs, some.targets, some.weights)
            sums = {name: part[name] if begin == 0 else sums[name].add_(part[name]) for name in part}
        found = noisy(sums, named, stream, rows / len(images))
        del sums
        for name, parameter in named.items():
            parameter.grad = found[name]
        optimiser.step()

    return step


def opacus(model: nn.Module, images: Tensor, labels: Tensor, how: How) -> Step:
    """The peer's hooks."""
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer

    hooked = GradSampleModule(model)
    inner = torch.optim.SGD([p for p in hooked.parameters() if p.requires_grad], lr=0.01)
    optimiser = DPOptimizer(inner, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=len(images))

    def step() -> None:
        optimiser.zero_grad()
        with lowered(images.device.type, how.precision):
            loss = functional.cross_entropy(hooked(images), labels)
        loss.backward()
        optimiser.step()

    return step


SIDES = {
    "plain": plain,
    "recorded": recorded,
    "private": private,
    "people": people,
    "views": views,
    "opacus": opacus,
}


def seconds(step: Step, device: str, calls: int) -> float:
    """The seconds of a step, of many one after the other as in a training."""
    wait(device)
    began = time.perf_counter()
    for _ in range(calls):
        step()
    wait(device)
    return (time.perf_counter() - began) / calls


def wait(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


@dataclass
class Side:
    """One kind of step, its memory and its times."""

    step: Step
    prepared_s: float
    peak: int
    times: list[float]


def prepared(kind: str, name: str, device: str, how: How, batch: int | None) -> Side:
    """A step of a fresh model, called until it is warm, and the bytes it held at most beyond what others hold.

    The first calls count too: what a recorded step holds is seen only while it is recorded.
    """
    network, usual = NETWORKS[name]
    gc.collect()
    cuda = device == "cuda"
    before = torch.cuda.memory_allocated() if cuda else 0
    if cuda:
        torch.cuda.reset_peak_memory_stats()
    began = time.perf_counter()
    torch.manual_seed(1)
    model = network().to(device)
    images, labels = batch_of(model, batch or usual, device)
    if cuda and not name.startswith("vit") and how.channels_last:
        model = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        images = images.to(memory_format=torch.channels_last)
    step = SIDES[kind](model, images, labels, how)
    for _ in range(4):
        step()
    wait(device)
    took = time.perf_counter() - began
    return Side(step, took, torch.cuda.max_memory_allocated() - before if cuda else 0, [])


def profiled(side: Side, kind: str) -> None:
    """Prints where the time of a few steps goes."""
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as found:
        for _ in range(3):
            side.step()
        torch.cuda.synchronize()
    kernels = sorted(found.key_averages(), key=lambda each: -each.self_device_time_total)
    print(kind, "all kernels", sum(each.self_device_time_total for each in kernels) / 3e3, "ms a step")
    for each in kernels[:22]:
        print(f"  {each.self_device_time_total / 3e3:8.3f} ms {each.count / 3:6.0f} x {each.key[:110]}")


def row(
    name: str, device: str, how: How, kinds: list[str], rounds: int, calls: int, batch: int | None
) -> dict[str, Any]:
    """Times of all kinds, in turn, and their ratios to the plain one."""
    sides = {}
    for kind in kinds:
        try:
            sides[kind] = prepared(kind, name, device, how, batch)
        except torch.OutOfMemoryError:
            if kind != "opacus":  # it holds the gradient of every sample; the others must fit
                raise
    kinds = list(sides)
    for turn in range(rounds):
        for kind in kinds if turn % 2 == 0 else reversed(kinds):
            sides[kind].times.append(seconds(sides[kind].step, device, calls))
        if PROFILE and turn == rounds - 1:
            for kind, side in sides.items():
                profiled(side, kind)
    found: dict[str, Any] = {"network": name, "batch": batch or NETWORKS[name][1], "device": device}
    found |= {"precision": str(how.precision), "compiled": how.compiled, "parts": how.parts}
    for kind, side in sides.items():
        found |= {
            f"{kind}_ms": [round(1e3 * each, 3) for each in side.times],
            f"{kind}_ready_s": round(side.prepared_s, 1),
        }
        found |= {f"{kind}_mib": round(side.peak / 2**20, 1)} if side.peak else {}
    for kind in kinds[1:]:
        ratios = over(sides[kind], sides[kinds[0]])
        found |= {f"{kind}_ratio": statistics.median(ratios), f"{kind}_spread": [min(ratios), max(ratios)]}
        if sides[kind].peak:
            found[f"{kind}_memory_ratio"] = sides[kind].peak / sides[kinds[0]].peak
    for kind in {"opacus", "people", "views"} & set(kinds) if "private" in kinds else ():
        found[f"{kind}_over_private"] = statistics.median(over(sides[kind], sides["private"]))
    return found


def over(one: Side, other: Side) -> list[float]:
    """The ratios of the times of every round."""
    return [mine / its for mine, its in zip(one.times, other.times, strict=True)]


GOALS: list[tuple[str, list[str], float, float]] = [
    ("vgg head", ["--precision", "float32", "--batch", "1024"], 1.02, 1.01),
    ("wrn", ["--compiled", "--contiguous"], 1.15, 1.6),
    ("vit", ["--compiled"], 1.2, 1.15),
    ("vit adapters", ["--compiled"], 1.2, 1.1),
]
"""Networks with how they are asked for, and the most that time and memory may be of the plain step's.

The wide network's plain step is faster with channels first, so that is what the private one stands beside.
"""


OVER_OPACUS = 4.0
"""How many times faster than the peer a compiled step should be."""


def on_device(case: str = "") -> int:
    """`python -m benchmarks deep --device cuda`: every network in a process of its own, beside its goals.

    `--case wrn,vit` takes those whose name contains one of these. The peer is measured too where it is installed.
    """
    if not torch.cuda.is_available():
        print("there is no GPU that torch can use here: run this on one, or leave --device out", file=sys.stderr)
        return 2
    peer = ["opacus"] if importlib.util.find_spec("opacus") else []
    for name, asked, time_goal, memory_goal in GOALS:
        if not any(part in name for part in case.split(",")):
            continue
        kinds = ["--kinds", "plain", "private", *(OVER_ROWS if name == "wrn" else ()), *peer]
        command = [sys.executable, "-m", "benchmarks.deep.gpu", "--networks", name, *asked, *kinds]
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode:
            print(json.dumps({"network": name, "trouble": ended.stderr.strip().rpartition("\n")[2]}), flush=True)
            continue
        found = json.loads(ended.stdout.splitlines()[-1])
        if "trouble" in found:
            print(json.dumps(found), flush=True)
            continue
        met = found["private_ratio"] <= time_goal and found["private_memory_ratio"] <= memory_goal
        found |= {"goal": [time_goal, memory_goal], "met": met}
        owners = {kind: found[f"{kind}_over_private"] for kind in OVER_ROWS if f"{kind}_over_private" in found}
        found |= {f"{kind}_met": ratio <= OVER_ROWS[kind] for kind, ratio in owners.items()}
        if "opacus_over_private" in found and "--compiled" in asked:
            found["ahead_of_opacus"] = found["opacus_over_private"] >= OVER_OPACUS
        print(json.dumps(found), flush=True)
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    parser.add_argument("--networks", nargs="*", default=list(NETWORKS), choices=list(NETWORKS))
    parser.add_argument("--precision", choices=["float32", "bfloat16"], default="bfloat16")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--parts", type=int, default=1, help="parts that a private batch is computed in")
    parser.add_argument("--contiguous", action="store_true", help="images with channels first")
    parser.add_argument("--kinds", nargs="*", default=["plain", "private"], choices=list(SIDES))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--batch", type=int)
    parser.add_argument("--profile", action="store_true", help="also print the kernels of a step")
    asked = parser.parse_args()
    PROFILE[:] = [1] if asked.profile else []
    how = How(
        None if asked.precision == "float32" else torch.bfloat16, asked.compiled, asked.parts, not asked.contiguous
    )
    for name in asked.networks:
        try:
            found = row(name, asked.device, how, asked.kinds, asked.rounds, asked.calls, asked.batch)
        except torch.OutOfMemoryError as error:
            found = {"network": name, "trouble": str(error).partition("\n")[0]}
        print(json.dumps(found), flush=True)
        torch._dynamo.reset()
        gc.collect()
        if asked.device == "cuda":
            torch.cuda.empty_cache()


if __name__ == "__main__":
    main()
