"""The stages of a training step and the memory at the end of each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.deep.training.training import Training

STAGES = ("model", "batch", "backward", "step")
"""The model is loaded, then a batch; gradients are there; the optimiser has made its step."""

Counters = Callable[[], tuple[int, int, int]]
"""Reads allocated, peak and reserved bytes, and counts peaks from then on."""


@dataclass(frozen=True)
class Stage:
    """Memory of one stage in bytes: allocated at its end, peak within it, and reserved by the allocator."""

    name: str
    allocated: int
    peak: int
    reserved: int

    def to_json(self) -> dict[str, Any]:
        """The stage in JSON types."""
        return asdict(self)


class Log:
    """Records the memory counters at the end of each stage."""

    def __init__(self, counters: Counters) -> None:
        self.counters, self.stages = counters, list[Stage]()

    def end(self, name: str) -> None:
        """Ends a stage and records its counters under a name."""
        self.stages.append(Stage(name, *self.counters()))


def log_two_steps(
    model: nn.Module,
    batch: tuple[Tensor, Tensor],
    optimiser: torch.optim.Optimizer,
    loss: Loss,
    training: Training | None,
    log: Log,
) -> None:
    """Runs two training steps and logs the memory of each stage; only the second shows the steady state."""
    handle = optimiser.register_step_pre_hook(lambda *_: log.end("backward"))
    for _ in range(2):
        if training is not None:
            training.step(next(iter(training)))
        else:
            _plain_step(model, batch, optimiser, loss)
        log.end("step")
    handle.remove()


def _plain_step(model: nn.Module, batch: tuple[Tensor, Tensor], optimiser: torch.optim.Optimizer, loss: Loss) -> None:
    """One ordinary step (zero_grad, backward, step); the outputs are dropped before the step."""
    inputs, targets = batch
    optimiser.zero_grad(set_to_none=True)
    loss(model(inputs), targets).mean().backward()
    optimiser.step()
