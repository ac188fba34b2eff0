"""One step of the digits network of the source document: private, of people, of views, plain, and Opacus."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from statistics import median
from time import perf_counter

from benchmarks.case import Case, Peer, Prepare, Work


def step_of(kind: str, size: int) -> Callable[[], None]:
    """A step of the digits network, of one of the kinds of `benchmarks.deep.gpu`."""
    import torch

    from benchmarks.deep.gpu import SIDES, How
    from benchmarks.deep.models import ThesisCNN, batch_of

    torch.manual_seed(1)
    model = ThesisCNN()
    return SIDES[kind](model, *batch_of(model, size), How())


def private_step(size: int) -> Callable[[], None]:
    """Clip, sum, add noise, step."""
    return step_of("private", size)


def plain_step(size: int) -> Callable[[], None]:
    """An ordinary step as it is written, with channels first."""
    return step_of("plain", size)


def plain_step_channels_last(size: int) -> Callable[[], None]:
    """An ordinary step by somebody who laid model and images out for the CPU, as the private step does itself."""
    import torch

    from benchmarks.deep.gpu import How, plain
    from benchmarks.deep.models import ThesisCNN, batch_of

    torch.manual_seed(1)
    model = ThesisCNN().to(memory_format=torch.channels_last)
    images, labels = batch_of(model, size)
    return plain(model, images.reshape(size, 28, 28, 1).movedim(-1, 1), labels, How())


def opacus_step(size: int) -> Callable[[], None]:
    """The peer's own hooks: per-sample gradients, its optimiser clips and adds noise."""
    import torch
    from opacus import GradSampleModule
    from opacus.optimizers import DPOptimizer
    from torch.nn import functional

    from benchmarks.deep.models import ThesisCNN, batch_of

    torch.manual_seed(1)
    plain_model = ThesisCNN()
    images, labels = batch_of(plain_model, size)
    model = GradSampleModule(plain_model)
    inner = torch.optim.SGD(model.parameters(), lr=0.01)
    optimiser = DPOptimizer(inner, noise_multiplier=1.0, max_grad_norm=1.0, expected_batch_size=size)

    def step() -> None:
        optimiser.zero_grad()
        functional.cross_entropy(model(images), labels).backward()
        optimiser.step()

    return step


Make = Callable[[int], Callable[[], None]]
"""From a batch size to a step."""


def over(step: Make, other: Make, size: int) -> Prepare:
    """How many of another step one step takes, the two timed in turn."""

    def prepare() -> Work:
        ours, plain = step(size), other(size)

        def seconds(run: Callable[[], None]) -> float:
            began = perf_counter()
            run()
            return perf_counter() - began

        def work() -> float:
            pairs = [(seconds(ours), seconds(plain)) for _ in range(9)]
            return median(one for one, _ in pairs) / median(other for _, other in pairs)

        return work

    return prepare


OVER_ROWS = {"people": 1.2, "views": 1.05}
"""The most that a step of owners of four rows each may take of a private step on as many rows."""


def cases() -> list[Case]:
    found = []
    for size in (64, 256, 1024):
        peers = (Peer("Opacus", over(opacus_step, plain_step, size)),)
        name = f"digits network, batch {size}"
        work = over(private_step, plain_step, size)
        found.append(Case(name, "plain steps", "lower", work, peers, goal=1.4, returned=True))
    last = over(private_step, plain_step_channels_last, 256)
    found.append(Case("digits network, batch 256, channels last", "plain steps", "lower", last, (), returned=True))
    for kind, goal in OVER_ROWS.items():
        rows = over(partial(step_of, kind), private_step, 256)
        found.append(Case(f"digits network, {kind}", "private steps", "lower", rows, (), goal=goal, returned=True))
    return found


CASES = cases()
