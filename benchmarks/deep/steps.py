"""One step of the digits network of the source document on one core: private, plain, and Opacus."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter

from benchmarks.case import Case, Peer, Prepare, Work


def private_step(size: int) -> Callable[[], None]:
    """Clip, sum, add noise, step."""
    import torch

    from benchmarks.deep.gpu import How, private
    from benchmarks.deep.models import ThesisCNN, batch_of

    torch.manual_seed(1)
    model = ThesisCNN()
    return private(model, *batch_of(model, size), How())


def plain_step(size: int) -> Callable[[], None]:
    import torch

    from benchmarks.deep.gpu import How, plain
    from benchmarks.deep.models import ThesisCNN, batch_of

    torch.manual_seed(1)
    model = ThesisCNN()
    return plain(model, *batch_of(model, size), How())


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


def over_plain(step: Callable[[int], Callable[[], None]], size: int) -> Prepare:
    """How many plain steps one step takes, the two timed in turn."""

    def prepare() -> Work:
        ours, plain = step(size), plain_step(size)

        def seconds(run: Callable[[], None]) -> float:
            began = perf_counter()
            run()
            return perf_counter() - began

        def work() -> float:
            pairs = [(seconds(ours), seconds(plain)) for _ in range(9)]
            return median(one for one, _ in pairs) / median(other for _, other in pairs)

        return work

    return prepare


def cases() -> list[Case]:
    found = []
    for size in (64, 256, 1024):
        goal = 1.4 if size == 256 else None
        peers = (Peer("Opacus", over_plain(opacus_step, size)),)
        name = f"digits network, batch {size}"
        found.append(
            Case(name, "plain steps", "lower", over_plain(private_step, size), peers, goal=goal, returned=True)
        )
    return found


CASES = cases()
