"""DP-SGD in one call: `train`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from bruit.core.release import Release
from bruit.deep.checks.model_structure import trainable
from bruit.deep.losses import cross_entropy
from bruit.deep.noise import INDEPENDENT, Banded
from bruit.deep.own_loop import privatise
from bruit.deep.per_sample.clipping import Clipping
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.deep.training.adaptive_clip import AdaptiveClip
from bruit.deep.training.progress import Line
from bruit.deep.training.views import Views
from bruit.deep.training.weight_average import WeightAverage
from bruit.errors import InvalidArgument
from bruit.ledger import Payment

Optimiser = Callable[[list[nn.Parameter]], torch.optim.Optimizer]
"""Makes an optimiser of parameters, for instance `lambda p: torch.optim.SGD(p, lr=0.5)`."""


def train(
    model: nn.Module,
    data: Any,
    *,
    budget: Payment,
    epochs: int,
    batch_size: int,
    clip: float | AdaptiveClip,
    loss: Loss = cross_entropy,
    optimiser: Optimiser | torch.optim.Optimizer = torch.optim.Adam,
    size: int | None = None,
    person: Any = None,
    records_per_person: int | None = None,
    views: Views | None = None,
    example: Any = None,
    assume_separate: bool = False,
    clipping: Clipping = Clipping.FLAT,
    correlation: Banded = INDEPENDENT,
    average: float | None = None,
    at_once: int | None = None,
    precision: torch.dtype | None = None,
    compiled: bool = False,
    strong_noise: bool = False,
    checkpoint: str | Path | None = None,
    every: int | None = None,
    processes: Any = None,
    on_progress: Callable[[int, int], None] | None = None,
    show_progress: bool = False,
    rng: np.random.Generator | None = None,
) -> Release[nn.Module]:
    """Trains a model in place with DP-SGD, with the least noise that the budget pays for, and releases it.

    The whole run is charged before the data is read. `data` is a Dataset or a tuple of tensors (inputs, targets); it is
    sampled here, about `batch_size` records a step. `on_progress(done, steps)` is called after each step;
    `average=0.99` releases the exponential average of the weights instead of the last ones, at no cost; a training that
    goes on from a checkpoint averages what is left of it. `show_progress` draws a bar on the error stream with the ε of
    the steps so far. The other arguments are those of `privatise`.
    With `budget=bruit.WITHOUT_PRIVACY` the same loop trains plainly: no clipping, no noise, and a
    release whose ε is infinite.
    """
    averages = None if average is None else WeightAverage(model, decay=average)  # refuses before anything is charged
    training = privatise(
        model,
        _make_optimiser(optimiser, model),
        data,
        budget=budget,
        epochs=epochs,
        batch_size=batch_size,
        clip=clip,
        loss=loss,
        size=size,
        person=person,
        records_per_person=records_per_person,
        views=views,
        example=example,
        assume_separate=assume_separate,
        clipping=clipping,
        correlation=correlation,
        at_once=at_once,
        precision=precision,
        compiled=compiled,
        strong_noise=strong_noise,
        checkpoint=checkpoint,
        every=every,
        processes=processes,
        rng=rng,
    )
    line = Line(training) if show_progress else None
    for batch in training:
        training.step(batch)
        if averages is not None:
            averages.update()
        if line is not None:
            line.update()
        if on_progress is not None:
            on_progress(training.done, training.steps)
    if averages is not None:
        averages.put_into_model()
    return training.release()


def _make_optimiser(optimiser: Optimiser | torch.optim.Optimizer, model: nn.Module) -> torch.optim.Optimizer:
    """The optimiser of the model's trainable parameters; `privatise` refuses one of other parameters."""
    if isinstance(optimiser, torch.optim.Optimizer):
        return optimiser
    if not callable(optimiser):
        raise InvalidArgument(
            f"optimiser={optimiser!r} makes no optimiser; give "
            "optimiser=lambda parameters: torch.optim.SGD(parameters, lr=0.5)"
        )
    return optimiser(trainable(model))
