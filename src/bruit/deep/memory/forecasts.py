"""Forecasts the memory of a training step, private or not, without a GPU."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal, cast

import numpy as np
import torch
from torch import Tensor, nn

from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.deep.checks.model_structure import trainable
from bruit.deep.dp_sgd import Optimiser
from bruit.deep.losses import cross_entropy
from bruit.deep.memory.allocator import CachingAllocator, PlainAllocator
from bruit.deep.memory.cuda_workspaces import CardFunctions
from bruit.deep.memory.stages import Log, Stage, log_two_steps
from bruit.deep.memory.tracing import Tape
from bruit.deep.noise.sources import Source
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.deep.training.dataset import Records
from bruit.deep.training.preparation import Settings, prepare_engine
from bruit.deep.training.training import Training
from bruit.errors import InvalidArgument
from bruit.ledger import Charge
from bruit.privacy import plan

Device = Literal["cpu", "cuda"]

SHAPES = torch.device("meta")
"""Where tensors have shapes and no values."""


def plain_sgd(parameters: list[nn.Parameter]) -> torch.optim.Optimizer:
    """The default optimiser of a forecast: gradient descent without momentum, as in the source document."""
    return torch.optim.SGD(parameters, lr=0.1)


@dataclass(frozen=True)
class Forecast:
    """The forecast memory at each stage of the first two training steps."""

    batch_size: int
    private: bool
    device: Device
    stages: tuple[Stage, ...]

    @property
    def peak(self) -> int:
        """The most bytes that are allocated together at any time."""
        return max(stage.peak for stage in self.stages)

    @property
    def reserved(self) -> int:
        """The most bytes that the allocator reserves from the device, cached memory included."""
        return max(stage.reserved for stage in self.stages)

    def stage(self, name: str) -> Stage:
        """The first stage with this name."""
        return next(stage for stage in self.stages if stage.name == name)

    def to_json(self) -> dict[str, Any]:
        """The forecast in JSON types."""
        stages = [stage.to_json() for stage in self.stages]
        plain = {"batch_size": self.batch_size, "private": self.private, "device": self.device}
        return plain | {"peak": self.peak, "reserved": self.reserved, "stages": stages}


def forecast(
    model: nn.Module,
    shape: Sequence[int],
    *,
    batch_size: int,
    private: bool,
    device: Device = "cuda",
    optimiser: Optimiser = plain_sgd,
    loss: Loss = cross_entropy,
    kind: torch.dtype = torch.float32,
) -> Forecast:
    """Forecasts the memory of two training steps by tracing shapes only; nothing is computed and no GPU is needed.

    `shape` is that of one input, for instance (3, 224, 224). The model is not changed; it may stand anywhere, on the
    meta device too. A private step is that of `train`, clipped flat, with all samples of the batch at once.
    """
    if batch_size < 1:
        raise InvalidArgument(f"batch_size={batch_size}: give at least one sample")
    allocator = CachingAllocator() if device == "cuda" else PlainAllocator()
    log = Log(lambda: _read_counters(allocator))
    card = CardFunctions() if device == "cuda" else nullcontext()
    try:
        with Tape(allocator, on_card=device == "cuda"), card:
            shapes = shapes_of(model)
            log.end("model")
            batch = (
                torch.empty(batch_size, *shape, dtype=kind, device=SHAPES),
                torch.empty(batch_size, dtype=torch.int64, device=SHAPES),
            )
            log.end("batch")
            steps = optimiser(trainable(shapes))
            if device == "cuda":
                _as_on_a_card(steps)
            training = _make_training(shapes, batch, steps, loss) if private else None
            allocator.forget_peak()
            log_two_steps(shapes, batch, steps, loss, training, log)
    except RuntimeError as error:
        raise InvalidArgument(
            f"the memory of this model cannot be told from shapes alone: {error}; measure it instead"
        ) from error
    return Forecast(batch_size, private, device, tuple(log.stages))


def shapes_of(model: nn.Module) -> nn.Module:
    """A copy of a model with shapes but no values, its tensors made in the order in which `.to(device)` moves them."""
    memo: dict[int, Any] = {}
    for values in _tensors(model):
        if id(values) not in memo:
            empty = torch.empty_like(values, device=SHAPES)
            trains = values.requires_grad
            memo[id(values)] = nn.Parameter(empty, trains) if isinstance(values, nn.Parameter) else empty
    return copy.deepcopy(model, memo)


def _tensors(model: nn.Module) -> Iterator[Tensor]:
    for child in model.children():
        yield from _tensors(child)
    yield from model.parameters(recurse=False)
    yield from model.buffers(recurse=False)


def _make_training(
    model: nn.Module, batch: tuple[Tensor, Tensor], optimiser: torch.optim.Optimizer, loss: Loss
) -> Training:
    """The private training that `train` would run, with a batch of all records; it has no data to pay for."""
    size = len(batch[1])
    planned = plan(
        size=size,
        batch_size=size,
        epochs=2,
        noise_multiplier=1.0,
        delta=0.1 / size,
        neighbours=ADD_OR_REMOVE_ONE,
        by="pld",
    )
    records = Records(batch)
    return Training(
        engine=prepare_engine(model, records, loss, Settings(1.0)),
        optimiser=optimiser,
        records=records,
        planned=planned,
        charge=cast(Charge, None),
        stream=_Shapes(np.random.default_rng(0), "none", seeded=True),
        at_once=None,
    )


class _Shapes(Source):
    """A noise source that returns empty tensors of the right shape."""

    def normal(self, like: Tensor) -> Tensor:
        return torch.empty(like.shape, dtype=like.dtype, device=like.device)


def _as_on_a_card(optimiser: torch.optim.Optimizer) -> None:
    """Makes an optimiser use the `foreach` implementation, which torch takes by default on a GPU."""
    for group in optimiser.param_groups:
        if group.get("foreach", False) is None and not group.get("fused"):
            group["foreach"] = True


def _read_counters(allocator: CachingAllocator) -> tuple[int, int, int]:
    found = allocator.allocated, allocator.peak, allocator.peak_reserved
    allocator.forget_peak()
    return found


def largest_batch(fits: Callable[[int], bool], *, at_most: int = 2**20) -> int:
    """The largest batch size for which `fits` is true, by doubling and bisection; 0 where not even one sample fits."""
    low, high = 0, 1
    while high <= at_most and fits(high):
        low, high = high, 2 * high
    while high - low > max(1, low // 64):  # to a sixty-fourth
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
